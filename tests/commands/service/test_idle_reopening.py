"""A file that is opened again after its session was let go, while that is closed, or when that has failed."""

from __future__ import annotations

import asyncio
import errno
import gc
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import AppendError, SessionClosed, SessionManager, SessionService
from sessiontree.eventstore.jsonl_store import JsonlEventStore

PassTime = Callable[..., Awaitable[None]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def visit(service: SessionService, target: Path | str, *ids: str) -> weakref.ref[SessionManager]:
    """Open a session, append entries, and let it go."""
    session = await service.open(target)
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)
    return weakref.ref(session)


async def test_a_session_that_was_held_long_and_let_go_is_closed_before_it_is_opened_again(
    service: SessionService, path: Path, pass_time: PassTime
) -> None:
    """One live session for a file: nothing of the old one, its lock least of all, is left behind."""
    session = await service.open(path)
    await session.append_message(user("b"), entry_id="b")
    await pass_time()
    del session
    gc.collect()
    again = await visit(service, path, "c")
    assert again() is not None


async def test_who_opens_a_session_that_is_being_closed_waits_and_gets_a_new_one(
    service: SessionService, path: Path, pass_time: PassTime, hold: Any
) -> None:
    """D5: which can write at once."""
    ref = await visit(service, path, "b")
    closing = hold(JsonlEventStore, "close")
    await pass_time()
    await closing.begun()
    openings = [asyncio.ensure_future(visit(service, path, name)) for name in "cd"]
    for _ in range(10):
        await asyncio.sleep(0)
    assert (ref(), [opening.done() for opening in openings]) == (None, [False, False])
    closing.go_on.set()
    first, second = await asyncio.gather(*openings)
    assert first() is second() is await service.open(path)
    session = first()
    assert session is not None and session.path_ids() == ["a", "b", "c", "d"]


async def test_who_gives_up_waiting_for_the_closing_harms_nobody(
    service: SessionService, path: Path, pass_time: PassTime, hold: Any
) -> None:
    """D8."""
    await visit(service, path, "b")
    closing = hold(JsonlEventStore, "close")
    await pass_time()
    await closing.begun()
    impatient, patient = (asyncio.ensure_future(visit(service, path, "c")) for _ in range(2))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.wait([impatient])
    closing.go_on.set()
    assert impatient.cancelled()
    assert (await patient)() is await service.open(path)


@pytest.fixture
async def unheard(
    service: SessionService, path: Path, pass_time: PassTime, heard: Any, monkeypatch: pytest.MonkeyPatch
) -> list[dict[str, Any]]:
    """What the event loop has to report of an idle closing that failed; meanwhile the file is used again."""
    unheard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context))
    close, failed = JsonlEventStore.close, asyncio.Event()

    async def fail(store: JsonlEventStore) -> None:
        await close(store)
        if store.path == path:
            failed.set()
            raise AppendError(path, OSError(errno.EIO, "Input/output error"), outcome="unknown")

    other = str((await service.create()).session_file)
    await visit(service, path, "b")
    monkeypatch.setattr(JsonlEventStore, "close", fail)
    await pass_time()
    await heard.until(SessionClosed, other)
    async with asyncio.timeout(20):
        await failed.wait()
    monkeypatch.setattr(JsonlEventStore, "close", close)
    session = (await visit(service, path, "c"))()
    assert session is not None and session.path_ids() == ["a", "b", "c"]
    gc.collect()
    return unheard


async def test_a_failed_idle_closing_is_no_obstacle(unheard: list[dict[str, Any]]) -> None:
    """D4: the others are closed all the same, and the file is opened anew and written again."""
    assert len(unheard) <= 1


async def test_a_failed_idle_closing_is_not_left_to_the_event_loop(unheard: list[dict[str, Any]]) -> None:
    """Design 5.9: an exception that was never retrieved tells neither session nor file."""
    assert unheard == []
