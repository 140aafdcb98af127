"""Concurrent callers, each of which awaits its append before the next."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter


async def calls_per_second(append: Callable[[int], Awaitable[object]], callers: int, appends: int) -> float:
    """How many awaited appends a second the tasks reach together; each call gets a number of its own."""

    async def caller(numbers: range) -> None:
        for number in numbers:
            await append(number)

    share = appends // callers
    started = perf_counter()
    async with asyncio.TaskGroup() as group:
        for at in range(callers):
            group.create_task(caller(range(at * share, (at + 1) * share)))
    return share * callers / (perf_counter() - started)
