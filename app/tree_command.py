"""`sessiontree tree`: the tree of a session as text."""

from __future__ import annotations

from collections.abc import Iterator
from os.path import expanduser
from typing import TYPE_CHECKING, Any

import click

from .async_run import run
from .session_target import SessionTarget, json_option, session_argument

if TYPE_CHECKING:
    from ..projections.projector import Projector
    from .tree_lines import VisibleRows
    from .tree_rows import TreeRows

FILTERS = ("default", "no-tools", "user-only", "labeled-only", "all")
_IDS_FROM = 40
_ID_WIDTH = 12


@click.command("tree", short_help="Show the tree of a session.")
@session_argument
@click.option("--filter", "mode", type=click.Choice(FILTERS), default="default", help="Which entries to show.")
@click.option("--search", "query", metavar="TEXT", default="", help="Only entries with all words of TEXT.")
@click.option("--leaf", "leaf_id", metavar="ID", help="The end of the active path; by default the last entry.")
@json_option
def tree_command(target: SessionTarget, mode: str, query: str, leaf_id: str | None, as_json: bool) -> None:
    """Show the tree of a session, the active branch first, its path marked with •.

    Each row begins with the entry's id where the terminal has at least 40 columns.
    """
    from .output import print_json, print_lines, terminal_width

    rows, layout, projector = run(_read, target, mode, query, leaf_id)
    if as_json:
        print_json(_records(layout, rows, projector))
    elif not rows.texts:
        print_lines([_why_empty(rows, projector.tree.entry_count, mode, query)])
    else:
        print_lines(_lines_with_ids(rows, layout, terminal_width()))


async def _read(
    target: SessionTarget, mode: str, query: str, leaf_id: str | None
) -> tuple[VisibleRows, TreeRows, Projector]:
    from .progress import Progress
    from .stored_session import opened
    from .tree_filter import FilterMode
    from .tree_source import StoredShape, visible_rows

    async with Progress("reading the session") as progress, opened(await target.find()) as session:
        shape = StoredShape(session.projector.tree, session.leaf(leaf_id))
        rows = await visible_rows(
            session, shape.leaf_id, mode=FilterMode(mode), query=query, home=expanduser("~"), progress=progress
        )
        return rows, rows.lay_out(shape), session.projector


def _lines_with_ids(rows: VisibleRows, layout: TreeRows, width: int | None) -> Iterator[str]:
    from .cells import cell_width, clean, fit

    if width is not None and width < _IDS_FROM:
        yield from (line for _, line in rows.lines(layout, width))
        return
    shown = {
        entry_id: clean(entry_id) if width is None else fit(clean(entry_id), _ID_WIDTH) for entry_id in layout.ids
    }
    id_width = max(map(cell_width, shown.values()))
    for entry_id, line in rows.lines(layout, None if width is None else width - id_width):
        yield shown[entry_id] + " " * (id_width - cell_width(shown[entry_id])) + line


def _why_empty(rows: VisibleRows, entry_count: int, mode: str, query: str) -> str:
    from .cells import clean

    if not entry_count:
        return "no entries: nothing was recorded in this session yet"
    if not rows.passed_filter:
        entries = "the one entry" if entry_count == 1 else f"all {entry_count:,} entries"
        return f"no rows: the filter {mode} hides {entries} (--filter all shows everything)"
    return clean(f"no entry has {query!r} in its row")


def _records(layout: TreeRows, rows: VisibleRows, projector: Projector) -> list[dict[str, Any]]:
    from ..projections.tree import ROOT

    tree, labels = projector.tree, projector.labels.by_target
    records = []
    for row, entry_id in enumerate(layout.ids):
        seq = tree.find(entry_id)
        kind, parent = tree.kind(seq), tree.parents[seq]
        records.append(
            {
                "id": entry_id,
                "parent_id": tree.ids[parent] if parent != ROOT else None,
                "type": kind.type,
                "role": kind.role,
                "timestamp": tree.times.stored(seq),
                "label": labels.get(entry_id),
                "active": row < layout.active,
                "text": rows.texts[entry_id],
            }
        )
    return records
