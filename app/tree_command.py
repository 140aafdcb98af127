"""`sessiontree tree`: the tree of a session as text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from os.path import expanduser
from typing import Any

import click

from ..commands.session_manager import SessionManager
from .async_run import run
from .cells import cell_width, clean, fit
from .counted import all_entries
from .managed_session import opened_to_read
from .output import print_json, print_lines, terminal_width
from .progress import Progress
from .session_target import SessionTarget, json_option, session_argument
from .tree_filter import FilterMode
from .tree_lines import VisibleRows
from .tree_rows import TreeRows
from .tree_source import visible_rows
from .ui_extra import check_terminal, needed_ui

_FILTERS = [mode.value for mode in FilterMode]
_IDS_FROM = 40
_WIDEST_IDS = 64
_ID_WIDTH = 12


@click.command("tree")
@session_argument
@click.option("--filter", "mode", type=click.Choice(_FILTERS), default="default", help="Which entries to show.")
@click.option("--search", "query", metavar="TEXT", default="", help="Only entries with all words of TEXT.")
@click.option("--leaf", "leaf_id", metavar="ID", help="The end of the active path; by default the last entry.")
@click.option("-i", "--interactive", is_flag=True, help="Move in the tree; prints the id of the entry that is chosen.")
@json_option
def tree_command(
    target: SessionTarget, mode: str, query: str, leaf_id: str | None, interactive: bool, as_json: bool
) -> None:
    """Show the tree of a session, the active branch first, its path marked with •.

    Each row begins with the entry's id where the terminal has at least 40 columns.
    """
    if interactive:
        if as_json:
            raise click.UsageError("--interactive and --json exclude one another.", click.get_current_context())
        run(_choose, target, mode, query, leaf_id)
    else:
        run(_tree, target, mode, query, leaf_id, as_json)


async def _choose(target: SessionTarget, mode: str, query: str, leaf_id: str | None) -> None:
    """Let a person choose an entry, and print its id; labels are recorded meanwhile."""
    check_terminal("--interactive", sys.stdin, sys.stderr)
    choose = needed_ui(".selector.tree_app", "choose_entry")
    async with Progress("reading the session"):
        session = await SessionManager.open(await target.find())
    async with session:
        if leaf_id is not None:
            session.branch(leaf_id)
        chosen = await choose(session, FilterMode(mode), query)
    if chosen is not None:
        print_lines([clean(chosen)])


async def _tree(target: SessionTarget, mode: str, query: str, leaf_id: str | None, as_json: bool) -> None:
    progress = Progress("reading the session")
    async with opened_to_read(target, progress) as session:
        if leaf_id is not None:
            session.branch(leaf_id)
        rows = await visible_rows(session, mode=FilterMode(mode), query=query, home=expanduser("~"), progress=progress)
        layout = rows.lay_out(session.columns)
    if as_json:
        print_json(_records(layout, rows, session))
    elif not rows.texts:
        print_lines([_why_empty(rows, session.entry_count, mode, query)])
    else:
        print_lines(_lines_with_ids(rows, layout, terminal_width()))


def _lines_with_ids(rows: VisibleRows, layout: TreeRows, width: int | None) -> Iterator[str]:
    if width is not None and width < _IDS_FROM:
        yield from (line for _, line in rows.lines(layout, width))
        return
    shown = {
        entry_id: clean(entry_id) if width is None else fit(clean(entry_id), _ID_WIDTH) for entry_id in layout.ids
    }
    # One huge id must not widen every line.
    id_width = min(max(map(cell_width, shown.values())), _WIDEST_IDS)
    for entry_id, line in rows.lines(layout, None if width is None else width - id_width):
        yield shown[entry_id] + " " * (id_width - cell_width(shown[entry_id])) + line


def _why_empty(rows: VisibleRows, entry_count: int, mode: str, query: str) -> str:
    if not entry_count:
        return "no entries: nothing was recorded in this session yet"
    if not rows.passed_filter:
        return f"no rows: the filter {mode} hides {all_entries(entry_count)} (--filter all shows everything)"
    return clean(f"no entry has {query!r} in its row")


def _records(layout: TreeRows, rows: VisibleRows, session: SessionManager) -> list[dict[str, Any]]:
    records = []
    for row, entry_id in enumerate(layout.ids):
        shape = session.shape(entry_id)
        records.append(
            {
                "id": entry_id,
                "parent_id": shape.parent_id,
                "type": shape.type,
                "role": shape.role,
                "timestamp": shape.timestamp,
                "label": session.get_label(entry_id),
                "active": row < layout.active,
                "text": rows.texts[entry_id],
            }
        )
    return records
