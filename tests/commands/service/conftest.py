"""What the tests of the service share: stored sessions, a loop whose time can pass, and calls that can be held."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionEvent, SessionManager, SessionService
from sessiontree.commands.event_stream import EventStream

IDLE_SECONDS = 4


@pytest.fixture
def sessions_dir(tmp_path: Path) -> Path:
    """Where the sessions of the service are."""
    return tmp_path / "sessions"


@pytest.fixture
async def service(sessions_dir: Path) -> AsyncIterator[SessionService]:
    """A service, closed after the test."""
    async with SessionService(sessions_dir, idle_seconds=IDLE_SECONDS) as service:
        yield service


@pytest.fixture
def store(sessions_dir: Path) -> Callable[..., Awaitable[Path]]:
    """Stores a session of user messages with these ids, by default `a`; returns its path."""

    async def store(*ids: str, cwd: str = "/proj/demo") -> Path:
        async with await SessionManager.create(cwd=cwd, sessions_dir=sessions_dir, durability="os") as session:
            for entry_id in ids or ("a",):
                await session.append_message({"role": "user", "content": entry_id}, entry_id=entry_id)
            return Path(str(session.session_file))

    return store


@pytest.fixture
async def path(store: Callable[..., Awaitable[Path]]) -> Path:
    """The file of a stored session with the entry `a`."""
    return await store()


@pytest.fixture
async def pass_time(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Awaitable[None]]:
    """Makes the loop's time jump, by default far enough for a session to be idle, and lets the sweep run."""
    loop = asyncio.get_running_loop()
    real = loop.time
    ahead = 0.0
    monkeypatch.setattr(loop, "time", lambda: real() + ahead)

    async def pass_time(seconds: float = 1.5 * IDLE_SECONDS) -> None:
        nonlocal ahead
        gc.collect()
        # It wakes after the sweep, which is due earlier.
        sleeping = asyncio.ensure_future(asyncio.sleep(seconds))
        await asyncio.sleep(0)
        ahead += seconds
        await sleeping

    return pass_time


class Heard:
    """What a stream tells, read up to some event."""

    def __init__(self, stream: EventStream) -> None:
        self.stream = stream

    async def until(self, kind: type[SessionEvent], file: Path | str | None = None) -> list[SessionEvent]:
        """Return all events up to the next of a kind, of a file."""
        read: list[SessionEvent] = []
        async with asyncio.timeout(20):
            async for event in self.stream:
                read.append(event)
                if isinstance(event, kind) and file in (None, event.session_file, Path(str(event.session_file))):
                    return read
        raise AssertionError(f"the stream ended before {kind.__name__}")

    async def rest(self) -> list[SessionEvent]:
        """Return all events up to the end."""
        async with asyncio.timeout(20):
            return [event async for event in self.stream]


@pytest.fixture
async def heard(service: SessionService) -> Heard:
    """What the service tells from the beginning of the test."""
    return Heard(service.events())


class Gate:
    """Where calls wait, and are counted. `go_on` lets them all pass."""

    def __init__(self) -> None:
        self.count = 0
        self.go_on = asyncio.Event()
        self._one_more = asyncio.Condition()

    async def begun(self, count: int = 1) -> None:
        """Return when so many calls wait."""
        async with asyncio.timeout(20), self._one_more:
            await self._one_more.wait_for(lambda: self.count >= count)

    async def passed(self) -> None:
        """Count a call, and wait."""
        async with self._one_more:
            self.count += 1
            self._one_more.notify_all()
        async with asyncio.timeout(20):
            await self.go_on.wait()


@pytest.fixture
def hold(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Gate]:
    """Lets the calls of an async function begin, or with `after` end, and wait there."""

    def hold(owner: Any, name: str, *, after: bool = False) -> Gate:
        original, gate = getattr(owner, name), Gate()

        async def held(*args: Any, **options: Any) -> Any:
            if not after:
                await gate.passed()
            result = await original(*args, **options)
            if after:
                await gate.passed()
            return result

        monkeypatch.setattr(owner, name, held)
        return gate

    return hold


@pytest.fixture
def descriptors(sessions_dir: Path) -> Callable[[], list[str]]:
    """Lists the open descriptors of session files."""
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("open descriptors are listed in /proc")

    def list_them() -> list[str]:
        gc.collect()
        found = []
        for name in os.listdir("/proc/self/fd"):
            try:
                found.append(os.readlink(f"/proc/self/fd/{name}"))
            except FileNotFoundError:  # the one that the list was read by
                continue
        return [target for target in found if target.startswith(str(sessions_dir))]

    return list_them
