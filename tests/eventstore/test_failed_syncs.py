"""What a failed sync means: nothing is acknowledged, and nothing goes on as if it had not been."""

from __future__ import annotations

import errno
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.errors import AppendError
from sessiontree.eventstore.header import SessionHeader, encode_header
from sessiontree.eventstore.jsonl_store import JsonlEventStore

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
SessionFile = Callable[..., Path]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]


async def test_after_a_failed_sync_the_outcome_is_unknown_and_the_writer_refuses(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, syncs: Any
) -> None:
    """D4, F-116: nothing is acknowledged; the first error is raised again until the session is reopened."""
    path = session_file()
    store = await open_store(path, durable=True)
    await store.append([entry_line("a")])
    syncs.refused.add(path.name)
    with pytest.raises(AppendError, match="unknown") as caught:
        await store.append([entry_line("b"), entry_line("c")])
    assert (caught.value.outcome, caught.value.recorded, caught.value.errno) == ("unknown", 0, errno.EIO)
    assert (store.version, caught.value.path) == (1, path)
    syncs.refused.clear()
    size = path.stat().st_size
    for attempt in (store.append([entry_line("d")]), store.flush(), store.append([entry_line("e")])):
        with pytest.raises(AppendError) as again:
            await attempt
        assert (again.value.outcome, again.value.errno) == ("unknown", errno.EIO)
    assert path.stat().st_size == size
    await store.close()


async def test_reopening_after_a_failed_sync_rewrites_from_the_last_durable_end(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    syncs: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D4: the system may call pages clean that are not on the disk: they are written anew, and synced, first."""
    path = session_file(entry_line("a"))
    durable_end = path.stat().st_size
    store = await open_store(path, durable=True)
    syncs.refused.add(path.name)
    with pytest.raises(AppendError):
        await store.append([entry_line("b")])
    await store.close()
    syncs.refused.clear()
    syncs.take()
    content = path.read_bytes()
    written: list[tuple[bytes, int]] = []
    real_pwrite = os.pwrite

    def pwrite(fd: int, data: Any, offset: int) -> int:
        # Short, as the system may.
        written.append((bytes(data[:50]), offset))
        return real_pwrite(fd, data[:50], offset)

    monkeypatch.setattr(os, "pwrite", pwrite)
    again = await open_store(path, durable=True)
    await again.acquire()
    assert b"".join(data for data, _ in written) == content[durable_end:]
    assert [offset for _, offset in written] == list(range(durable_end, len(content), 50))
    assert syncs.take() == [("fsync", path), ("fsync", path.parent)]
    written.clear()
    await again.append([entry_line("c")])
    assert [envelope.id for envelope in await read_all(again)] == ["a", "b", "c"]
    await again.close()
    third = await open_store(path, durable=True)
    await third.acquire()
    assert written == []


async def test_a_sync_that_fails_again_at_reopening_is_an_error_and_stays_to_be_done(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, syncs: Any
) -> None:
    """D4"""
    path = session_file()
    store = await open_store(path, durable=True)
    syncs.refused.add(path.name)
    for attempt in range(3):
        for _ in range(2):
            with pytest.raises(AppendError):
                await store.append([entry_line(f"a{attempt}")])
        await store.close()
        store = await open_store(path, durable=True)
    syncs.refused.clear()
    syncs.take()
    await store.append([entry_line("b")])
    assert syncs.take() == [("fsync", path), ("fsync", path.parent), ("fdatasync", path)]
    assert store.version == 2


@pytest.mark.parametrize("way", ["flush", "close"])
async def test_a_sync_that_fails_later_is_told_by_flush_or_close(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, syncs: Any, way: str
) -> None:
    """F-115: and the lock is let go all the same."""
    path = session_file()
    store = await open_store(path, durable=False)
    await store.append([entry_line("a")])
    syncs.refused.add(path.name)
    with pytest.raises(AppendError) as caught:
        await getattr(store, way)()
    assert caught.value.outcome == "unknown"
    syncs.refused.clear()
    await store.close()
    again = await open_store(path, durable=True)
    await again.append([entry_line("b")])


async def test_a_new_file_whose_directory_cannot_be_synced_is_of_unknown_outcome(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line, syncs: Any, open_store: OpenStore
) -> None:
    """D4: its name may be gone after a crash."""
    path = tmp_path / "sessions" / "session.jsonl"
    store = JsonlEventStore.create(path, new_header)
    syncs.refused.add("sessions")
    with pytest.raises(AppendError) as caught:
        await store.append([entry_line("a")])
    assert (caught.value.outcome, store.version) == ("unknown", 0)
    syncs.refused.clear()
    with pytest.raises(AppendError):
        await store.append([entry_line("a")])
    await store.close()
    assert path.read_bytes() == encode_header(new_header) + b"\n" + entry_line("a") + b"\n"
    syncs.take()
    again = await open_store(path, durable=True)
    await again.append([entry_line("b")])
    assert syncs.take() == [("fsync", path), ("fsync", path.parent), ("fdatasync", path)]


async def test_a_migration_whose_directory_cannot_be_synced_is_of_unknown_outcome(
    session_file: SessionFile, header_line: Line, entry_line: Line, open_store: OpenStore, syncs: Any
) -> None:
    """D4, F-130: the new file is in place, and its name may be gone after a crash."""
    path = session_file(entry_line("a"), header=header_line(version=2), name="sessions/session.jsonl")
    store = await open_store(path)
    syncs.refused.add("sessions")
    for _ in range(2):
        with pytest.raises(AppendError) as caught:
            await store.append([entry_line("b")])
        assert caught.value.outcome == "unknown"
    assert path.read_bytes() == header_line() + b"\n" + entry_line("a") + b"\n"
    await store.close()
    syncs.refused.clear()
    syncs.take()
    await (await open_store(path, durable=True)).append([entry_line("b")])
    assert syncs.take() == [("fsync", path), ("fsync", path.parent), ("fdatasync", path)]


async def test_a_directory_that_cannot_be_made_is_an_append_error(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line
) -> None:
    """D14: with the system's error; nothing is written."""
    (tmp_path / "file").write_text("in the way")
    store = JsonlEventStore.create(tmp_path / "file" / "sessions" / "session.jsonl", new_header)
    with pytest.raises(AppendError) as caught:
        await store.append([entry_line("a")])
    assert caught.value.errno in (errno.ENOTDIR, errno.EEXIST)
    assert isinstance(caught.value.__cause__, OSError)
    await store.close()
