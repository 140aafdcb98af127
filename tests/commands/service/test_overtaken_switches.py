"""Switches of one session that overtake each other, or its end: each does what it was asked for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionClosedError, SessionService, SessionTreeError
from sessiontree.commands import session_manager

Store = Callable[..., Awaitable[Path]]
Hold = Callable[..., Any]

NAME = "write_session_file"


@pytest.fixture
async def path(store: Store) -> Path:
    """The file of a stored session with the entries `a`, `b` and `c`."""
    return await store("a", "b", "c")


@pytest.mark.parametrize("meanwhile", ["create_branched_session", "new_session"])
async def test_a_fork_that_another_switch_overtakes_copies_what_it_was_asked_for(
    service: SessionService, path: Path, hold: Hold, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    """T-60, case 77: or it is refused; never are there lines of another file."""
    session = await service.open(path)
    write = getattr(session_manager, NAME)
    writing = hold(session_manager, NAME)
    fork = asyncio.ensure_future(session.create_branched_session("c"))
    await writing.begun()
    monkeypatch.setattr(session_manager, NAME, write)

    async def overtake() -> None:
        if meanwhile == "new_session":
            await session.new_session()
            await session.append_many([{"role": "user", "content": text} for text in "xyz"])
        else:
            await session.create_branched_session("a")

    overtaking = asyncio.ensure_future(overtake())
    await asyncio.wait([overtaking], timeout=0.2)
    writing.go_on.set()
    result, _ = await asyncio.gather(fork, overtaking, return_exceptions=True)
    if isinstance(result, SessionTreeError):
        return
    assert isinstance(result, str)
    lines = Path(result).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines[1:]] == ["a", "b", "c"]


async def test_each_of_two_switches_at_once_returns_its_own_file(service: SessionService, path: Path) -> None:
    """T-80: the session ends in the later one."""
    session = await service.open(path)
    files = await asyncio.gather(session.new_session(), session.new_session())
    assert await service.open(str(files[1])) is session
    assert len(set(files)) == 2


@pytest.mark.parametrize("closed", ["the session", "the service"])
async def test_a_session_that_is_closed_while_it_branches_stays_closed(
    service: SessionService, path: Path, hold: Hold, closed: str
) -> None:
    """D4: `close` refuses new work; a session must not come to life again, unknown to its service."""
    session = await service.open(path)
    written = hold(session_manager, NAME, after=True)
    branching = asyncio.ensure_future(session.create_branched_session("a"))
    await written.begun()
    closing = asyncio.ensure_future(session.close() if closed == "the session" else service.close())
    await asyncio.wait([closing], timeout=0.2)
    written.go_on.set()
    await asyncio.gather(closing, branching, return_exceptions=True)
    try:
        with pytest.raises(SessionClosedError):
            await session.append_message({"role": "user", "content": "x"})
    finally:
        await session.close()
