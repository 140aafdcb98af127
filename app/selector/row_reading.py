"""Reads what the rows say, those around the selection first, while the tree is on the screen already."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from ...commands.session_manager import SessionManager
from ...eventstore.abort import AbortSignal
from ...eventstore.entries import MessageEntry, SessionEntry
from ..row_text import row_text
from ..tool_call_text import ToolCall, tool_calls, without_bulk
from ..tree_filter import is_silent_turn
from .tree_model import TreeModel

_SLICE = 256
_AROUND = 300
"""Rows above and below the selection that are read first."""


class RowReader:
    """Gives a model the texts of its rows. `home`: the directory that is written `~`."""

    def __init__(self, session: SessionManager, model: TreeModel, home: str) -> None:
        self._session = session
        self._model = model
        self._home = home
        self._calls: dict[str, ToolCall] = {}

    async def read(self, signal: AbortSignal) -> AsyncIterator[int]:
        """Yield how many entries were read, after each slice. Raises `AbortError`, and what reading raises."""
        ids, row = self._model.rows.ids, self._model.row
        near = ids[max(0, row - _AROUND) : row + _AROUND]
        yield await self._take(near, signal)
        rest = self._session.entry_ids()
        for start in range(0, len(rest), _SLICE):
            part = rest[start : start + _SLICE]
            yield start + await self._take(part, signal)

    async def _take(self, ids: Sequence[str], signal: AbortSignal) -> int:
        for entry in await self._session.get_entries(ids, signal=signal):
            self._take_entry(entry)
        return len(ids)

    def _take_entry(self, entry: SessionEntry) -> None:
        silent = False
        if isinstance(entry, MessageEntry):
            made = tool_calls((entry.message,))
            self._calls |= {call_id: without_bulk(call) for call_id, call in made.items()}
            silent = entry.role == "assistant" and is_silent_turn(entry.message)
        text = row_text(entry, self._calls, home=self._home)
        self._model.take(entry.id, text, row_text(entry, self._calls, home=self._home, whole=True), silent=silent)
