"""A session's tree as lines of text: flattened, filtered, searched, laid out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..eventstore.entries import SessionEntry
from ..projections.folding import fold
from ..projections.tree import Tree
from .cells import clean
from .row_text import row_text
from .tool_call_text import ToolCall
from .tree_filter import FilterMode, shows
from .tree_order import flatten
from .tree_rows import TreeRows, lay_out, render_row
from .tree_search import matches, query_tokens


class VisibleRows:
    """The row texts of the entries that a filter and a search leave, taken in one entry at a time.

    No entry is kept, so a session of any length needs the room of its rows only.
    """

    def __init__(
        self,
        calls: Mapping[str, ToolCall],
        labels: Mapping[str, str],
        leaf_id: str | None,
        *,
        mode: FilterMode = FilterMode.DEFAULT,
        query: str = "",
        home: str = "",
    ) -> None:
        self.texts: dict[str, str] = {}
        """Row text by entry id."""
        self.passed_filter = 0
        """How many entries the filter alone leaves."""
        self._calls = calls
        self._labels = labels
        self._leaf_id = leaf_id
        self._mode = mode
        self._tokens = query_tokens(query)
        self._home = home

    def add(self, entry: SessionEntry) -> None:
        """Take in an entry, in whatever order; it is a row if filter and search leave it."""
        label = self._labels.get(entry.id)
        if not shows(self._mode, entry, labelled=bool(label), is_leaf=entry.id == self._leaf_id):
            return
        self.passed_filter += 1
        if self._tokens and not matches(self._tokens, _searched_text(entry, label, self._calls, home=self._home)):
            return
        self.texts[entry.id] = row_text(entry, self._calls, home=self._home)

    def lay_out(self, tree: Tree) -> TreeRows:
        """Lay the rows out in the tree."""
        flat = flatten(tree, self._leaf_id)
        return lay_out(flat, (position for position in range(len(flat.seqs)) if flat.id(position) in self.texts))

    def lines(self, rows: TreeRows, width: int | None) -> Iterator[tuple[str, str]]:
        """Yield the id and the line of each row."""
        for row, entry_id in enumerate(rows.ids):
            yield entry_id, render_row(rows, row, self.texts[entry_id], self._labels.get(entry_id), width=width)


def _searched_text(entry: SessionEntry, label: str | None, calls: Mapping[str, ToolCall], *, home: str = "") -> str:
    """Settled U-5A: the folded text in which a search looks: label and whole row text, summaries included."""
    text = row_text(entry, calls, home=home, whole=True)
    return fold(f"[{clean(label)}] {text}" if label else text)
