"""What happens in the sessions of a service, for one who reads it at their own pace."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Self

from ..eventstore.abort import AbortSignal
from .session_events import SessionEvent


class EventStream:
    """An async iterator of events. Keeps what is not read yet: nothing is dropped, and nobody waits for a reader."""

    def __init__(self, signal: AbortSignal | None) -> None:
        self._signal = signal
        self._events: deque[SessionEvent] = deque()
        self._ended = False
        self._woken: asyncio.Future[None] | None = None

    def push(self, event: SessionEvent) -> None:
        """Add an event."""
        self._events.append(event)
        self._wake()

    def end(self) -> None:
        """Let the reader stop when it has read everything."""
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionEvent:
        """Return the next event. Raises `AbortError`."""
        while not self._events:
            if self._ended:
                raise StopAsyncIteration
            if self._woken is None or self._woken.done():
                self._woken = asyncio.get_running_loop().create_future()
            # Several may read: none cancels what another waits for.
            woken = asyncio.shield(self._woken)
            await (woken if self._signal is None else self._signal.run(woken))
        return self._events.popleft()
