"""How long opening a session keeps the event loop from its other tasks."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from time import perf_counter

from bench.figures import Figures
from bench.stall import StallMeter, never_rest
from sessiontree import SessionManager

_QUIET = 0.3


async def stall_of_opening(path: str, busy: bool) -> Figures:
    """Open on an idle loop, or beside a task that never rests.

    Figures, in seconds: `stall` and `seconds` of opening, `quiet` (the worst of 0.3 s before it).
    """
    async with AsyncExitStack() as stack:
        if busy:
            neighbour = asyncio.create_task(never_rest())
            stack.callback(neighbour.cancel)
        async with StallMeter() as quiet:
            await asyncio.sleep(_QUIET)
        async with StallMeter() as meter:
            started = perf_counter()
            session = await SessionManager.open(path)
            seconds = perf_counter() - started
        assert session.entry_count > 0
        await session.close()
    return {"stall": meter.worst, "quiet": quiet.worst, "seconds": seconds}
