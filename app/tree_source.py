"""The rows of a stored session's tree, its bodies read in slices and let go."""

from __future__ import annotations

from collections.abc import Sequence

from ..eventstore.entries import MessageEntry
from ..projections.entry_reader import EntryReader
from ..projections.tree import ROOT, Tree
from .progress import Progress
from .stored_session import StoredSession
from .tool_call_text import ToolCall, tool_calls, without_bulk
from .tree_filter import FilterMode, shows_kind
from .tree_lines import VisibleRows

_SLICE = 256


class StoredShape:
    """A `TreeShape` over a session's columns."""

    def __init__(self, tree: Tree, leaf: int) -> None:
        self._tree = tree
        self.leaf_id = tree.ids[leaf] if leaf != ROOT else None

    @property
    def root_ids(self) -> list[str]:
        return [self._tree.ids[seq] for seq in self._tree.children(ROOT)]

    def ordered_children(self, entry_id: str, /) -> list[str]:
        return [self._tree.ids[seq] for seq in self._tree.ordered_children(self._tree.find(entry_id))]


async def visible_rows(
    session: StoredSession,
    leaf_id: str | None,
    *,
    mode: FilterMode,
    query: str,
    home: str,
    progress: Progress,
) -> VisibleRows:
    """Read the entries that a filter can leave, and take in those that filter and search leave.

    Raises `SessionRewrittenError`, `SessionFileError`.
    """
    tree, labels = session.projector.tree, session.projector.labels.by_target
    reader = EntryReader(session.store, tree)
    wanted = []
    assistants = []
    for seq in tree.live():
        kind = tree.kind(seq)
        if kind.role == "assistant":
            assistants.append(seq)
        if shows_kind(mode, kind.type, kind.role, labelled=bool(labels.get(tree.ids[seq]))):
            wanted.append(seq)
    calls: dict[str, ToolCall] = {}
    total = len(wanted)
    if any(tree.kind(seq).role == "toolResult" for seq in wanted):
        total += len(assistants)
        for start, part in _slices(assistants):
            entries = await reader.read(part)
            messages = [entry.message for seq in part if isinstance(entry := entries[seq], MessageEntry)]
            calls |= {call_id: without_bulk(call) for call_id, call in tool_calls(messages).items()}
            progress(start + len(part), total)
    rows = VisibleRows(calls, labels, leaf_id, mode=mode, query=query, home=home)
    for start, part in _slices(wanted):
        for entry in (await reader.read(part)).values():
            rows.add(entry)
        progress(total - len(wanted) + start + len(part), total)
    return rows


def _slices(seqs: Sequence[int]) -> list[tuple[int, Sequence[int]]]:
    return [(start, seqs[start : start + _SLICE]) for start in range(0, len(seqs), _SLICE)]
