"""What the tests of the command side share: sessions of both kinds, hand-made files, a disk that fails."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionManager

HEADER = {"type": "session", "version": 3, "id": "made-by-hand", "timestamp": "2026-01-05T10:00:00.000Z", "cwd": "/p"}


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the sessions of the person who runs it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SESSIONTREE_DIR", str(tmp_path / "home" / "sessions"))


Make = Callable[..., Awaitable[SessionManager]]


@pytest.fixture
async def make_file(tmp_path: Path) -> AsyncIterator[Make]:
    """Makes sessions with a file below `tmp_path`; options as of `SessionManager.create`."""
    made: list[SessionManager] = []

    async def make(**options: Any) -> SessionManager:
        made.append(
            await SessionManager.create(**{"cwd": "/proj/demo", "sessions_dir": tmp_path / "sessions", **options})
        )
        return made[-1]

    yield make
    for session in made:
        await session.close()


@pytest.fixture(params=["file", "memory"])
async def make(request: pytest.FixtureRequest, make_file: Make) -> AsyncIterator[Make]:
    """Makes sessions of one kind, then of the other: what holds for a file holds in memory (F-117)."""
    made: list[SessionManager] = []

    async def make_in_memory(**options: Any) -> SessionManager:
        made.append(await SessionManager.in_memory(**{"cwd": "/proj/demo", **options}))
        return made[-1]

    yield make_file if request.param == "file" else make_in_memory
    for session in made:
        await session.close()


@pytest.fixture
async def session(make: Make) -> SessionManager:
    """A new session."""
    return await make()


@pytest.fixture
def write_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a session file of these records, `type` message by default; returns its path."""

    def write(records: Iterable[dict[str, Any]], *, name: str = "session.jsonl", **header: Any) -> Path:
        path = tmp_path / "by-hand" / name
        path.parent.mkdir(exist_ok=True)
        lines = [{**HEADER, **header}]
        for number, record in enumerate(records, 1):
            base: dict[str, Any] = {
                "type": "message",
                "parentId": None,
                "timestamp": f"2026-01-05T10:00:{number:02}.000Z",
            }
            if record.get("type", "message") == "message":
                base["message"] = {"role": "user", "content": record["id"]}
            lines.append({**base, **record})
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    return write


@pytest.fixture
def records() -> Callable[[SessionManager], list[dict[str, Any]]]:
    """Reads the lines of a session's file: what a foreign program would see."""

    def read(session: SessionManager) -> list[dict[str, Any]]:
        assert session.session_file is not None
        text = Path(session.session_file).read_bytes().decode("utf-8")
        assert text.endswith("\n")
        return [json.loads(line) for line in text[:-1].split("\n")]

    return read


class Disk:
    """Stands for `os` in the writer: counts syncs, and fails, writes short or holds still when told to."""

    def __init__(self) -> None:
        self.syncs = 0
        self.most = 1 << 30
        """Bytes that one write takes."""
        self.left = 1 << 60
        """Bytes until the disk is full."""
        self.errors: list[OSError] = []
        """Raised by the next writes, one each."""
        self.sync_error: OSError | None = None
        self.after_write: Callable[[], None] | None = None
        """Called after each write, where it was made."""
        self.go_on = threading.Event()
        self._held_call = ""
        self._loop = asyncio.get_running_loop()
        self._held = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def hold(self, call: str = "write") -> None:
        """Let the next `write` or `open` begin, and wait there until `go_on` is set."""
        self._held_call = call
        self.go_on.clear()

    async def holds(self) -> None:
        """Return when the call has begun and waits."""
        async with asyncio.timeout(20):
            await self._held.wait()
        self._held.clear()

    def _hold_here(self, call: str) -> None:
        if self._held_call == call:
            self._held_call = ""
            self._loop.call_soon_threadsafe(self._held.set)
            self.go_on.wait(20)

    def open(self, *args: Any) -> int:
        self._hold_here("open")
        return os.open(*args)

    def write(self, fd: int, data: memoryview) -> int:
        self._hold_here("write")
        if self.errors:
            raise self.errors.pop(0)
        if self.left <= 0:
            raise OSError(28, "No space left on device")
        count = os.write(fd, data[: min(self.most, self.left)])
        self.left -= count
        if self.after_write is not None:
            self.after_write()
        return count

    def sync_data(self, fd: int) -> None:
        self.syncs += 1
        if self.sync_error is not None:
            raise self.sync_error
        os.fdatasync(fd) if hasattr(os, "fdatasync") else os.fsync(fd)

    def fsync(self, fd: int) -> None:
        self.syncs += 1
        if self.sync_error is not None:
            raise self.sync_error
        os.fsync(fd)


@pytest.fixture
async def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """The disk behind the writer."""
    disk = Disk()
    monkeypatch.setattr("sessiontree.eventstore.writer.os", disk)
    monkeypatch.setattr("sessiontree.eventstore.writer._sync_data", disk.sync_data)
    return disk


class Steps(Coroutine[Any, Any, Any]):
    """A coroutine that tells of each step it makes: from one suspension to the next."""

    def __init__(self, work: Coroutine[Any, Any, Any], made: Callable[[], object]) -> None:
        self._work = work
        self._made = made

    def send(self, value: Any) -> Any:
        return self._step(self._work.send, value)

    def throw(self, *error: Any) -> Any:
        return self._step(self._work.throw, *error)

    def _step(self, resume: Callable[..., Any], *args: Any) -> Any:
        try:
            return resume(*args)
        finally:
            self._made()

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> Any:
        return self._work.__await__()


Stop = Callable[["asyncio.Task[Any]"], object]


@pytest.fixture
def walk() -> Callable[..., Awaitable[tuple[Any, bool]]]:
    """Runs a flow as a task and calls `stop(task)` once it and all tasks made meanwhile have made `step` steps.

    Returns what the flow returned or raised, and whether it came so far; no task of it is left then.
    """

    async def walk(flow: Coroutine[Any, Any, Any], step: int, stop: Stop) -> tuple[Any, bool]:
        loop = asyncio.get_running_loop()
        steps = 0
        tasks: list[asyncio.Task[Any]] = []

        def made() -> None:
            nonlocal steps
            if inspect.getcoroutinestate(flow) != inspect.CORO_CLOSED:
                steps += 1
                if steps == step:
                    stop(tasks[0])

        def make_task(_: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
            tasks.append(asyncio.Task(Steps(work, made), loop=loop, **options))
            return tasks[-1]

        loop.set_task_factory(make_task)
        try:
            task = loop.create_task(flow)
            if step == 0:
                stop(task)
            async with asyncio.timeout(20):
                await asyncio.wait((task,))
                outcome = asyncio.CancelledError() if task.cancelled() else task.exception() or task.result()
                while left := [other for other in tasks if not other.done()]:
                    await asyncio.wait(left)
        finally:
            loop.set_task_factory(None)
        return outcome, steps >= step

    return walk
