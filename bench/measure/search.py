"""Full-text search of a whole session that is open."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from time import perf_counter

from bench.figures import Figures, own_peak_mb
from bench.measure.settled import settled
from bench.stall import StallMeter, never_rest
from sessiontree import SessionManager


async def search(path: str, query: str, busy: bool = False) -> Figures:
    """Take all hits of a query; `busy`: beside a task that never rests.

    Figures: `mb_per_s`, `hits`, `stall` in seconds, `before_mb`: the peak memory before the search.
    """
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(await SessionManager.open(path, read_only=True))
        await settled()
        before_mb = own_peak_mb()
        if busy:
            neighbour = asyncio.create_task(never_rest())
            stack.callback(neighbour.cancel)
        async with StallMeter() as meter:
            started = perf_counter()
            hits = 0
            async for _ in session.search(query):
                hits += 1
            seconds = perf_counter() - started
    size = Path(path).stat().st_size
    return {"mb_per_s": size / seconds / 1e6, "hits": hits, "stall": meter.worst, "before_mb": before_mb}
