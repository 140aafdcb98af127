"""Waiting for more by looking: often while something moves, seldom while it rests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from .abort import AbortSignal
from .store import EntryBatch, EventStore

_SHORTEST_WAIT = 0.02
_LONGEST_WAIT = 0.5


async def until(there_is_more: Callable[[], Awaitable[bool]], signal: AbortSignal | None) -> None:
    """Return when there is more. Raises `AbortError` as soon as the signal is aborted."""
    if signal is not None:
        signal.raise_if_aborted()
    wait = _SHORTEST_WAIT
    while not await there_is_more():
        pause = asyncio.sleep(wait)
        await (pause if signal is None else signal.run(pause))
        wait = min(wait * 1.5, _LONGEST_WAIT)


async def follow_by_polling(store: EventStore, after: int, signal: AbortSignal | None) -> AsyncIterator[EntryBatch]:
    """Yield entries after a position as they come; raises `AbortError`."""

    async def there_is_more() -> bool:
        return store.version > after or await store.check()

    while True:
        await until(there_is_more, signal)
        async for batch in store.read(after, signal=signal):
            after = batch.first_seq + len(batch.envelopes) - 1
            yield batch
