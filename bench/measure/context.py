"""The context at the leaf, the first time after opening and again."""

from __future__ import annotations

from statistics import median
from time import perf_counter

from bench.figures import Figures
from sessiontree import SessionManager

_AGAIN = 30


async def context_at_leaf(path: str) -> Figures:
    """Figures: `first` and `again` (the median of 30) in seconds, `messages`."""
    async with await SessionManager.open(path) as session:
        started = perf_counter()
        context = await session.build_session_context()
        first = perf_counter() - started
        again = []
        for _ in range(_AGAIN):
            started = perf_counter()
            context = await session.build_session_context()
            again.append(perf_counter() - started)
        return {"first": first, "again": median(again), "messages": len(context.messages)}
