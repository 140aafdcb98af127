"""A session's tree as lines of text: flattened, filtered, searched, laid out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..eventstore.entries import MessageEntry, SessionEntry
from .cells import clean
from .row_text import row_text
from .tool_call_text import ToolCall, tool_calls
from .tree_filter import FilterMode, shows
from .tree_order import TreeShape, flatten
from .tree_rows import lay_out, render_row
from .tree_search import fold, matches, query_tokens


def tree_lines(
    shape: TreeShape,
    entries: Mapping[str, SessionEntry],
    labels: Mapping[str, str],
    *,
    mode: FilterMode = FilterMode.DEFAULT,
    query: str = "",
    width: int | None = None,
    home: str = "",
) -> Iterator[tuple[str, str]]:
    """Yield the id and the line of each visible row, top to bottom.

    `labels`: resolved labels by entry id. `width`: the cells of a line, None for no limit. `home`: the
    directory that is written `~`.
    """
    flat = flatten(shape)
    calls = tool_calls(entry.message for entry in entries.values() if isinstance(entry, MessageEntry))
    tokens = query_tokens(query)

    def is_visible(entry_id: str) -> bool:
        entry, label = entries[entry_id], labels.get(entry_id)
        if not shows(mode, entry, labelled=bool(label), is_leaf=entry_id == shape.leaf_id):
            return False
        return not tokens or matches(tokens, searched_text(entry, label, calls, home=home))

    rows = lay_out(flat, [is_visible(entry_id) for entry_id in flat.ids])
    for row, entry_id in enumerate(rows.ids):
        text = row_text(entries[entry_id], calls, home=home)
        yield entry_id, render_row(rows, row, text, labels.get(entry_id), width=width)


def searched_text(entry: SessionEntry, label: str | None, calls: Mapping[str, ToolCall], *, home: str = "") -> str:
    """Settled U-5A: the folded text in which a search looks: label and whole row text, summaries included."""
    text = row_text(entry, calls, home=home, whole=True)
    return fold(f"[{clean(label)}] {text}" if label else text)
