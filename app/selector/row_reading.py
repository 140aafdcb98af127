"""Reads what the rows say, those around the selection first, while the tree is on the screen already."""

from __future__ import annotations

from collections.abc import AsyncIterator

from ...commands.session_manager import SessionManager
from ...eventstore.abort import AbortSignal
from ...eventstore.entries import MessageEntry, SessionEntry
from ...projections.content_blocks import text_field
from ..cells import head
from ..row_text import row_text
from ..tool_call_text import ToolCall, tool_calls, without_bulk
from ..tree_filter import is_silent_turn
from .tree_model import TreeModel

_AT_ONCE = 256
_AROUND = 300
"""Rows above and below the selection that are read first."""
_LONGEST = 1_000
"""Characters of a row that are kept: no terminal is wider."""


class RowReader:
    """Gives a model the texts of its rows. `home`: the directory that is written `~`."""

    def __init__(self, session: SessionManager, model: TreeModel, home: str) -> None:
        self._session = session
        self._model = model
        self._home = home
        self._calls: dict[str, ToolCall] = {}
        self._waiting: dict[str, list[tuple[int, MessageEntry]]] = {}
        """Results whose call was not read yet, by its id, without their contents."""

    async def read(self, signal: AbortSignal) -> AsyncIterator[int]:
        """Yield how many entries were read, now and then. Raises `AbortError`, and what reading raises."""
        model, row = self._model, self._model.row
        near = model.rows.positions[max(0, row - _AROUND) : row + _AROUND]
        known = set(near)
        # In the order of the file, which is read fastest.
        rest = [position for position in model.flat.positions if position >= 0 and position not in known]
        done = 0
        for part in (near, *(rest[start : start + _AT_ONCE] for start in range(0, len(rest), _AT_ONCE))):
            positions = iter(part)
            async for entry in self._session.scan_entries(map(model.flat.id, part), signal=signal):
                self._take_entry(next(positions), entry)
            done += len(part)
            yield done
        for results in self._waiting.values():
            for position, result in results:
                self._take(position, result)

    def _take_entry(self, position: int, entry: SessionEntry) -> None:
        if not isinstance(entry, MessageEntry):
            self._take(position, entry)
        elif entry.role == "toolResult":
            self._take_result(position, entry)
        else:
            self._take(position, entry, silent=entry.role == "assistant" and is_silent_turn(entry.message))
            for call_id, call in tool_calls((entry.message,)).items():
                self._calls[call_id] = without_bulk(call)
                for waiting, result in self._waiting.pop(call_id, ()):
                    self._take(waiting, result)

    def _take_result(self, position: int, result: MessageEntry) -> None:
        """Take in a tool's result, that is named by its call; until that is known it has the name of its tool."""
        call_id = text_field(result.message, "toolCallId")
        if call_id in self._calls:
            self._take(position, result)
            return
        named = {key: value for key, value in result.message.items() if key in ("role", "toolCallId", "toolName")}
        result = MessageEntry(id=result.id, message=named)
        self._model.show(position, row_text(result, {}))
        self._waiting.setdefault(call_id, []).append((position, result))

    def _take(self, position: int, entry: SessionEntry, *, silent: bool = False) -> None:
        text = head(row_text(entry, self._calls, home=self._home), _LONGEST)
        self._model.take(position, text, row_text(entry, self._calls, home=self._home, whole=True), silent=silent)
