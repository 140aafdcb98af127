"""Streams of events: each reader at their own pace, nothing dropped, nobody waited for."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AbortController,
    AbortError,
    EntriesAppended,
    SessionClosed,
    SessionEvent,
    SessionManager,
    SessionOpened,
    SessionService,
)


async def append(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message({"role": "user", "content": entry_id}, entry_id=entry_id)


async def read(stream: AsyncIterator[SessionEvent]) -> list[SessionEvent]:
    async with asyncio.timeout(20):
        return [event async for event in stream]


def start(stream: AsyncIterator[SessionEvent]) -> asyncio.Future[SessionEvent]:
    async def one() -> SessionEvent:
        return await anext(stream)

    return asyncio.ensure_future(one())


async def test_every_stream_tells_everything_from_its_beginning_on(service: SessionService, path: Path) -> None:
    streams = [service.events(), service.events()]
    session = await service.open(path)
    late = service.events()
    await append(session, "b")
    await service.close()
    first, second, third = [await read(stream) for stream in [*streams, late]]
    assert [type(event) for event in first] == [SessionOpened, EntriesAppended, SessionClosed]
    assert (first, first[1:]) == (second, third)


async def test_what_nobody_reads_yet_is_kept(service: SessionService, path: Path) -> None:
    """Nothing is dropped, and no append waits for a reader."""
    stream = service.events()
    session = await service.open(path)
    ids = [f"e{number}" for number in range(500)]
    await append(session, *ids)
    await service.close()
    told = [event.entry_ids for event in await read(stream) if isinstance(event, EntriesAppended)]
    assert [entry_id for batch in told for entry_id in batch] == ids


async def test_a_reader_that_waits_is_woken(service: SessionService, path: Path) -> None:
    """By the first event; the next ones are there when it comes back."""
    stream = service.events()
    waiting = start(stream)
    await asyncio.sleep(0)
    assert not waiting.done()
    session = await service.open(path)
    assert isinstance(await waiting, SessionOpened)
    await append(session, "b")
    assert isinstance(await start(stream), EntriesAppended)


async def test_a_stream_that_is_dropped_is_forgotten(service: SessionService, path: Path) -> None:
    """By `del`, and by leaving its loop."""
    dropped = weakref.ref(service.events())
    assert dropped() is None
    session = await service.open(path)
    stream = service.events()
    left = weakref.ref(stream)
    await append(session, "b")
    async for _ in stream:
        break
    del stream
    gc.collect()
    assert left() is None
    await append(session, "c")


async def test_a_reader_that_goes_away_while_it_waits_leaves_nothing(service: SessionService, path: Path) -> None:
    """Though it had the stream from nowhere else."""
    stream = service.events()
    gone = weakref.ref(stream)
    reading = asyncio.ensure_future(read(stream))
    del stream
    await asyncio.sleep(0)
    assert gone() is not None
    reading.cancel()
    await asyncio.wait([reading])
    del reading
    gc.collect()
    assert gone() is None
    await service.open(path)


async def test_a_cancelled_reader_loses_nothing(service: SessionService, path: Path) -> None:
    """D8: the stream can be read on, whenever the cancellation came."""
    stream = service.events()
    for _ in range(2):
        reading = start(stream)
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait([reading])
    waiting = start(stream)
    await asyncio.sleep(0)
    session = await service.open(path)
    waiting.cancel()  # woken already, or not any more
    result = (await asyncio.gather(waiting, return_exceptions=True))[0]
    await append(session, "b")
    await service.close()
    told = [result] if isinstance(result, SessionEvent) else []
    assert [type(event) for event in [*told, *await read(stream)]] == [SessionOpened, EntriesAppended, SessionClosed]


async def test_a_stream_ends_with_the_service(service: SessionService, path: Path) -> None:
    """For the one who waits in it, and for the one who comes later; again and again."""
    waiting, unread = service.events(), service.events()
    reading = asyncio.ensure_future(read(waiting))
    await service.open(path)
    await asyncio.sleep(0)
    await service.close()
    assert [type(event) for event in await reading] == [SessionOpened, SessionClosed]
    assert len(await read(unread)) == 2
    assert (await read(waiting), await read(unread)) == ([], [])


async def test_two_readers_of_one_stream_share_its_events(service: SessionService, path: Path) -> None:
    """Each event goes to one of them, and both end with the stream."""
    stream = service.events()
    readers = [asyncio.ensure_future(read(stream)) for _ in range(2)]
    await asyncio.sleep(0)
    await append(await service.open(path), "b")
    await service.close()
    _, waiting = await asyncio.wait(readers, timeout=0.2)
    for reader in waiting:
        reader.cancel()
    parts = await asyncio.gather(*readers, return_exceptions=True)
    assert not waiting
    assert sum(len(part) for part in parts if isinstance(part, list)) == 3


async def test_a_signal_ends_the_reading(service: SessionService) -> None:
    """D8: while it waits, and from then on."""
    controller = AbortController()
    stream = service.events(signal=controller.signal)
    reading = asyncio.ensure_future(read(stream))
    await asyncio.sleep(0)
    controller.abort("enough")
    for aborted in (reading, start(stream)):
        with pytest.raises(AbortError, match="enough"):
            await aborted


async def test_a_signal_drops_nothing_that_was_told_before(service: SessionService, path: Path) -> None:
    """D8: it comes to those who have read everything."""
    controller = AbortController()
    stream = service.events(signal=controller.signal)
    session = await service.open(path)
    await append(session, "b")
    controller.abort()
    assert isinstance(await anext(stream), SessionOpened)
    assert isinstance(await anext(stream), EntriesAppended)
    with pytest.raises(AbortError):
        await anext(stream)
    await append(session, "c")
    assert isinstance(await anext(stream), EntriesAppended)


async def test_a_signal_that_is_never_aborted_changes_nothing(service: SessionService, path: Path) -> None:
    stream = service.events(signal=AbortController().signal)
    reading: asyncio.Future[Any] = asyncio.ensure_future(read(stream))
    await asyncio.sleep(0)
    await append(await service.open(path), "b")
    await service.close()
    assert [type(event) for event in await reading] == [SessionOpened, EntriesAppended, SessionClosed]
