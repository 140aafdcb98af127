"""Following a log by looking at it: often while it moves, seldom while it rests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .abort import AbortSignal
    from .store import EntryBatch, EventStore

SHORTEST_WAIT = 0.02
LONGEST_WAIT = 0.5


async def pause(seconds: float, signal: AbortSignal | None) -> None:
    """Sleep. Raises `AbortError` as soon as the signal is aborted."""
    if signal is None:
        await asyncio.sleep(seconds)
    else:
        await signal.run(asyncio.sleep(seconds))


async def follow_by_polling(store: EventStore, after: int, signal: AbortSignal | None) -> AsyncIterator[EntryBatch]:
    """Yield entries after a position as they come; raises `AbortError`."""
    wait = SHORTEST_WAIT
    while True:
        if store.version > after or await store.check():
            wait = SHORTEST_WAIT
            async for batch in store.read(after, signal=signal):
                after = batch.first_seq + len(batch.envelopes) - 1
                yield batch
        else:
            await pause(wait, signal)
            wait = min(wait * 1.5, LONGEST_WAIT)
