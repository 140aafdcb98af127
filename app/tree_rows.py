"""The rows of a tree: which levels, connectors and gutters stand before each text (U-20..U-30)."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from .cells import ELLIPSIS, cell_width, clean, fit
from .tree_order import FlatTree

BRANCH = "├─ "
LAST = "└─ "
_GUTTER = "│  "
_BLANK = "   "
_LEVEL_WIDTH = len(_BLANK)
_NO_CURSOR = "  "
MOST_LEVELS = 100
"""The levels of a row without a width. With all of them a text would be quadratic in the depth of its branches."""


@dataclass(frozen=True, slots=True)
class TreeRows:
    """The visible rows, laid out on what is visible (settled U-25).

    They are cut into runs, those of each segment of the flat tree that shows any: all rows of a run but the first
    are the only visible child of the row before. `heads[r]` is the first row of run `r`; of that row `parents[r]` is
    the run on whose last row it hangs, -1 for none, `indents[r]` its levels of 3 cells (U-21), `connectors[r]`
    `BRANCH`, `LAST` or "" (U-22), `stems[r]` the nearest run above it whose head shows a connector, -1 for none, so
    that gutters are a chain and cost no memory by depth (U-23).
    """

    flat: FlatTree
    positions: array[int]
    """The visible positions, by row."""
    active: int
    """How many rows are on the active path: the first ones (U-14)."""
    heads: list[int]
    parents: list[int]
    indents: list[int]
    connectors: list[str]
    stems: list[int]
    several_roots: bool
    """Whether several rows are roots."""

    def __len__(self) -> int:
        return len(self.positions)

    def _run(self, row: int) -> int:
        """Return the run that holds a row."""
        return bisect_right(self.heads, row) - 1

    def _last_row(self, run: int) -> int:
        return (self.heads[run + 1] if run + 1 < len(self.heads) else len(self.positions)) - 1

    def parent(self, row: int) -> int:
        """Return the row of the nearest visible ancestor of a row, -1 for none."""
        run = self._run(row)
        if row > self.heads[run]:
            return row - 1
        return self._last_row(self.parents[run]) if self.parents[run] >= 0 else -1

    def indent(self, row: int) -> int:
        """Return the levels of a row (U-20, U-21)."""
        run = self._run(row)
        below_root = self.several_roots and self.parents[run] < 0 and row > self.heads[run]
        return self.indents[run] + below_root

    def connector(self, row: int) -> str:
        """Return the connector of a row, "" for none (U-22)."""
        run = self._run(row)
        return self.connectors[run] if row == self.heads[run] else ""

    def stem(self, row: int) -> int:
        """Return the nearest run above a row whose head shows a connector, -1 for none (U-23)."""
        run = self._run(row)
        return run if row > self.heads[run] and self.connectors[run] else self.stems[run]

    def heads_branch(self, row: int) -> bool:
        """Tell whether a row is a root or shows a connector."""
        run = self._run(row)
        return row == self.heads[run] and (self.parents[run] < 0 or bool(self.connectors[run]))

    def branch_above(self, row: int) -> int:
        """Return the next row on the way from a row to its root that heads a branch, -1 for none."""
        run = self._run(row)
        if row == self.heads[run]:
            run = self.parents[run]
        while run >= 0 and not self.heads_branch(self.heads[run]):
            run = self.parents[run]
        return self.heads[run] if run >= 0 else -1

    def connector_below(self, row: int) -> int:
        """Return the next row down the list that shows a connector, -1 for none."""
        for run in range(self._run(row) + 1, len(self.heads)):
            if self.connectors[run]:
                return self.heads[run]
        return -1

    def nearest(self, position: int) -> int:
        """Return the row of a position, or that of its nearest visible ancestor, -1 for none."""
        row = bisect_right(self.positions, position) - 1
        run = self._run(row)
        while run >= 0 and self.flat.subtree_end(self.positions[self.heads[run]]) <= position:
            run = self.parents[run]
            row = self._last_row(run)
        return row if run >= 0 else -1

    def id(self, row: int) -> str:
        """Return the id of a row's entry."""
        return self.flat.id(self.positions[row])

    @property
    def ids(self) -> list[str]:
        """The ids of all rows."""
        return [self.flat.id(position) for position in self.positions]


