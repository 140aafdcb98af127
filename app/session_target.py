"""Which session a command is about: FILE, and the directory in which ids are looked for."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from ..eventstore.catalogue import find_session
from ..eventstore.directories import Home, default_sessions_dir, home_sessions_dir
from ..eventstore.errors import SessionNotFoundError

Command = Callable[..., Any]


class SessionTarget(NamedTuple):
    """What was typed for FILE, and the directory in which sessions are looked for."""

    text: str
    directory: Path

    async def find(self) -> Path:
        """Return the session's file (F-24). Raises `SessionNotFoundError`, `AmbiguousSessionError`."""
        try:
            return await find_session(self.text, self.directory)
        except SessionNotFoundError:
            if os.sep in self.text or self.text.endswith(".jsonl"):
                raise
            detail = f"no such file, and no session in {self.directory} has an id that begins so"
            raise SessionNotFoundError(self.text or "''", detail) from None


def sessions_dir_options(command: Command) -> Command:
    """Give a command `--sessions-dir` and `--home`; it gets the one directory that they mean, `directory`."""

    @click.option(
        "--sessions-dir",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Where the sessions are.",
    )
    @click.option("--home", type=click.Choice(["pi", "omp"]), help="Take the sessions of pi or oh-my-pi.")
    @functools.wraps(command)
    def with_directory(*args: Any, sessions_dir: Path | None, home: Home | None, **options: Any) -> Any:
        if sessions_dir is not None and home is not None:
            raise click.UsageError("--sessions-dir and --home exclude one another.", click.get_current_context())
        if home is not None:
            directory = home_sessions_dir(home)
        else:
            directory = sessions_dir if sessions_dir is not None else default_sessions_dir()
        return command(*args, directory=directory.absolute(), **options)

    return with_directory


def session_argument(command: Command) -> Command:
    """Give a command the argument FILE with its options; it gets a `SessionTarget` as `target`."""

    @click.argument("file", metavar="FILE")
    @sessions_dir_options
    @functools.wraps(command)
    def with_target(*args: Any, file: str, directory: Path, **options: Any) -> Any:
        return command(*args, target=SessionTarget(file, directory), **options)

    return with_target


def json_option(command: Command) -> Command:
    """Give a command `--json` as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(command)
