"""A session that nobody uses is closed after a while; one that somebody holds never is."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AgentSession,
    ExtensionCommandContext,
    SessionClosed,
    SessionLockedError,
    SessionManager,
    SessionNotFoundError,
    SessionOpened,
    SessionService,
)
from sessiontree.commands.session_log import SessionLog

Store = Callable[..., Awaitable[Path]]
PassTime = Callable[..., Awaitable[None]]
Descriptors = Callable[[], list[str]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def visit(service: SessionService, target: Path | str, *ids: str) -> weakref.ref[SessionManager]:
    """Open a session, append entries, and let it go."""
    session = await service.open(target)
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)
    return weakref.ref(session)


async def test_a_session_that_was_let_go_stays_open_for_a_while(
    service: SessionService, path: Path, pass_time: PassTime
) -> None:
    """Its leaf is where it was left."""
    ref = await visit(service, path, "b")
    await pass_time(3)
    session = ref()
    assert session is not None
    session.branch("a")
    del session
    assert await service.open(path) is ref()
    session = ref()
    assert session is not None and session.leaf_id == "a"


async def test_after_that_it_is_closed_and_everything_is_released(
    service: SessionService, path: Path, pass_time: PassTime, heard: Any, descriptors: Descriptors
) -> None:
    """D2, D5: object, lock and descriptors; another program can write."""
    ref = await visit(service, path, "b")
    async with await SessionManager.open(path) as other:
        with pytest.raises(SessionLockedError):
            await other.append_message(user("x"))
        await pass_time()
        await heard.until(SessionClosed, path)
        await other.append_message(user("c"), entry_id="c")
    assert (ref(), descriptors()) == (None, [])
    session = await service.open(path)
    assert session.path_ids() == ["a", "b", "c"]


async def test_what_was_never_written_is_gone_when_it_is_closed(
    service: SessionService, pass_time: PassTime, heard: Any
) -> None:
    """F-110: a session without entries has no file."""
    path = str((await service.create()).session_file)
    await pass_time()
    await heard.until(SessionClosed, path)
    with pytest.raises(SessionNotFoundError):
        await service.open(path)


@pytest.mark.parametrize("use", ["open", "append", "leaf move"])
async def test_each_use_counts_from_the_beginning(
    service: SessionService, path: Path, pass_time: PassTime, use: str
) -> None:
    """Opening it, and what happens in it."""
    ref = await visit(service, path)
    for _ in range(4):
        await pass_time(3)
        session = ref()
        assert session is not None
        if use == "open":
            await service.open(path)
        elif use == "append":
            await session.append_message(user("x"))
        else:
            session.reset_leaf() if session.leaf_id else session.branch("a")
        del session
    await pass_time()
    assert ref() is None


HOLDERS: dict[str, Callable[[SessionManager], Any]] = {
    "a variable": lambda session: session,
    "a cursor": lambda session: session.cursor("a"),
    "a method": lambda session: session.append_message,
    "a reader": lambda session: session.follow(),
    "an agent session": AgentSession,
    "an extension": lambda session: ExtensionCommandContext(AgentSession(session)),
}


@pytest.mark.parametrize("name", HOLDERS)
async def test_a_session_that_somebody_holds_is_never_closed(
    service: SessionService, path: Path, pass_time: PassTime, heard: Any, name: str
) -> None:
    ref = await visit(service, path)
    session = ref()
    assert session is not None
    holder = HOLDERS[name](session)
    del session
    for _ in range(3):
        await pass_time()
    assert ref() is not None
    assert await service.open(path) is ref()
    await visit(service, path, "b")
    await pass_time()
    del holder
    await pass_time()
    await heard.until(SessionClosed, path)
    assert ref() is None


async def test_a_session_whose_cursor_appends_is_told_of_after_all_this_time(
    service: SessionService, path: Path, pass_time: PassTime, heard: Any
) -> None:
    """A cursor is enough to work with."""
    cursor = (await service.open(path)).cursor("a")
    await pass_time()
    await pass_time()
    await cursor.append_message(user("b"), entry_id="b")
    session = await service.open(path)
    assert cursor._session is session
    await service.close()
    told = await heard.rest()
    assert [type(event).__name__ for event in told] == ["SessionOpened", "EntriesAppended", "SessionClosed"]


async def test_a_running_call_keeps_its_session(
    service: SessionService, path: Path, pass_time: PassTime, disk: Any
) -> None:
    """An append that the disk has not answered: its caller gets the answer."""
    ref = await visit(service, path, "b")
    disk.hold()
    append = asyncio.ensure_future(visit(service, path, "c"))
    await disk.holds()
    for _ in range(3):
        await pass_time()
    session = ref()
    disk.go_on.set()
    assert session is not None and (await append)() is session
    assert session.path_ids() == ["a", "b", "c"]


async def test_a_thousand_sessions_one_after_the_other_leave_nothing_open(
    service: SessionService, sessions_dir: Path, path: Path, pass_time: PassTime, descriptors: Descriptors
) -> None:
    """D2: no descriptor, no session, no log, no task."""
    content = path.read_bytes()
    refs = []
    for number in range(1000):
        copy = sessions_dir / f"{number}.jsonl"
        copy.write_bytes(content)
        refs.append(await visit(service, copy, *(["b"] if number % 10 == 0 else [])))
        if number % 100 == 99:
            await pass_time()
    await visit(service, path)
    assert {ref() for ref in refs} == {None}
    await service.close()
    assert descriptors() == []
    left = gc.get_objects()
    assert not [
        one for one in left if isinstance(one, SessionLog) and Path(str(one.store.path)).parent == sessions_dir
    ]
    assert len([one for one in left if isinstance(one, asyncio.Task)]) < 100


async def test_a_service_without_sessions_leaves_the_loop_alone(
    service: SessionService, path: Path, pass_time: PassTime, heard: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing ticks for ever; with the next session it begins again."""
    loop = asyncio.get_running_loop()
    call_later, timers = loop.call_later, 0

    def count(delay: float, callback: Callable[..., object], *args: Any, **options: Any) -> asyncio.TimerHandle:
        nonlocal timers
        timers += getattr(callback, "__self__", None) is service
        return call_later(delay, callback, *args, **options)

    monkeypatch.setattr(loop, "call_later", count)
    for expected in (1, 2):
        ref = await visit(service, path)
        for _ in range(3):
            await pass_time()
        assert [type(event) for event in await heard.until(SessionClosed)] == [SessionOpened, SessionClosed]
        assert (ref(), timers) == (None, expected)
