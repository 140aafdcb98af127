"""The stall meter: how long a task that ticks every millisecond was kept waiting."""

from __future__ import annotations

import asyncio
from time import perf_counter
from types import TracebackType

_TICK = 0.001


class StallMeter:
    """Within `async with`: `worst` is the longest time between two ticks in seconds, 0.001 when idle."""

    def __init__(self) -> None:
        self.worst = 0.0
        self._task: asyncio.Task[None] | None = None
        self._last = 0.0

    async def __aenter__(self) -> StallMeter:
        self._last = perf_counter()
        self._task = asyncio.create_task(self._tick())
        await asyncio.sleep(0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])
        self._note()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            self._note()

    def _note(self) -> None:
        now = perf_counter()
        self.worst = max(self.worst, now - self._last)
        self._last = now


async def never_rest(work: float = 0.001) -> None:
    """Work that long, in seconds, give way to the loop, and again, for ever."""
    while True:
        until = perf_counter() + work
        while perf_counter() < until:
            pass
        await asyncio.sleep(0)
