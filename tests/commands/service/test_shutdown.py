"""The end of a service: nothing that was handed over is dropped, and everything is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AppendError,
    Cursor,
    SessionClosed,
    SessionClosedError,
    SessionManager,
    SessionService,
)
from sessiontree.eventstore.jsonl_store import JsonlEventStore

Store = Callable[..., Awaitable[Path]]
Hold = Callable[..., Any]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def append(session: Cursor, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


async def turns() -> None:
    """Let what was begun go on as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def stored(path: Path) -> list[str]:
    async with await SessionManager.open(path) as session:
        assert session.report.faults == []
        return session.entry_ids()


async def is_open(session: SessionManager) -> bool:
    try:
        session.reset_leaf()
    except SessionClosedError:
        return False
    return True


async def test_the_end_of_the_block_closes_all_sessions(
    sessions_dir: Path, store: Store, descriptors: Callable[[], list[str]]
) -> None:
    """F-115: opened, made, switched ones, held or not; no lock and no descriptor is left."""
    paths = [await store() for _ in range(3)]
    async with SessionService(sessions_dir) as service:
        sessions = [await service.open(path) for path in paths]
        sessions.append(await service.create())
        await asyncio.gather(*(append(session, "x") for session in sessions))
        await sessions[0].create_branched_session("a")
    assert [await is_open(session) for session in sessions] == [False] * 4
    assert descriptors() == []
    for path in paths:
        async with await SessionManager.open(path) as other:
            await append(other, "y")


async def test_a_service_without_sessions_is_closed_at_once() -> None:
    async with SessionService():
        pass


async def test_the_error_of_the_block_is_raised_when_all_is_closed(sessions_dir: Path, path: Path) -> None:
    session: SessionManager | None = None
    with pytest.raises(RuntimeError, match="of the block"):
        async with SessionService(sessions_dir) as service:
            session = await service.open(path)
            raise RuntimeError("of the block")
    assert session is not None and not await is_open(session)


async def test_appends_in_flight_are_recorded_and_told(
    service: SessionService, store: Store, heard: Any, disk: Any
) -> None:
    """F-115, D4: of all sessions and cursors, the ones that the writer has not taken yet too."""
    paths = [await store() for _ in range(4)]
    sessions = [await service.open(path) for path in paths]
    disk.hold()
    first = asyncio.ensure_future(append(sessions[0], "first"))
    await disk.holds()
    ids = [f"e{number}" for number in range(50)]
    appends = [
        asyncio.ensure_future(append(who, f"{entry_id}-{part}"))
        for session in sessions
        for entry_id in ids
        for part, who in enumerate((session, session.cursor("a")))
    ]
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(service.close())
    await turns()
    with pytest.raises(SessionClosedError):
        await append(sessions[0], "too late")
    assert not closing.done()
    disk.go_on.set()
    await closing
    assert all(one.done() for one in [first, *appends])
    await asyncio.gather(first, *appends)
    told = await heard.rest()
    for path in paths:
        of_it = [event for event in told if event.session_file == str(path)]
        entries = await stored(path)
        assert entries[1:] == [i for event in of_it for i in getattr(event, "entry_ids", [])]
        assert set(entries) >= {f"{entry_id}-{part}" for entry_id in ids for part in (0, 1)}
        assert isinstance(of_it[-1], SessionClosed)


@pytest.mark.parametrize(
    "use",
    [
        lambda service, path: service.open(path),
        lambda service, _: service.open("nothing"),
        lambda service, _: service.create(),
        lambda service, _: service.continue_recent("/proj/demo"),
    ],
    ids=["open", "open by id", "create", "continue_recent"],
)
@pytest.mark.parametrize("when", ["while it is closed", "afterwards"])
async def test_a_closed_service_refuses_every_use(
    service: SessionService, path: Path, hold: Hold, use: Callable[[SessionService, Path], Awaitable[Any]], when: str
) -> None:
    """F-115: even for a session that is not closed yet."""
    await service.open(path)
    gate = hold(JsonlEventStore, "close")
    closing = asyncio.ensure_future(service.close())
    await gate.begun()
    if when == "afterwards":
        gate.go_on.set()
        await closing
    with pytest.raises(SessionClosedError, match="service"):
        await use(service, path)
    with pytest.raises(SessionClosedError, match="service"):
        service.events()
    gate.go_on.set()
    await closing


async def test_closing_twice_is_closing_once(service: SessionService, path: Path, hold: Hold) -> None:
    """F-115: at once, and later."""
    session = await service.open(path)
    gate = hold(JsonlEventStore, "close")
    closing = [asyncio.ensure_future(service.close()) for _ in range(2)]
    await gate.begun()
    assert not any(one.done() for one in closing)
    gate.go_on.set()
    await asyncio.gather(*closing)
    await service.close()
    assert (gate.count, await is_open(session)) == (1, False)


async def test_a_close_that_is_cancelled_goes_on_in_the_background(
    service: SessionService, path: Path, disk: Any, heard: Any
) -> None:
    """D4: a second call awaits the first."""
    session = await service.open(path)
    disk.hold()
    late = asyncio.ensure_future(append(session, "b"))
    await disk.holds()
    closing = asyncio.ensure_future(service.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    disk.go_on.set()
    await service.close()
    await late
    assert await stored(path) == ["a", "b"]
    assert isinstance((await heard.rest())[-1], SessionClosed)


async def test_a_session_that_cannot_be_closed_does_not_keep_the_others_open(
    sessions_dir: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D4: all are closed, the streams end, and then the failure is raised, to every caller."""
    service = SessionService(sessions_dir)
    stream = service.events()
    paths = [await store() for _ in range(3)]
    sessions = [await service.open(path) for path in paths]
    await asyncio.gather(*(append(session, "b") for session in sessions))
    close = JsonlEventStore.close

    async def fail(store: JsonlEventStore) -> None:
        await close(store)
        if store.path == paths[1]:
            raise AppendError(store.path, OSError(5, "Input/output error"), outcome="unknown")

    monkeypatch.setattr(JsonlEventStore, "close", fail)
    for _ in range(2):
        with pytest.raises(AppendError) as caught:
            await service.close()
        assert caught.value.path == paths[1]
    monkeypatch.setattr(JsonlEventStore, "close", close)
    assert [await is_open(session) for session in sessions] == [False] * 3
    async with asyncio.timeout(20):
        closed = {event.session_file async for event in stream if isinstance(event, SessionClosed)}
    assert {str(paths[0]), str(paths[2])} <= closed
    assert [await stored(path) for path in paths] == [["a", "b"]] * 3
