"""Tells the hook `session_append` of every entry, in order, beside the appends."""

from __future__ import annotations

import asyncio
from collections import deque
from contextvars import ContextVar

from .hook_events import SessionAppendEvent
from .hooks import Hooks
from .session_events import EntriesAppended, SessionEvent
from .session_manager import SessionManager

_telling: ContextVar[AppendHooks | None] = ContextVar("telling", default=None)


class AppendHooks:
    """Observes a session; while there is something to tell, a task of its own tells it."""

    def __init__(self, session: SessionManager, hooks: Hooks) -> None:
        self._hooks = hooks
        self._waiting: deque[EntriesAppended] = deque()
        self._task: asyncio.Task[None] | None = None
        session._log.observers.add(self)

    def on_session_event(self, event: SessionEvent) -> None:
        """Take note of appended entries; see `SessionObserver`."""
        if isinstance(event, EntriesAppended) and self._hooks.has_handlers(SessionAppendEvent.type):
            self._waiting.append(event)
            if self._task is None:
                self._task = asyncio.get_running_loop().create_task(self._tell())

    async def _tell(self) -> None:
        _telling.set(self)
        try:
            while self._waiting:
                for entry in self._waiting.popleft().entries:
                    await self._hooks.tell(SessionAppendEvent(entry))
        finally:
            self._task = None

    async def drain(self) -> None:
        """Return when everything was told; at once in a handler, which would wait for itself."""
        while self._task is not None and _telling.get() is not self:
            await asyncio.wait((self._task,))
