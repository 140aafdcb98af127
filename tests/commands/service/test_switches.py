"""A session that goes on in another file is found under that one; its old file is opened anew."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AgentSession,
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


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def append(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


SWITCHES: dict[str, Callable[[SessionManager], Awaitable[Any]]] = {
    "branch": lambda session: AgentSession(session).branch("b"),
    "branch at the root": lambda session: AgentSession(session).branch("a"),
    "create_branched_session": lambda session: session.create_branched_session("a"),
    "new_session": lambda session: session.new_session(),
}


@pytest.fixture
async def path(store: Store) -> Path:
    """The file of a stored session with the entries `a` and `b`."""
    return await store("a", "b")


@pytest.mark.parametrize("name", SWITCHES)
async def test_a_session_that_switched_is_found_under_its_new_file(
    service: SessionService, path: Path, name: str
) -> None:
    """N-70, T-60, T-80: by its path, there or not, and by its new id."""
    session = await service.open(path)
    old_id = session.session_id
    await SWITCHES[name](session)
    new = Path(str(session.session_file))
    assert (new != path, session.session_id != old_id) == (True, True)
    assert await service.open(new) is session
    assert await service.open(session.session_id) is session
    await append(session, "x")
    assert await service.open(new) is session


@pytest.mark.parametrize("by", ["path", "id"])
@pytest.mark.parametrize("name", SWITCHES)
async def test_the_old_file_is_opened_anew(service: SessionService, path: Path, name: str, by: str) -> None:
    """N-70, T-60, T-80: both sessions can be written, each in its own file."""
    session = await service.open(path)
    await append(session, "c")
    old_id = session.session_id
    await SWITCHES[name](session)
    old = await service.open(path if by == "path" else old_id)
    assert (old is session, old.session_file, old.session_id) == (False, str(path), old_id)
    assert old.path_ids() == ["a", "b", "c"]
    await asyncio.gather(append(old, "d"), append(session, "x"))
    assert (old.leaf_id, session.leaf_id) == ("d", "x")
    assert (old.has_entry("x"), session.has_entry("d")) == (False, False)
    assert await service.open(path) is old


async def test_sessions_switch_again_and_again(service: SessionService, path: Path) -> None:
    """T-60: each time from the old file's new session."""
    files = [path]
    for number in range(5):
        session = await service.open(path)
        await append(session, f"c{number}")
        await session.create_branched_session("a")
        await session.new_session()
        await append(session, "x")
        files.append(Path(str(session.session_file)))
    sessions = [await service.open(file) for file in files]
    assert len(set(map(id, sessions))) == len(files)
    assert sessions[0].path_ids() == ["a", "b", *(f"c{number}" for number in range(5))]
    assert [session.path_ids() for session in sessions[1:]] == [["x"]] * 5


async def test_an_old_file_that_was_never_written_is_gone(service: SessionService) -> None:
    """F-110."""
    session = await service.create(cwd="/proj/demo")
    old = str(session.session_file)
    await session.new_session()
    with pytest.raises(SessionNotFoundError):
        await service.open(old)


async def test_a_session_that_switched_stays_live_and_is_closed_when_idle(
    service: SessionService, path: Path, pass_time: Any, heard: Any
) -> None:
    """Under its new file: a switch is a use."""
    session = await service.open(path)
    await pass_time(3)
    new = str(await session.create_branched_session("a"))
    await heard.until(SessionClosed, path)
    del session
    await pass_time(3)
    session = await service.open(new)
    assert (await service.open(new), session.path_ids()) == (session, ["a"])
    del session
    await pass_time()
    assert [type(event) for event in await heard.until(SessionClosed, new)] == [SessionClosed]


async def test_a_switch_that_fails_leaves_the_session_under_its_old_file(service: SessionService, path: Path) -> None:
    """D8: and nobody hears of one."""
    session = await service.open(path)
    stream = service.events()
    forking = asyncio.ensure_future(session.create_branched_session("a"))
    await asyncio.sleep(0)
    forking.cancel()
    await asyncio.wait([forking])
    assert forking.cancelled()
    assert await service.open(path) is session
    await service.close()
    assert [type(event) async for event in stream] == [SessionClosed]


