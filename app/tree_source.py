"""The rows of a session's tree, its bodies read and let go."""

from __future__ import annotations

from ..commands.session_manager import SessionManager
from ..eventstore.entries import MessageEntry
from .progress import Progress
from .tool_call_text import ToolCall, tool_calls, without_bulk
from .tree_filter import FilterMode, shows_kind
from .tree_lines import VisibleRows


async def visible_rows(
    session: SessionManager, *, mode: FilterMode, query: str, home: str, progress: Progress
) -> VisibleRows:
    """Read the entries that a filter can leave, and take in those that filter and search leave.

    Raises `SessionRewrittenError`, `SessionFileError`.
    """
    labels = session.labels
    wanted = []
    assistants = []
    has_results = False
    for entry_id in session.entry_ids():
        shape = session.shape(entry_id)
        if shape.role == "assistant":
            assistants.append(entry_id)
        if shows_kind(mode, shape.type, shape.role, labelled=bool(labels.get(entry_id))):
            wanted.append(entry_id)
            has_results = has_results or shape.role == "toolResult"
    if not has_results:
        assistants.clear()
    calls: dict[str, ToolCall] = {}
    total = len(assistants) + len(wanted)
    done = 0
    async for entry in session.scan_entries(assistants):
        done += 1
        progress(done, total)
        if isinstance(entry, MessageEntry):
            made = tool_calls((entry.message,))
            calls |= {call_id: without_bulk(call) for call_id, call in made.items()}
    rows = VisibleRows(calls, labels, session.leaf_id, mode=mode, query=query, home=home)
    async for entry in session.scan_entries(wanted):
        done += 1
        progress(done, total)
        rows.add(entry)
    return rows
