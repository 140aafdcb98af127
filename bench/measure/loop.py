"""How long going through a session keeps the event loop from its other tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from time import perf_counter

from bench.figures import Figures
from bench.stall import StallMeter, never_rest
from sessiontree import SessionManager

_QUIET = 0.3


async def stall_of_opening(path: str, busy: bool) -> Figures:
    """The stall of opening; figures as `_stall`."""

    async def open_session() -> None:
        session = await SessionManager.open(path)
        assert session.entry_count > 0
        await session.close()

    return await _stall(open_session, busy=busy)


async def stall_of_replay(path: str, busy: bool) -> Figures:
    """The stall of reading every entry of an open session; figures as `_stall`."""
    async with await SessionManager.open(path, read_only=True) as session:

        async def replay() -> None:
            async for _ in session.scan_entries():
                pass

        return await _stall(replay, busy=busy)


async def _stall(job: Callable[[], Awaitable[None]], *, busy: bool) -> Figures:
    """Do the job on an idle loop, or beside a task that never rests.

    Figures, in seconds: `stall` and `seconds` of the job, `quiet` (the worst of 0.3 s before it).
    """
    async with AsyncExitStack() as stack:
        if busy:
            neighbour = asyncio.create_task(never_rest())
            stack.callback(neighbour.cancel)
        async with StallMeter() as quiet:
            await asyncio.sleep(_QUIET)
        async with StallMeter() as meter:
            started = perf_counter()
            await job()
            seconds = perf_counter() - started
    return {"stall": meter.worst, "quiet": quiet.worst, "seconds": seconds}