async def test_the_old_file_can_be_opened_while_its_log_is_being_closed(
    service: SessionService, path: Path, hold: Hold
) -> None:
    """T-60: the switching session is found under its new file already."""
    session = await service.open(path)
    closing = hold(JsonlEventStore, "close")
    switching = asyncio.ensure_future(session.create_branched_session("a"))
    await closing.begun()
    opening = asyncio.ensure_future(service.open(path))
    assert (await service.open(str(session.session_file)), session.path_ids()) == (session, ["a"])
    closing.go_on.set()
    await switching
    assert (await opening).path_ids() == ["a", "b"]


async def test_the_old_file_can_be_written_while_its_log_is_being_closed(
    service: SessionService, path: Path, hold: Hold
) -> None:
    """D5: as after an idle closing, the one who opens it waits for the lock of the same process."""
    session = await service.open(path)
    await append(session, "c")
    closing = hold(JsonlEventStore, "close")
    switching = asyncio.ensure_future(session.new_session())
    await closing.begun()

    async def reopen() -> SessionManager:
        again = await service.open(path)
        await append(again, "d")
        return again

    reopening = asyncio.ensure_future(reopen())
    await asyncio.wait([reopening], timeout=0.2)
    closing.go_on.set()
    await switching
    assert (await reopening).path_ids() == ["a", "b", "c", "d"]


@pytest.fixture(params=["before the switch", "after the switch"])
async def met(
    request: pytest.FixtureRequest, service: SessionService, path: Path, hold: Hold
) -> AsyncIterator[list[SessionManager]]:
    """A session that has branched, who opened the new file between its appearing and the switch, and who did later.

    What the second asked for was done before the switch, or after it.
    """
    session = await service.open(path)
    written = hold(session_manager, "write_session_file", after=True)
    switching = asyncio.ensure_future(session.create_branched_session("a"))
    await written.begun()
    [new] = [file for file in path.parent.glob("*.jsonl") if file != path]
    opening = hold(SessionManager, "open")
    if request.param == "before the switch":
        opening.go_on.set()
    early = asyncio.ensure_future(service.open(new))
    await asyncio.wait([early], timeout=0.2)
    written.go_on.set()
    await switching
    opening.go_on.set()
    sessions = [session, await early, await service.open(new)]
    yield sessions
    await asyncio.gather(*(one.close() for one in sessions))


async def test_who_opens_the_new_file_of_a_switch_too_early_gets_the_one_session(met: list[SessionManager]) -> None:
    """D5: a branched file is there, complete, a moment before the session has switched to it."""
    assert len(set(map(id, met))) == 1


async def test_of_sessions_that_meet_in_one_file_none_is_left_open(
    service: SessionService, met: list[SessionManager]
) -> None:
    """F-115: by the end of the service."""
    await service.close()
    for session in met:
        with pytest.raises(SessionClosedError):
            session.reset_leaf()


async def test_what_the_previous_log_records_is_told_though_the_session_is_closed(
    service: SessionService, path: Path, disk: Any, hold: Hold, heard: Any
) -> None:
    """Nothing is dropped: the entry is on the disk, in the file that it was meant for."""
    session = await service.open(path)
    await append(session, "c")
    written = hold(session_manager, "write_session_file", after=True)
    switching = asyncio.ensure_future(session.create_branched_session("a"))
    await written.begun()
    disk.hold()
    late = asyncio.ensure_future(append(session, "d"))
    await disk.holds()
    stream = service.events()
    written.go_on.set()
    async for event in stream:
        assert isinstance(event, SessionSwitched)
        break
    closing = asyncio.ensure_future(session.close())
    await asyncio.wait([closing], timeout=0.2)
    disk.go_on.set()
    await asyncio.gather(late, switching, closing)
    await service.close()
    told = [(type(event).__name__, event.session_file == str(path)) for event in await heard.rest()]
    assert sorted(told[3:]) == [("EntriesAppended", True), ("SessionClosed", False), ("SessionClosed", True)]


async def test_a_switch_is_told_once_with_both_files(service: SessionService, path: Path, heard: Any) -> None:
    """T-60: the event names the new one, and the old one as the previous."""
    session = await service.open(path)
    await session.create_branched_session("a")
    [_, switched] = await heard.until(SessionSwitched)
    assert (switched.session_id, switched.session_file) == (session.session_id, session.session_file)
    assert switched.previous_session_file == str(path)