def lay_out(flat: FlatTree, visible: Iterable[int]) -> TreeRows:
    """U-20..U-25: the rows of the visible positions, given in order; what hangs on a hidden entry moves up."""
    positions = array("I", visible)
    heads: list[int] = []
    parents: list[int] = []
    ends: list[int] = []
    child_counts: list[int] = []
    last_children: list[int] = []
    roots = 0
    row, above = 0, -1
    while row < len(positions):
        segment = flat.segment(positions[row])
        while above >= 0 and ends[above] <= positions[row]:
            above = parents[above]
        run = len(heads)
        heads.append(row)
        parents.append(above)
        ends.append(flat.ends[segment])
        child_counts.append(0)
        last_children.append(-1)
        if above < 0:
            roots += 1
        else:
            child_counts[above] += 1
            last_children[above] = run
        row = bisect_left(positions, flat.segment_end(segment), row)
        above = run

    rows = TreeRows(flat, positions, bisect_left(positions, flat.path_length), heads, parents, [], [], [], roots > 1)
    for run, above in enumerate(parents):
        if above < 0:
            rows.indents.append(0)
            rows.connectors.append("")
            rows.stems.append(-1)
            continue
        branches = child_counts[above] > 1
        below_root = rows.several_roots and parents[above] < 0
        hangs_on_head = heads[above + 1] == heads[above] + 1
        deeper = (branches or below_root) if hangs_on_head else (branches + below_root)
        rows.indents.append(rows.indents[above] + deeper)
        rows.connectors.append("" if not branches else LAST if last_children[above] == run else BRANCH)
        rows.stems.append(above if rows.connectors[above] else rows.stems[above])
    return rows


def max_levels(width: int) -> int:
    """U-26: the levels that a row of `width` cells shows; the rest is for its text."""
    return max(1, (width - max(24, width // 2) - 4) // _LEVEL_WIDTH)


def row_prefix(rows: TreeRows, row: int, levels: int | None = None) -> str:
    """U-22..U-26: a row's connector and gutters; of more than `levels` levels the innermost, after `…`."""
    indent = rows.indent(row)
    left_out = 0 if levels is None else max(0, indent - levels)
    cells = [_BLANK] * (indent - left_out)
    if connector := rows.connector(row):
        cells[-1] = connector
    stem = rows.stem(row)
    while stem >= 0 and rows.indents[stem] > left_out:
        if rows.connectors[stem] == BRANCH:
            cells[rows.indents[stem] - 1 - left_out] = _GUTTER
        stem = rows.stems[stem]
    prefix = "".join(cells)
    return ELLIPSIS + prefix[1:] if left_out else prefix


def render_row(rows: TreeRows, row: int, text: str, label: str | None, *, width: int | None = None) -> str:
    """U-30: one row, at most `width` cells (at least 1); None: its whole text, behind up to `MOST_LEVELS` levels.

    A long label leaves half of the row's room to the text. `text` is clean (`row_text`), `label` need not be.
    """
    bullet = "• " if row < rows.active else ""
    shown_label = clean(label or "").strip()
    if width is None:
        label_part = f"[{shown_label}] " if shown_label else ""
        return _NO_CURSOR + row_prefix(rows, row, MOST_LEVELS) + bullet + label_part + text
    start = _NO_CURSOR + row_prefix(rows, row, max_levels(width)) + bullet
    if shown_label:
        room = (width - cell_width(start)) // 2 - len("[] ")
        start += f"[{fit(shown_label, max(1, room))}] "
    return fit(start + text, width)
