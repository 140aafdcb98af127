"""The `sessiontree` command: its parts, and how every error ends."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from typing import Any

import click

from .. import __version__
from .error_text import os_error_text

_COMMANDS = {
    "list": ("list_command", "List sessions, newest activity first."),
    "ui": ("ui_command", "Read and go on with a session in the terminal interface."),
    "tree": ("tree_command", "Show the tree of a session."),
    "context": ("context_command", "Show the rebuilt context of a leaf."),
    "show": ("show_command", "Show one entry."),
    "search": ("search_command", "Search the text of a whole session."),
    "label": ("write_commands", "Set or clear the label of an entry."),
    "append": ("write_commands", "Append a message."),
    "fork": ("write_commands", "Make a new session that ends with an entry."),
    "navigate": ("flow_commands", "Move to an entry, with a summary of what is left."),
    "branch": ("flow_commands", "Go on from a user message in a new file."),
    "compact": ("flow_commands", "Put a summary in the place of the older part."),
    "verify": ("verify_command", "Check every line of a session."),
    "migrate": ("migrate_command", "Bring an old session file to version 3."),
    "config": ("config_command", "Print the settings of the terminal interface."),
    "dump": ("dump_command", "Print the shape of a session as JSON."),
}
"""Of each command the module, which holds `NAME_command`, and the line that stands for it in the help."""

_REFUSED = 2
"""The status of what cannot be done as it was asked for: one line says why, nothing was written."""
_INTERRUPTED = 130
_BROKEN_PIPE = 141


class _RefusedError(click.ClickException):
    """Raised when a command could not do what it was asked for: the one line for people."""

    exit_code = _REFUSED


class _UnexpectedError(click.ClickException):
    """Raised for an exception that no command expects: the one line for people."""

    exit_code = 1


class _SessionTreeGroup(click.Group):
    """Imports the command that is asked for, and ends every error with one line and a status of its own.

    What it lists are stand-ins: the commands take longer to import than `--help` may.
    """

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None:
            module = import_module(f".{_COMMANDS[name][0]}", __package__)
            command = getattr(module, f"{name}_command")
        return name, command, rest

    def main(self, *args: Any, **options: Any) -> Any:
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            if getattr(sys, name) is None:  # closed by who started us
                setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for as long as we run
        try:
            status = super().main(*args, **{**options, "standalone_mode": False})
        except click.Abort:
            status = _INTERRUPTED
        except click.UsageError as error:
            status = _REFUSED
            _complain(_usage_message(error))
        except click.ClickException as error:
            status = error.exit_code
            _complain(error.format_message())
        except OSError as error:  # of `--help` and `--version`, which no command's `invoke` sees
            status = _REFUSED
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
        return _RefusedError(os_error_text(error))
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


for _name, (_, _help) in _COMMANDS.items():
    main.add_command(click.Command(_name, short_help=_help))
