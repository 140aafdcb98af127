"""One writer for a file, across stores, processes and names of the file."""

from __future__ import annotations

import asyncio
import fcntl
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore import lock, writer
from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.errors import SessionClosedError, SessionLockedError, SessionRewrittenError
from sessiontree.eventstore.header import SessionHeader
from sessiontree.eventstore.jsonl_store import JsonlEventStore
from sessiontree.eventstore.writer import LogWriter

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
SessionFile = Callable[..., Path]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]


def test_the_lock_is_granted_once_and_seen_by_others(session_file: SessionFile) -> None:
    """D5: `flock`, which also tells two descriptors of one process apart."""
    path = session_file()
    with path.open("rb") as first, path.open("rb") as second:
        assert lock.holder_pid(first.fileno()) is None
        assert lock.try_lock(first.fileno())
        assert not lock.try_lock(second.fileno())
        assert lock.holder_pid(second.fileno()) in (os.getpid(), None)
        fcntl.flock(first.fileno(), fcntl.LOCK_UN)
        assert lock.try_lock(second.fileno())


async def test_a_second_writer_is_refused_and_told_who_holds_the_file(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """D5: until the first is closed; reading goes on."""
    path = session_file(entry_line("a"))
    first, second = await open_store(path), await open_store(path)
    await first.append([entry_line("b")])
    before = path.read_bytes()
    for attempt in (second.append([entry_line("c")]), second.acquire()):
        with pytest.raises(SessionLockedError, match="is being written by") as caught:
            await attempt
        assert caught.value.path == path
        assert caught.value.pid in (os.getpid(), None)
    assert path.read_bytes() == before
    assert [envelope.id for envelope in await read_all(second)] == ["a", "b"]
    await first.close()
    await second.append([entry_line("c")])
    assert [envelope.id for envelope in await read_all(second)] == ["a", "b", "c"]


async def test_opening_and_reading_take_no_lock_and_leave_bytes_and_times_alone(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """D5"""
    path = session_file(entry_line("a"))
    os.utime(path, ns=(1_000_000_000, 2_000_000_000))
    before = path.read_bytes(), path.stat().st_mtime_ns
    reader = await open_store(path)
    await read_all(reader)
    await reader.read_lines([1])
    await reader.flush()
    with path.open("rb") as file:
        assert lock.try_lock(file.fileno())
    await reader.close()
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("kind", ["symlink", "hard link"])
async def test_another_name_of_the_file_is_the_same_lock(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, kind: str
) -> None:
    """D5: no file beside it, which links would lead around."""
    path = session_file(entry_line("a"))
    other = path.with_name("other.jsonl")
    other.symlink_to(path) if kind == "symlink" else other.hardlink_to(path)
    first, second = await open_store(path), await open_store(other)
    await first.append([entry_line("b")])
    with pytest.raises(SessionLockedError) as caught:
        await second.append([entry_line("c")])
    assert caught.value.path == other
    await first.close()
    await second.append([entry_line("c")])
    assert path.read_bytes().endswith(entry_line("c") + b"\n")


async def test_with_a_timeout_a_writer_waits_for_the_lock(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore
) -> None:
    """D5: it takes it when the other closes, and gives up in time when not."""
    path = session_file()
    first = await open_store(path)
    await first.append([entry_line("a")])
    with pytest.raises(SessionLockedError):
        await (await open_store(path, lock_timeout=0.03)).append([entry_line("late")])
    second = await open_store(path, lock_timeout=60)
    waiting = asyncio.ensure_future(second.append([entry_line("b")]))
    await asyncio.sleep(0.03)
    assert not waiting.done()
    await first.close()
    assert (await waiting).first_seq == 2


async def test_who_stops_waiting_holds_nothing(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore
) -> None:
    """D4: cancelled or closed while it waits, a store gets no lock afterwards."""
    path = session_file()
    first = await open_store(path)
    await first.append([entry_line("a")])
    cancelled, closed = await open_store(path, lock_timeout=60), await open_store(path, lock_timeout=60)
    waiting = [asyncio.ensure_future(store.acquire()) for store in (cancelled, closed)]
    await asyncio.sleep(0.03)
    waiting[0].cancel()
    await closed.close()
    await asyncio.wait(waiting)
    assert waiting[0].cancelled()
    assert isinstance(waiting[1].exception(), SessionClosedError)
    await first.close()
    await asyncio.sleep(0.03)
    with path.open("rb") as file:
        assert lock.try_lock(file.fileno())


@pytest.mark.parametrize("way", ["close", "cancel"])
async def test_who_ends_while_the_file_is_opened_holds_nothing(
    session_file: SessionFile, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """D4: closed or cancelled, the lock that was just got is let go."""
    path = session_file()
    store = await open_store(path)
    begun, go_on = threading.Event(), threading.Event()
    real_open = LogWriter.open

    def open_slowly(*arguments: Any, **options: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return real_open(*arguments, **options)

    monkeypatch.setattr(LogWriter, "open", open_slowly)
    acquiring = asyncio.ensure_future(store.acquire())
    assert await asyncio.to_thread(begun.wait, 60)
    closing = asyncio.ensure_future(store.close() if way == "close" else asyncio.sleep(0))
    if way == "cancel":
        acquiring.cancel()
    await asyncio.sleep(0.01)
    go_on.set()
    await asyncio.wait((acquiring, closing))
    assert acquiring.cancelled() == (way == "cancel")
    with path.open("rb") as file:
        assert lock.try_lock(file.fileno())


def test_a_lock_on_a_file_that_was_replaced_is_worth_nothing(
    session_file: SessionFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D5: path and descriptor have to agree; else the file is opened once more."""
    path = session_file()
    old = path.with_name("old")
    os.link(path, old)

    def lock_late(fd: int) -> bool:
        if old.samefile(path):
            path.unlink()
            path.write_bytes(b"another")
        return lock.try_lock(fd)

    monkeypatch.setattr(writer, "try_lock", lock_late)
    opened = LogWriter.open(path, durable=False, create=False)
    assert isinstance(opened, LogWriter)
    assert os.path.samestat(os.fstat(opened.fd), path.stat())
    with old.open("rb") as file:
        assert lock.try_lock(file.fileno())
    opened.close()


async def test_of_two_who_make_the_same_file_the_second_is_told(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line
) -> None:
    """D7: a new session never goes over another one."""
    path = tmp_path / "session.jsonl"
    first, second = (JsonlEventStore.create(path, new_header) for _ in range(2))
    await first.append([entry_line("a")])
    content = path.read_bytes()
    with pytest.raises(SessionRewrittenError):
        await second.append([entry_line("b")])
    await second.close()
    assert path.read_bytes() == content
    await first.close()
