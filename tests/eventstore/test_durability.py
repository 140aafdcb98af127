"""When an append is on the disk, and what a failed sync means."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore import writer
from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.errors import AppendError, ConcurrencyError
from sessiontree.eventstore.header import SessionHeader, encode_header
from sessiontree.eventstore.jsonl_store import JsonlEventStore

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
SessionFile = Callable[..., Path]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]


class Syncs:
    """Records what is synced, by name, and can refuse it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[str, Path]] = []
        self.refused: set[str] = set()
        for name in ("fsync", "fdatasync"):
            monkeypatch.setattr(os, name, self._recorder(name, getattr(os, name)))
        monkeypatch.setattr(writer, "_sync_data", os.fdatasync)

    def _recorder(self, name: str, sync: Callable[[int], None]) -> Callable[[int], None]:
        def record(fd: int) -> None:
            target = Path(os.readlink(f"/proc/self/fd/{fd}"))
            self.calls.append((name, target))
            if target.name in self.refused:
                raise OSError(errno.EIO, "Input/output error")
            sync(fd)

        return record

    def take(self) -> list[tuple[str, Path]]:
        calls, self.calls = self.calls, []
        return calls


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> Syncs:
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc to name descriptors")
    return Syncs(monkeypatch)


# New files


@pytest.mark.parametrize("durable", [True, False])
async def test_a_new_file_and_its_directories_are_on_the_disk_before_the_first_answer(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line, syncs: Syncs, durable: bool
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
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, syncs: Syncs
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
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, syncs: Syncs
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
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, syncs: Syncs
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


# Failed syncs


async def test_after_a_failed_sync_the_outcome_is_unknown_and_the_writer_refuses(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, syncs: Syncs
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
    syncs: Syncs,
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
    assert syncs.take() == [("fsync", path)]
    written.clear()
    await again.append([entry_line("c")])
    assert [envelope.id for envelope in await read_all(again)] == ["a", "b", "c"]
    await again.close()
    third = await open_store(path, durable=True)
    await third.acquire()
    assert written == []


async def test_a_sync_that_fails_again_at_reopening_is_an_error_and_stays_to_be_done(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, syncs: Syncs
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
    assert syncs.take() == [("fsync", path), ("fdatasync", path)]
    assert store.version == 2


@pytest.mark.parametrize("way", ["flush", "close"])
async def test_a_sync_that_fails_later_is_told_by_flush_or_close(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, syncs: Syncs, way: str
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
    tmp_path: Path, new_header: SessionHeader, entry_line: Line, syncs: Syncs, open_store: OpenStore
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
    again = await open_store(path)
    await again.append([entry_line("b")])


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
