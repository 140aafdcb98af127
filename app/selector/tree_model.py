"""The rows of a tree that a person moves in: filtered, searched, folded, selected (U-10..U-5C). No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from typing import Protocol

from ...projections.folding import fold
from ...projections.tree import Tree
from ..cells import clean
from ..tree_filter import FilterMode, shows_kind
from ..tree_order import FlatTree, flatten
from ..tree_rows import TreeRows, lay_out
from ..tree_search import matches, query_tokens
from .word_index import WordIndex

_PROXIED = frozenset({"label", "custom", "model_change", "thinking_level_change"})


class ModelSource(Protocol):
    """The tree, its leaf, its labels; a `SessionManager` is one."""

    @property
    def columns(self) -> Tree: ...

    @property
    def leaf_id(self) -> str | None: ...

    @property
    def labels(self) -> Mapping[str, str]: ...


class TreeModel:
    """A session's tree as it stood when the model was made; texts are taken in as they are read.

    Positions number all entries in display order, rows those that are shown. What is chosen is a mask: a byte for
    each position, 0 or 1. `selected` is a position, -1 where there is none.
    """

    def __init__(self, source: ModelSource, *, mode: FilterMode = FilterMode.DEFAULT, query: str = "") -> None:
        self._source = source
        self._tree = source.columns
        self.leaf_id = source.leaf_id
        self.flat: FlatTree = flatten(self._tree, self.leaf_id)
        self.labels = dict(source.labels)
        self.mode = mode
        self.query = query
        self.size = len(self.flat.seqs)
        """How many entries there are."""
        self.texts: list[str | None] = [None] * self.size
        """Row texts by position; None until the entry was read."""
        self._spoken = bytearray(b"\1") * self.size
        self._words = WordIndex(self.size)
        self._folded: set[int] = set()
        self.passed_filter = 0
        """How many entries the filter alone shows."""
        self.rows: TreeRows
        self.selected = self.position(self.leaf_id)
        self.refresh()

    def position(self, entry_id: str | None) -> int:
        """Return the position of an entry, -1 for one that is not in the tree as it was."""
        seq = self._tree.find(entry_id) if entry_id is not None else 0
        return self.flat.positions[seq] if 0 < seq < len(self.flat.positions) else -1

    def show(self, position: int, text: str) -> None:
        """Take in what a row says; it is not found yet."""
        self.texts[position] = text

    def take(self, position: int, text: str, searched: str, *, silent: bool) -> None:
        """Take in what a row says, once; shown and found after the next `refresh`.

        `searched`: all that a search looks in, without the label. `silent`: an assistant's turn that shows no text.
        """
        self.texts[position] = text
        self._words.add(position, fold(searched))
        if silent and position != self.position(self.leaf_id):
            self._spoken[position] = 0

    def refresh(self) -> None:
        """Lay the rows out anew, and keep the selection, or its nearest ancestor that is shown (U-5B, U-5C)."""
        shown = self._passing()
        self.passed_filter = shown.count(1)
        for token in query_tokens(self.query):
            shown = _both(shown, self._found(token))
        if self._folded:
            shown = self._without_folded(shown)
        self.rows = lay_out(self.flat, compress(range(self.size), shown))
        if len(self.rows):
            row = self.rows.nearest(self.selected) if self.selected >= 0 else -1
            self.selected = self.rows.positions[row]  # the last row where none is near

    def _passing(self) -> bytes:
        """What the filter shows."""
        mode, flat = self.mode, self.flat
        if mode is FilterMode.ALL:
            return b"\1" * self.size
        if mode is FilterMode.LABELED_ONLY:
            labelled = bytearray(self.size)
            for entry_id in self.labels:
                if (position := self.position(entry_id)) >= 0:
                    labelled[position] = 1
            return _both(labelled, self._spoken)
        shown = [shows_kind(mode, kind.type, kind.role, labelled=False) for kind in self._tree.kinds]
        kinds = map(self._tree.kind_numbers.__getitem__, flat.seqs)
        return _both(bytes(map(shown.__getitem__, kinds)), self._spoken)

    def _found(self, token: str) -> bytearray:
        """Where a token is found, in the texts or in the labels (settled U-5A)."""
        found = self._words.find(token)
        for entry_id, label in self.labels.items():
            position = self.position(entry_id)
            if position >= 0 and matches([token], fold(f"[{clean(label)}]")):
                found[position] = 1
        return found

    def _without_folded(self, shown: bytes) -> bytes:
        left = bytearray(shown)
        for position in self._folded:
            if shown[position]:
                end = self.flat.subtree_end(position)
                left[position + 1 : end] = bytes(end - position - 1)
        return bytes(left)

    @property
    def row(self) -> int:
        """The row of the selection, -1 where no row is shown."""
        return self.rows.nearest(self.selected) if len(self.rows) and self.selected >= 0 else -1

    @property
    def selected_id(self) -> str | None:
        """The id of the selected entry, None where no row is shown."""
        return self.flat.id(self.selected) if self.row >= 0 else None

    def text_of(self, row: int) -> str | None:
        """Return what a row says, None until it was read."""
        return self.texts[self.rows.positions[row]]

    def select_row(self, row: int) -> None:
        """Select a row, the nearest one there is."""
        if len(self.rows):
            self.selected = self.rows.positions[min(max(row, 0), len(self.rows) - 1)]

    def move(self, steps: int) -> None:
        """Move the selection up or down, around the ends (U-60)."""
        if len(self.rows):
            self.select_row((self.row + steps) % len(self.rows))

    def move_to_turn(self, direction: int) -> None:
        """Select the previous (-1) or next (1) user or assistant row; stay where there is none (U-60)."""
        row = self.row + direction
        while 0 <= row < len(self.rows):
            if self._tree.kind(self.flat.seqs[self.rows.positions[row]]).role in ("user", "assistant"):
                self.select_row(row)
                return
            row += direction

    def set_mode(self, mode: FilterMode) -> None:
        """Choose a filter; nothing stays folded (X-151)."""
        self.mode = mode
        self._folded.clear()
        self.refresh()

    def next_mode(self, steps: int = 1) -> None:
        """Go to the next filter, or back."""
        modes = list(FilterMode)
        self.set_mode(modes[(modes.index(self.mode) + steps) % len(modes)])

    def set_query(self, query: str) -> None:
        """Search; an empty query shows all that the filter does. Nothing stays folded (X-151)."""
        self.query = query
        self._folded.clear()
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
        return self.rows.positions[row] in self._folded

    def fold_or_go_up(self) -> None:
        """Fold the selected subtree; where there is nothing to fold, go to the branch point above."""
        row = self.row
        if row < 0:
            return
        if self.rows.heads_branch(row) and row + 1 < len(self.rows) and self.rows.parent(row + 1) == row:
            self._folded.add(self.selected)
            self.refresh()
            return
        if (head := self.rows.branch_above(row)) >= 0:
            self.select_row(head)

    def unfold_or_go_down(self) -> None:
        """Unfold the selected subtree; where it is open, go to the next branch point below."""
        row = self.row
        if row < 0:
            return
        if self.selected in self._folded:
            self._folded.discard(self.selected)
            self.refresh()
            return
        if (head := self.rows.connector_below(row)) >= 0:
            self.select_row(head)

    def stands_for_leaf(self) -> bool:
        """Tell whether the selected row is the current leaf, or stands for it while it is hidden (settled U-70).

        The leaf as it is now: a label that was given here has moved it (U-64), others may have too.
        """
        position = self._position_of_leaf()
        if position < 0 or self.row < 0 or self.rows.nearest(position) != self.row:
            return False
        while position != self.selected:
            if self._tree.kind(self.flat.seqs[position]).type not in _PROXIED:
                return False
            position = self.flat.parent(position)
        return True

    def _position_of_leaf(self) -> int:
        """Where the leaf is, or what a later leaf says nothing after; -1 where something was said since."""
        leaf_id = self._source.leaf_id
        for seq in self._tree.ancestors(self._tree.find(leaf_id) if leaf_id is not None else 0):
            if seq < len(self.flat.positions):
                return self.flat.positions[seq]
            if self._tree.kind(seq).type not in _PROXIED:
                break
        return -1


def _both(one: bytes | bytearray, other: bytes | bytearray) -> bytes:
    """The mask of what is in both."""
    return (int.from_bytes(one, "big") & int.from_bytes(other, "big")).to_bytes(len(one), "big")
