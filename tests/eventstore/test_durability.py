"""When an append is on the disk, and what a failed sync means."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.errors import ConcurrencyError
from sessiontree.eventstore.header import SessionHeader, encode_header
from sessiontree.eventstore.jsonl_store import JsonlEventStore
from sessiontree.eventstore.writer import LogWriter

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
SessionFile = Callable[..., Path]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]


# New files


@pytest.mark.parametrize("durable", [True, False])
async def test_a_new_file_and_its_directories_are_on_the_disk_before_the_first_answer(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line, syncs: Any, durable: bool
) -> None:
    """F-110, F-114, D4: the file, then its name, and the names of the directories that were made for it."""
    path = tmp_path / "home" / "sessions" / "session.jsonl"
    store = JsonlEventStore.create(path, new_header, durable=durable)
    await store.append([entry_line("a")])
    assert syncs.take() == [
        ("fsync", tmp_path),
        ("fsync", tmp_path / "home"),
        ("fsync", path),
        ("fsync", path.parent),
    ]
    await store.append([entry_line("b")])
    assert syncs.take() == [("fdatasync", path)] * durable
    await store.close()


async def test_a_new_file_and_its_directories_are_for_their_owner_only(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line
) -> None:
    """D7: sessions hold what people said; modes of what was there stay."""
    (tmp_path / "home").mkdir(mode=0o755)
    (tmp_path / "home").chmod(0o755)
    path = tmp_path / "home" / "a" / "b" / "session.jsonl"
    umask = os.umask(0)
    try:
        store = JsonlEventStore.create(path, new_header, durable=False)
        await store.append([entry_line("a")])
        await store.close()
    finally:
        os.umask(umask)
    modes = [
        stat.S_IMODE(place.stat().st_mode) for place in (path, path.parent, path.parent.parent, tmp_path / "home")
    ]
    assert modes == [0o600, 0o700, 0o700, 0o755]


async def test_a_session_that_is_not_appended_to_leaves_no_file(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line
) -> None:
    """F-110..F-112 as settled: neither opening, flushing nor closing makes one; nor becoming the writer."""
    for acquire in (False, True):
        store = JsonlEventStore.create(tmp_path / "new" / "session.jsonl", new_header)
        if acquire:
            await store.acquire()
        await store.flush()
        await store.close()
        assert not (tmp_path / "new" / "session.jsonl").exists()


async def test_an_append_that_is_refused_makes_no_file(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line
) -> None:
    """F-110, D5: nothing is written when another version was expected."""
    store = JsonlEventStore.create(tmp_path / "session.jsonl", new_header)
    with pytest.raises(ConcurrencyError):
        await store.append([entry_line("a")], expected_version=1)
    assert list(tmp_path.iterdir()) == []
    await store.close()


@pytest.mark.parametrize("stored_type", ["message", "label", "custom", "session_info"])
async def test_the_first_append_makes_the_file_whatever_its_type(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line, stored_type: str
) -> None:
    """F-110 as settled: the header, then the entry."""
    path = tmp_path / "session.jsonl"
    store = JsonlEventStore.create(path, new_header)
    line = entry_line("a", type=stored_type)
    await store.append([line])
    assert path.read_bytes() == encode_header(new_header) + b"\n" + line + b"\n"
    await store.close()


# Syncing


async def test_with_durability_always_each_batch_is_synced_once(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, syncs: Any
) -> None:
    """F-114, D4"""
    path = session_file()
    store = await open_store(path, durable=True)
    assert syncs.take() == []
    await store.append([entry_line("a")])
    await store.append([entry_line(str(number)) for number in range(500)])
    assert syncs.take() == [("fdatasync", path)] * 2
    await store.close()
    assert syncs.take() == []


async def test_with_durability_os_nothing_is_synced_before_flush_or_close(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, syncs: Any
) -> None:
    """F-114, F-115, D4: it is handed to the system, and visible to others at once."""
    path = session_file()
    store = await open_store(path, durable=False)
    for number in range(5):
        await store.append([entry_line(str(number))])
        assert path.read_bytes().endswith(entry_line(str(number)) + b"\n")
    assert syncs.take() == []
    await store.flush()
    assert syncs.take() == [("fdatasync", path)]
    await store.append([entry_line("more")])
    assert syncs.take() == []
    await store.close()
    assert syncs.take() == [("fdatasync", path)]


async def test_closing_what_was_flushed_or_never_written_syncs_nothing(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, syncs: Any
) -> None:
    path = session_file()
    store = await open_store(path, durable=False)
    await store.acquire()
    await store.close()
    store = await open_store(path, durable=False)
    await store.append([entry_line("a")])
    await store.flush()
    syncs.take()
    await store.close()
    assert syncs.take() == []


async def test_an_append_that_is_cancelled_while_it_is_written_is_recorded(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D4, D8: the cancellation is raised, once, when it is done; however often it comes."""
    path = session_file()
    store = await open_store(path, durable=True)
    await store.acquire()
    begun, go_on = threading.Event(), threading.Event()
    real_write = LogWriter.write

    def write_slowly(*arguments: Any, **options: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return real_write(*arguments, **options)

    monkeypatch.setattr(LogWriter, "write", write_slowly)
    task = asyncio.ensure_future(store.append([entry_line("a")]))
    assert await asyncio.to_thread(begun.wait, 60)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0.001)
    go_on.set()
    await asyncio.wait((task,))
    assert task.cancelled()
    assert store.version == 1
    assert path.read_bytes().endswith(entry_line("a") + b"\n")
    await store.append([entry_line("b")])
    assert [envelope.id for envelope in await read_all(store)] == ["a", "b"]
