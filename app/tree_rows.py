"""The rows of a tree: which levels, connectors and gutters stand before each text (U-20..U-30)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .cells import ELLIPSIS, cell_width, clean, fit
from .tree_order import FlatTree

BRANCH = "├─ "
LAST = "└─ "
_GUTTER = "│  "
_BLANK = "   "
_LEVEL_WIDTH = len(_BLANK)
MOST_LEVELS = 100
"""The levels of a row without a width. With all of them a text would be quadratic in the depth of its branches."""


@dataclass(frozen=True, slots=True)
class TreeRows:
    """The visible rows as parallel lists, laid out on what is visible (settled U-25).

    Of row `r`: `ids[r]`; `parents[r]`, the row of its nearest visible ancestor, -1 for none; `indents[r]`,
    its levels of 3 cells (U-21); `connectors[r]`, `BRANCH`, `LAST` or "" (U-22); `stems[r]`, the nearest
    row above it in the tree that shows a connector, -1 for none, so that gutters are a chain and cost no
    memory by depth (U-23). The first `active` rows are on the active path (U-14).
    `nearest[p]`: for each position of the flat tree its own row if visible, else that of its nearest visible
    ancestor, -1 for none.
    """

    ids: list[str]
    parents: list[int]
    indents: list[int]
    connectors: list[str]
    stems: list[int]
    active: int
    nearest: list[int]


def lay_out(flat: FlatTree, visible: Sequence[bool]) -> TreeRows:
    """U-20..U-25: the rows of the visible positions; what hangs on a hidden entry moves up."""
    ids: list[str] = []
    parents: list[int] = []
    child_counts: list[int] = []
    last_children: list[int] = []
    nearest: list[int] = []
    roots = 0
    for position, entry_id in enumerate(flat.ids):
        above = flat.parents[position]
        parent = nearest[above] if above >= 0 else -1
        if not visible[position]:
            nearest.append(parent)
            continue
        row = len(ids)
        nearest.append(row)
        ids.append(entry_id)
        parents.append(parent)
        child_counts.append(0)
        last_children.append(-1)
        if parent < 0:
            roots += 1
        else:
            child_counts[parent] += 1
            last_children[parent] = row

    indents: list[int] = []
    connectors: list[str] = []
    stems: list[int] = []
    for row, parent in enumerate(parents):
        if parent < 0:
            indents.append(0)
            connectors.append("")
            stems.append(-1)
            continue
        branches = child_counts[parent] > 1
        below_one_of_several_roots = roots > 1 and parents[parent] < 0
        indents.append(indents[parent] + (branches or below_one_of_several_roots))
        connectors.append("" if not branches else LAST if last_children[parent] == row else BRANCH)
        stems.append(parent if connectors[parent] else stems[parent])
    return TreeRows(ids, parents, indents, connectors, stems, sum(visible[: flat.path_length]), nearest)


def max_levels(width: int) -> int:
    """U-26: the levels that a row of `width` cells shows; the rest is for its text."""
    return max(1, (width - max(24, width // 2) - 4) // _LEVEL_WIDTH)


def row_prefix(rows: TreeRows, row: int, levels: int | None = None) -> str:
    """U-22..U-26: a row's connector and gutters; of more than `levels` levels the innermost, after `…`."""
    indent = rows.indents[row]
    left_out = 0 if levels is None else max(0, indent - levels)
    cells = [_BLANK] * (indent - left_out)
    if rows.connectors[row]:
        cells[-1] = rows.connectors[row]
    stem = rows.stems[row]
    while stem >= 0 and rows.indents[stem] > left_out:
        if rows.connectors[stem] == BRANCH:
            cells[rows.indents[stem] - 1 - left_out] = _GUTTER
        stem = rows.stems[stem]
    prefix = "".join(cells)
    return ELLIPSIS + prefix[1:] if left_out else prefix


def render_row(
    rows: TreeRows,
    row: int,
    text: str,
    label: str | None,
    *,
    width: int | None = None,
    selected: bool = False,
) -> str:
    """U-30: one row, at most `width` cells (at least 1); None: its whole text, behind up to `MOST_LEVELS` levels.

    A long label leaves half of the row's room to the text. `text` is clean (`row_text`), `label` need not be.
    """
    cursor = "› " if selected else "  "
    bullet = "• " if row < rows.active else ""
    shown_label = clean(label or "").strip()
    if width is None:
        label_part = f"[{shown_label}] " if shown_label else ""
        return cursor + row_prefix(rows, row, MOST_LEVELS) + bullet + label_part + text
    start = cursor + row_prefix(rows, row, max_levels(width)) + bullet
    if shown_label:
        room = (width - cell_width(start)) // 2 - len("[] ")
        start += f"[{fit(shown_label, max(1, room))}] "
    return fit(start + text, width)
