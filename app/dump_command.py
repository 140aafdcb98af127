"""`sessiontree dump`: the shape of a session as one JSON object."""

from __future__ import annotations

from typing import Any

import click

from ..commands.session_manager import SessionManager
from .async_run import run
from .managed_session import opened_to_read
from .output import print_json
from .session_target import SessionTarget, session_argument


@click.command("dump")
@session_argument
@click.option("--leaf", "leaf_id", metavar="ID", help="The end of the path; by default the last entry.")
def dump_command(target: SessionTarget, leaf_id: str | None) -> None:
    """Print one JSON object for programs: ids, tree, path, labels and faults; no bodies are read.

    "children" lists, for each entry that has any, its children oldest first.
    """
    print_json(run(_dump, target, leaf_id), pretty=False)


async def _dump(target: SessionTarget, leaf_id: str | None) -> dict[str, Any]:
    async with opened_to_read(target) as session:
        if leaf_id is not None:
            session.branch(leaf_id)
        return _shape(session)


def _shape(session: SessionManager) -> dict[str, Any]:
    report = session.report
    children = {entry_id: session.ordered_child_ids(entry_id) for entry_id in session.entry_ids()}
    return {
        "version": session.header.version,
        "file_version": session.file_version,
        "id": session.session_id,
        "cwd": session.cwd,
        "name": session.session_name,
        "entries": session.entry_count,
        "leaf": session.leaf_id,
        "labels": session.labels,
        "roots": session.root_ids,
        "children": {entry_id: below for entry_id, below in children.items() if below},
        "path": session.path_ids(),
        "report": {
            "faults": report.faults,
            "skipped_lines": report.skipped_lines,
            "orphans": report.orphans,
            "duplicates": report.duplicates,
        },
    }
