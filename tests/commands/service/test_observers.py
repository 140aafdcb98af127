"""Observers of one session, with or without a file or a service: told at once, and held weakly (T-16)."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import (
    AppendError,
    EntriesAppended,
    LeafMoved,
    SessionClosed,
    SessionEvent,
    SessionManager,
    SessionSwitched,
)

Make = Callable[..., Awaitable[SessionManager]]


class Observer:
    """Keeps what it is told, and what it saw of the session then."""

    def __init__(self, session: SessionManager) -> None:
        self.told: list[SessionEvent] = []
        self.seen: list[tuple[int, str | None]] = []
        self._session = weakref.ref(session)
        session._log.observers.add(self)

    def on_session_event(self, event: SessionEvent) -> None:
        self.told.append(event)
        session = self._session()
        assert session is not None
        self.seen.append((session.entry_count, session.leaf_id))

    @property
    def types(self) -> list[type[SessionEvent]]:
        return [type(event) for event in self.told]


async def append(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message({"role": "user", "content": entry_id}, entry_id=entry_id)


async def test_an_observer_is_told_what_happens_from_then_on(session: SessionManager) -> None:
    """T-16, F-117: in files and in memory; when it is told, the session shows it."""
    await append(session, "a")
    observer = Observer(session)
    await append(session, "b")
    session.branch("a")
    await session.close()
    assert observer.types == [EntriesAppended, LeafMoved, SessionClosed]
    assert observer.seen == [(2, "b"), (2, "a"), (2, "a")]
    assert {(event.session_id, event.session_file) for event in observer.told} == {
        (session.session_id, session.session_file)
    }


async def test_an_observer_hears_of_an_entry_before_its_caller(session: SessionManager) -> None:
    """T-16: in the step that makes it recorded."""
    observer = Observer(session)
    appends = [asyncio.ensure_future(append(session, name)) for name in "abc"]
    await appends[0]
    assert observer.types[0] is EntriesAppended
    await asyncio.gather(*appends)


@pytest.mark.parametrize("way", ["new_session", "create_branched_session"])
async def test_an_observer_follows_the_session_into_its_next_file(session: SessionManager, way: str) -> None:
    """T-60, T-80: the switch is told as of the new one, the closing as of the old one."""
    await append(session, "a", "b")
    old_id, old_file = session.session_id, session.session_file
    observer = Observer(session)
    await (session.new_session() if way == "new_session" else session.create_branched_session("a"))
    await append(session, "x")
    new_id, new_file = session.session_id, session.session_file
    assert [(type(event), event.session_id, event.session_file) for event in observer.told] == [
        (SessionSwitched, new_id, new_file),
        (SessionClosed, old_id, old_file),
        (EntriesAppended, new_id, new_file),
    ]
    switched = observer.told[0]
    assert isinstance(switched, SessionSwitched) and switched.previous_session_file == old_file
    assert observer.seen[0] == ((0, None) if way == "new_session" else (1, "a"))


async def test_all_observers_are_told(session: SessionManager) -> None:
    """Each once, though it has asked twice."""
    observers = [Observer(session) for _ in range(3)]
    session._log.observers.add(observers[0])
    await append(session, "a")
    assert [observer.types for observer in observers] == [[EntriesAppended]] * 3


async def test_an_observer_is_held_weakly(session: SessionManager) -> None:
    """It can go at any time, while it is told too; it does not keep the session, nor the session it."""
    observer, other = Observer(session), Observer(session)
    gone = weakref.ref(observer)
    del observer
    gc.collect()
    assert gone() is None
    await append(session, "a")
    assert other.types == [EntriesAppended]


async def test_an_observer_may_use_the_session_when_it_is_told(session: SessionManager) -> None:
    """What it causes is told after it; appends begin in tasks of their own."""
    observer = Observer(session)
    tasks: list[asyncio.Future[None]] = []

    class Eager:
        def on_session_event(self, event: SessionEvent) -> None:
            if isinstance(event, EntriesAppended) and event.entry_ids == ["a"]:
                session.reset_leaf()
                tasks.append(asyncio.ensure_future(append(session, "b")))

    eager = Eager()
    session._log.observers.add(eager)
    await append(session, "a")
    await asyncio.gather(*tasks)
    assert sorted(kind.__name__ for kind in observer.types) == ["EntriesAppended", "EntriesAppended", "LeafMoved"]
    assert (session.root_ids, session.leaf_id) == (["a", "b"], "b")


async def test_nothing_is_told_of_what_did_not_happen(make_file: Make, disk: Any) -> None:
    """D4, T-40: a failed append, a move to where the leaf is, an unknown entry."""
    session = await make_file()
    await append(session, "a")
    observer = Observer(session)
    disk.left = 0
    with pytest.raises(AppendError):
        await append(session, "b")
    session.branch("a")
    with pytest.raises(KeyError):
        session.branch("nothing")
    assert observer.told == []
