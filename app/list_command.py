"""`sessiontree list`: the sessions of a directory, newest activity first."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ..eventstore.catalogue import SessionInfo
from ..projections.listing import list_sessions
from .async_run import run
from .cells import clean
from .output import print_json, print_lines, terminal_width
from .progress import Progress
from .session_table import damaged_rows, session_table, shortest_ids
from .session_target import json_option, sessions_dir_options

_NEWEST = 50
"""How many rows are shown without `--all`."""


@click.command("list")
@click.option("--cwd", metavar="DIR", help="Only the sessions of this working directory.")
@click.option("--all", "show_all", is_flag=True, help=f"All sessions, not only the newest {_NEWEST}.")
@sessions_dir_options
@json_option
def list_command(directory: Path, cwd: str | None, show_all: bool, as_json: bool) -> None:
    """List the sessions of a directory, newest activity first.

    Activity is the time of the last message. Damaged files come last, with what is wrong with them.
    """
    infos = run(_find, directory, cwd, None if show_all else _NEWEST)
    shown = infos if show_all else infos[:_NEWEST]
    if as_json:
        print_json([_record(info) for info in shown])
    else:
        _print_table(infos, shown, directory, cwd)


async def _find(directory: Path, cwd: str | None, limit: int | None) -> list[SessionInfo]:
    async with Progress("looking at sessions") as progress:
        return await list_sessions(directory, cwd=cwd, limit=limit, progress=progress)


def _print_table(infos: list[SessionInfo], shown: list[SessionInfo], directory: Path, cwd: str | None) -> None:
    width = terminal_width()
    sessions = [info for info in shown if info.fault is None]
    damaged = [info for info in shown if info.fault is not None]
    lines = []
    if not infos:
        whose = f" of {cwd}" if cwd is not None else ""
        lines.append(
            clean(f"no sessions{whose} in {directory}{'' if directory.is_dir() else ', which does not exist'}")
        )
    if sessions:
        ids = shortest_ids(infos)
        short_ids = [ids[info.path] for info in sessions]
        lines += session_table(sessions, short_ids, now=datetime.now(UTC), width=width)
    lines += damaged_rows(damaged, directory, width=width)
    if left_out := infos[len(shown) :]:
        bad = sum(info.fault is not None for info in left_out)
        lines.append(f"{len(left_out):,} more{f', {bad:,} of them damaged' if bad else ''}: --all lists them")
    print_lines(lines)


def _record(info: SessionInfo) -> dict[str, Any]:
    return {
        "path": str(info.path),
        "id": info.id,
        "name": info.name,
        "cwd": info.cwd,
        "created": info.created,
        "modified": info.modified.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "messages": info.message_count,
        "branches": info.branch_count,
        "size": info.size,
        "version": info.version,
        "parent_session": info.parent_session,
        "is_link": info.is_link,
        "faults": info.fault_count,
        "damage": info.fault,
    }
