"""The `sessiontree` command: its parts, and how every error ends."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

import click

from .. import __version__
from .context_command import context_command
from .dump_command import dump_command
from .list_command import list_command
from .migrate_command import migrate_command
from .show_command import show_command
from .tree_command import tree_command
from .verify_command import verify_command
from .write_commands import append_command, fork_command, label_command

REFUSED = 2
"""The status of what cannot be done as it was asked for: one line says why, nothing was written."""
_INTERRUPTED = 130
_BROKEN_PIPE = 141


class _RefusedError(click.ClickException):
    """Raised when a command could not do what it was asked for: the one line for people."""

    exit_code = REFUSED


class _UnexpectedError(click.ClickException):
    """Raised for an exception that no command expects: the one line for people."""

    exit_code = 1


class _SessionTreeGroup(click.Group):
    """Ends every error with one line on standard error and a status of its own."""

    def main(self, *args: Any, **options: Any) -> Any:
        try:
            status = super().main(*args, **{**options, "standalone_mode": False})
        except click.Abort:
            status = _INTERRUPTED
        except click.UsageError as error:
            status = REFUSED
            _complain(_usage_message(error))
        except click.ClickException as error:
            status = error.exit_code
            _complain(error.format_message())
        except OSError as error:  # of `--help` and `--version`, which no command's `invoke` sees
            status = REFUSED
            _complain(_failure(error).format_message())
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except BrokenPipeError:
            # Who reads has enough. What is still buffered must not fail when the interpreter ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(_BROKEN_PIPE) from None
        except Exception as error:
            if ctx.params["debug"]:
                _print_traceback(error)
            raise _failure(error) from error
        return result


def _usage_message(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx is not None else "sessiontree"
    return f"{error.format_message()} ({command} --help tells more)"


def _failure(error: Exception) -> click.ClickException:
    from ..eventstore.errors import SessionTreeError

    if isinstance(error, SessionTreeError):
        return _RefusedError(str(error))
    if isinstance(error, OSError):
        place = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return _RefusedError(place + (error.strerror or str(error)))
    detail = f": {error}" if str(error) else ""
    return _UnexpectedError(f"unexpected {type(error).__name__}{detail} (sessiontree --debug COMMAND … shows where)")


def _complain(message: str) -> None:
    from .cells import clean

    click.echo(f"sessiontree: {clean(message)}", err=True)


def _print_traceback(error: Exception) -> None:
    from traceback import format_exception

    from .cells import clean_lines

    for line in clean_lines("".join(format_exception(error)).rstrip("\n")):
        click.echo(line, err=True)


@click.group(
    cls=_SessionTreeGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(__version__, "--version", prog_name="sessiontree")
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:
    """Look at, check and change the session trees of pi, oh-my-pi and sessiontree.

    FILE is a path, a session id, or the beginning of one that fits no other session.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows few characters shows the others as `?`
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for _command in (
    list_command,
    tree_command,
    context_command,
    show_command,
    label_command,
    append_command,
    fork_command,
    verify_command,
    migrate_command,
    dump_command,
):
    main.add_command(_command)
