"""The rows of a tree that a person moves in: filtered, searched, folded, selected (U-10..U-5C). No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..tree_filter import FilterMode, shows_kind
from ..tree_order import FlatTree, TreeShape, flatten
from ..tree_rows import TreeRows, lay_out
from ..tree_search import fold, query_tokens
from .word_index import WordIndex

_PROXIED = frozenset({"label", "custom", "model_change", "thinking_level_change"})


class KindShape(Protocol):
    """What is known of an entry without its body."""

    @property
    def type(self) -> str: ...

    @property
    def role(self) -> str | None: ...


class ModelSource(TreeShape, Protocol):
    """The tree, what its entries are, and their labels; a `SessionManager` is one."""

    def shape(self, entry_id: str, /) -> KindShape: ...

    @property
    def labels(self) -> Mapping[str, str]: ...


class TreeModel:
    """A session's tree as it stood when the model was made; texts are taken in as they are read.

    Positions number all entries in display order, rows those that are shown. `selected` is a position, -1 where
    there is none.
    """

    def __init__(self, source: ModelSource, *, mode: FilterMode = FilterMode.DEFAULT) -> None:
        self.flat: FlatTree = flatten(source)
        self.leaf_id = source.leaf_id
        self.labels = dict(source.labels)
        self.mode = mode
        self.query = ""
        ids = self.flat.ids
        self.texts: list[str | None] = [None] * len(ids)
        """Row texts by position; None until the entry was read."""
        self.places = {entry_id: position for position, entry_id in enumerate(ids)}
        """Positions by id."""
        shapes = [source.shape(entry_id) for entry_id in ids]
        self._kinds = [(shape.type, shape.role) for shape in shapes]
        self._silent: set[int] = set()
        self._folded: set[int] = set()
        self._words = WordIndex()
        self.passed_filter = 0
        """How many entries the filter alone shows."""
        self.rows: TreeRows
        self._positions: list[int] = []
        self.selected = self.places.get(self.leaf_id, -1) if self.leaf_id is not None else -1
        self.refresh()

    def take(self, entry_id: str, text: str, searched: str, *, silent: bool) -> None:
        """Take in what a row says; shown and found after the next `refresh`.

        `searched`: all that a search looks in, without the label. `silent`: an assistant's turn that shows no text.
        """
        position = self.places.get(entry_id)
        if position is None or self.texts[position] is not None:
            return
        self.texts[position] = text
        label = self.labels.get(entry_id)
        self._words.add(position, fold(f"[{label}] {searched}" if label else searched))
        if silent and entry_id != self.leaf_id:
            self._silent.add(position)

    def refresh(self) -> None:
        """Lay the rows out anew, and keep the selection, or its nearest ancestor that is shown (U-5B, U-5C)."""
        shown = {
            (kind, labelled): shows_kind(self.mode, *kind, labelled=labelled)
            for kind in set(self._kinds)
            for labelled in (False, True)
        }
        labels = self.labels
        visible = [
            shown[kind, bool(labels.get(entry_id))] for kind, entry_id in zip(self._kinds, self.flat.ids, strict=True)
        ]
        if self.mode is not FilterMode.ALL:
            for position in self._silent:
                visible[position] = False
        self.passed_filter = sum(visible)
        tokens = query_tokens(self.query)
        if tokens:
            found = self._words.find_all(tokens)
            visible = [shown_too and position in found for position, shown_too in enumerate(visible)]
        for start in self._folded:
            for position in range(start + 1, self._subtree_end(start)):
                visible[position] = False
        self._positions = [position for position, is_shown in enumerate(visible) if is_shown]
        self.rows = lay_out(self.flat, visible)
        if self._positions:
            self.selected = self._nearest_shown(self.selected)

    def _subtree_end(self, position: int) -> int:
        parents, end = self.flat.parents, position + 1
        while end < len(parents) and parents[end] >= position:
            end += 1
        return end

    def _nearest_shown(self, position: int) -> int:
        row = self.rows.nearest[position] if position >= 0 else -1
        return self._positions[row if row >= 0 else -1]

    @property
    def row(self) -> int:
        """The row of the selection, -1 where no row is shown."""
        return self.rows.nearest[self.selected] if self._positions and self.selected >= 0 else -1

    @property
    def selected_id(self) -> str | None:
        """The id of the selected entry, None where no row is shown."""
        return self.flat.ids[self.selected] if self.row >= 0 else None

    def text_of(self, row: int) -> str | None:
        """Return what a row says, None until it was read."""
        return self.texts[self._positions[row]]

    def select_row(self, row: int) -> None:
        """Select a row, the nearest one there is."""
        if self._positions:
            self.selected = self._positions[min(max(row, 0), len(self._positions) - 1)]

    def move(self, steps: int) -> None:
        """Move the selection up or down, around the ends (U-60)."""
        if self._positions:
            self.select_row((self.row + steps) % len(self._positions))

    def move_to_turn(self, direction: int) -> None:
        """Select the previous (-1) or next (1) user or assistant row; stay where there is none (U-60)."""
        row = self.row + direction
        while 0 <= row < len(self._positions):
            if self._kinds[self._positions[row]][1] in ("user", "assistant"):
                self.select_row(row)
                return
            row += direction

    def set_mode(self, mode: FilterMode) -> None:
        """Choose a filter."""
        self.mode = mode
        self.refresh()

    def next_mode(self, steps: int = 1) -> None:
        """Go to the next filter, or back."""
        modes = list(FilterMode)
        self.set_mode(modes[(modes.index(self.mode) + steps) % len(modes)])

    def set_query(self, query: str) -> None:
        """Search; an empty query shows all that the filter does."""
        self.query = query
        self.refresh()

    def set_label(self, entry_id: str, label: str | None) -> None:
        """Show another label."""
        if label:
            self.labels[entry_id] = label
        else:
            self.labels.pop(entry_id, None)
        self.refresh()

    def is_folded(self, row: int) -> bool:
        """Tell whether what hangs below a row is folded."""
        return self._positions[row] in self._folded

    def fold_or_go_up(self) -> None:
        """Fold the selected subtree; where there is nothing to fold, go to the branch point above."""
        position = self.selected
        if self.row < 0:
            return
        if (
            position not in self._folded
            and self._subtree_end(position) > position + 1
            and self._heads_branch(position)
        ):
            self._folded.add(position)
            self.refresh()
            return
        self._go(-1)

    def unfold_or_go_down(self) -> None:
        """Unfold the selected subtree; where it is open, go to the next branch point below."""
        if self.selected in self._folded:
            self._folded.discard(self.selected)
            self.refresh()
        elif self.row >= 0:
            self._go(1)

    def _heads_branch(self, position: int) -> bool:
        row = self.rows.nearest[position]
        return bool(self.rows.connectors[row]) or self.rows.parents[row] < 0

    def _go(self, direction: int) -> None:
        """Select the next row above, on the way to the root, or below, that begins a branch."""
        rows, row = self.rows, self.row
        if direction < 0:
            row = rows.parents[row]
            while row >= 0 and not (rows.connectors[row] or rows.parents[row] < 0):
                row = rows.parents[row]
        else:
            row += 1
            while row < len(rows.ids) and not rows.connectors[row]:
                row += 1
        if 0 <= row < len(rows.ids):
            self.select_row(row)

    def stands_for_leaf(self) -> bool:
        """Tell whether the selected row is the current leaf, or stands for it while it is hidden (settled U-70)."""
        position = self.places.get(self.leaf_id, -1) if self.leaf_id is not None else -1
        if position < 0 or self.row < 0 or self.rows.nearest[position] != self.row:
            return False
        while position != self.selected:
            if self._kinds[position][0] not in _PROXIED:
                return False
            position = self.flat.parents[position]
        return True
