"""What is under way when a service is closed: openings, searches, closings, switches. All of it is waited for."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    EntriesAppended,
    SessionClosed,
    SessionClosedError,
    SessionManager,
    SessionNotFoundError,
    SessionService,
    SessionSwitched,
)
from sessiontree.commands import session_manager
from sessiontree.eventstore.jsonl_store import JsonlEventStore

Store = Callable[..., Awaitable[Path]]
Hold = Callable[..., Any]


async def append(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message({"role": "user", "content": entry_id}, entry_id=entry_id)


async def turns() -> None:
    """Let what was begun go on as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def is_open(session: SessionManager) -> bool:
    try:
        session.reset_leaf()
    except SessionClosedError:
        return False
    return True


async def test_a_session_that_is_being_opened_is_closed_too(
    service: SessionService, path: Path, hold: Hold, heard: Any
) -> None:
    """Its opener gets it, closed: nothing is left behind."""
    gate = hold(SessionManager, "open")
    opening = asyncio.ensure_future(service.open(path))
    await gate.begun()
    closing = asyncio.ensure_future(service.close())
    await asyncio.sleep(0)
    assert not closing.done()
    gate.go_on.set()
    await closing
    assert not await is_open(await opening)
    assert [type(event).__name__ for event in await heard.rest()] == ["SessionOpened", "SessionClosed"]


async def test_nothing_keeps_a_service_that_was_closed(sessions_dir: Path, path: Path, hold: Hold) -> None:
    """No timer, no task; not even when a session was opened at the last moment."""
    service = SessionService(sessions_dir)
    gate = hold(SessionManager, "open")
    opening = asyncio.ensure_future(service.open(path))
    await gate.begun()
    closing = asyncio.ensure_future(service.close())
    await turns()
    gate.go_on.set()
    await asyncio.gather(opening, closing)
    gone = weakref.ref(service)
    del service, opening, closing
    gc.collect()
    assert gone() is None


async def test_an_opening_that_fails_does_not_keep_the_service_open(
    service: SessionService, path: Path, store: Store, hold: Hold
) -> None:
    """Its opener hears of it; closing does not."""
    session = await service.open(await store())
    gate = hold(SessionManager, "open")
    opening = asyncio.ensure_future(service.open(path))
    await gate.begun()
    closing = asyncio.ensure_future(service.close())
    path.unlink()
    gate.go_on.set()
    await closing
    with pytest.raises(SessionNotFoundError):
        await opening
    assert not await is_open(session)


async def test_a_search_that_ends_after_the_service_opens_nothing(
    service: SessionService, path: Path, heard: Any
) -> None:
    searches = [
        asyncio.ensure_future(service.open(path.stem.partition("_")[2])),
        asyncio.ensure_future(service.continue_recent("/proj/demo")),
        asyncio.ensure_future(service.continue_recent("/proj/new")),
    ]
    await asyncio.sleep(0)
    await service.close()
    results = await asyncio.gather(*searches, return_exceptions=True)
    assert [type(result) for result in results] == [SessionClosedError] * 3
    assert await heard.rest() == []


async def test_an_idle_closing_is_waited_for(
    service: SessionService, path: Path, pass_time: Any, hold: Hold, heard: Any
) -> None:
    """F-115: nothing goes on behind the service's back."""
    await append(await service.open(path), "b")
    gate = hold(JsonlEventStore, "close")
    await pass_time()
    await gate.begun()
    closing = asyncio.ensure_future(service.close())
    await turns()
    assert not closing.done()
    gate.go_on.set()
    await closing
    assert isinstance((await heard.rest())[-1], SessionClosed)


async def test_a_closing_of_its_own_is_waited_for(service: SessionService, path: Path, hold: Hold, heard: Any) -> None:
    """F-115: of a session that its user closes at the same time."""
    session = await service.open(path)
    gate = hold(JsonlEventStore, "close")
    own = asyncio.ensure_future(session.close())
    await gate.begun()
    closing = asyncio.ensure_future(service.close())
    await turns()
    assert not closing.done()
    gate.go_on.set()
    await asyncio.gather(own, closing)
    assert [type(event).__name__ for event in await heard.rest()] == ["SessionOpened", "SessionClosed"]


async def test_what_is_in_flight_in_a_file_that_was_just_left_is_waited_for(
    service: SessionService, path: Path, disk: Any, hold: Hold, heard: Any
) -> None:
    """F-115, T-60: recorded before the service is closed, and told."""
    session = await service.open(path)
    await append(session, "b")
    written = hold(session_manager, "write_session_file", after=True)
    switching = asyncio.ensure_future(session.create_branched_session("a"))
    await written.begun()
    disk.hold()
    late = asyncio.ensure_future(append(session, "c"))
    await disk.holds()
    written.go_on.set()
    told = await heard.until(SessionSwitched)
    closing = asyncio.ensure_future(service.close())
    await asyncio.wait([closing], timeout=0.2)
    was_early = closing.done()
    told += await heard.rest() if was_early else []
    disk.go_on.set()
    await asyncio.gather(late, switching, closing)
    told += await heard.rest()
    assert not was_early
    assert [event.entry_ids for event in told if isinstance(event, EntriesAppended)] == [["b"], ["c"]]
    assert len([event for event in told if isinstance(event, SessionClosed)]) == 2
