"""A migration on the disk beside other writers, readers and cancellations."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore import jsonl_reader, lock, read_file, writer
from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.errors import AppendError, SessionRewrittenError
from sessiontree.eventstore.jsonl_store import JsonlEventStore
from sessiontree.eventstore.migration_copy import copy_migrated

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]


def is_locked(path: Path) -> bool:
    fd = os.open(path, os.O_RDONLY)
    try:
        return not lock.try_lock(fd)
    finally:
        os.close(fd)


async def test_the_lock_moves_with_the_file(path: Path, open_store: OpenStore, entry_line: Line) -> None:
    """D5: descriptor, lock and offsets change in one step."""
    store = await open_store(path)
    await store.acquire()
    old_inode = path.stat().st_ino
    assert is_locked(path)
    await store.append([entry_line("new")])
    assert path.stat().st_ino != old_inode
    assert is_locked(path)
    await store.close()
    assert not is_locked(path)


async def test_who_gets_the_lock_of_the_old_file_does_not_write_into_it(
    path: Path,
    old: bytes,
    migrated: bytes,
    open_store: OpenStore,
    entry_line: Line,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D5: after the lock is taken, path and descriptor have to agree."""
    store = await open_store(path)
    old_file = path.with_name("old-inode")
    os.link(path, old_file)

    def lock_late(fd: int) -> bool:
        # The descriptor is open; before it is locked, another writer migrates and closes.
        if old_file.samefile(path):
            path.unlink()
            path.write_bytes(migrated)
        return lock.try_lock(fd)

    monkeypatch.setattr(writer, "try_lock", lock_late)
    with pytest.raises(SessionRewrittenError):
        await store.append([entry_line("lost")])
    assert (path.read_bytes(), old_file.read_bytes()) == (migrated, old)


async def test_a_writer_that_waited_for_the_lock_finds_the_file_migrated(
    path: Path, migrated: bytes, open_store: OpenStore, read_all: ReadAll, entry_line: Line
) -> None:
    """D5, D7: what it read is another file; it writes nothing, and opens again."""
    first = await open_store(path)
    second = await open_store(path, lock_timeout=60)
    await read_all(second)
    await first.append([entry_line("first")])
    waiting = asyncio.ensure_future(second.append([entry_line("second")]))
    await asyncio.sleep(0.03)
    assert not waiting.done()
    await first.close()
    with pytest.raises(SessionRewrittenError):
        await waiting
    assert path.read_bytes() == migrated + entry_line("first") + b"\n"
    with pytest.raises(SessionRewrittenError):
        await second.check()
    third = await open_store(path)
    await third.append([entry_line("third")])
    assert (await read_all(third))[-1].id == "third"


async def test_a_program_that_writes_during_the_copy_loses_nothing(
    path: Path, old: bytes, open_store: OpenStore, read_all: ReadAll, entry_line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D7: a file that grows while it is copied stays."""
    store = await open_store(path)
    await read_all(store)

    def copy(*args: Any, **fields: Any) -> Any:
        moved = copy_migrated(*args, **fields)
        with path.open("ab") as file:
            file.write(entry_line("foreign") + b"\n")
        return moved

    with monkeypatch.context() as patch:
        patch.setattr(jsonl_reader, "copy_migrated", copy)
        with pytest.raises(AppendError, match="another program"):
            await store.append([entry_line("new")])
    assert path.read_bytes() == old + entry_line("foreign") + b"\n"
    await store.append([entry_line("new")])
    assert path.read_bytes().count(b"\n") == old.count(b"\n") + 2
    assert (await read_all(store))[-1].id == "new"


async def test_lines_are_read_while_the_file_moves(
    path: Path, open_store: OpenStore, read_all: ReadAll, entry_line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D2, D5: whoever reads meanwhile gets the lines, from the one file or the other."""
    store = await open_store(path)
    await read_all(store)
    count = store.version
    expected = await store.read_lines(range(1, count + 1))
    read_all_bytes = read_file._read_all

    moved = threading.Event()

    def read_slowly(*arguments: Any) -> int:
        # Longer than the migration takes: each of these readings sees it end.
        found = read_all_bytes(*arguments)
        assert moved.wait(60)
        return found

    monkeypatch.setattr(read_file, "_NOWAIT", 0)
    monkeypatch.setattr(read_file, "_read_all", read_slowly)
    readings = [asyncio.ensure_future(store.read_lines(range(1, count + 1))) for _ in range(3)]
    await asyncio.sleep(0)
    assert await store.migrate()
    moved.set()
    assert await asyncio.gather(*readings) == [expected] * 3


async def test_appends_that_come_during_the_rewrite_end_up_in_the_new_file(
    path: Path, migrated: bytes, open_store: OpenStore, read_all: ReadAll, entry_line: Line
) -> None:
    """F-132, X-56, X-57: each once, in call order."""
    store = await open_store(path)
    await asyncio.gather(*(store.append([entry_line(f"new-{number}")]) for number in range(10)))
    lines = [entry_line(f"new-{number}") + b"\n" for number in range(10)]
    assert path.read_bytes() == migrated + b"".join(lines)
    assert [envelope.id for envelope in await read_all(store)][-10:] == [f"new-{number}" for number in range(10)]


async def test_a_flush_beside_a_migration_syncs_the_new_file(
    path: Path, open_store: OpenStore, entry_line: Line
) -> None:
    store = await open_store(path)
    await store.acquire()
    await asyncio.gather(store.append([entry_line("new")]), store.flush())
    await store.flush()


async def test_a_cancelled_append_leaves_the_old_file_or_the_whole_new_one(
    path: Path, old: bytes, migrated: bytes, open_store: OpenStore, read_all: ReadAll, entry_line: Line
) -> None:
    """D4, D7"""
    store = await open_store(path)
    count = len(await read_all(store))
    for turns in range(12):
        task = asyncio.ensure_future(store.append([entry_line(f"new-{turns}")]))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        content = path.read_bytes()
        assert content == old or content.startswith(migrated)
        assert len(await read_all(store)) == store.version == count + content.count(b'"new-')
    assert list(path.parent.iterdir()) == [path]
