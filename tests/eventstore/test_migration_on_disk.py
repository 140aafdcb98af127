"""A migration reaches the disk with the next append: whole, in place of the old file, or not at all."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore import jsonl_store, lock, read_file, writer
from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.errors import AppendError, SessionLockedError, SessionRewrittenError
from sessiontree.eventstore.jsonl_store import JsonlEventStore
from sessiontree.eventstore.migration_copy import copy_migrated

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]

DATA = Path(__file__).parent / "data"


@pytest.fixture(params=["version-1", "version-2"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(tmp_path: Path, name: str) -> Path:
    path = tmp_path / "sessions" / "session.jsonl"
    path.parent.mkdir()
    path.write_bytes((DATA / f"{name}.jsonl").read_bytes())
    return path


@pytest.fixture
def old(name: str) -> bytes:
    return (DATA / f"{name}.jsonl").read_bytes()


@pytest.fixture
def migrated(name: str) -> bytes:
    return (DATA / f"{name}.as-3.jsonl").read_bytes()


def is_locked(path: Path) -> bool:
    fd = os.open(path, os.O_RDONLY)
    try:
        return not lock.try_lock(fd)
    finally:
        os.close(fd)


async def test_reading_flushing_and_closing_leave_the_file_as_it_was(
    path: Path, old: bytes, open_store: OpenStore, read_all: ReadAll
) -> None:
    """F-105, X-41"""
    before = path.stat()
    store = await open_store(path)
    await read_all(store)
    await store.flush()
    await store.close()
    assert (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) == (old, before.st_mtime_ns, before.st_ino)


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("read_first", [True, False])
async def test_the_next_append_rewrites_the_file_as_version_3(
    path: Path,
    migrated: bytes,
    open_store: OpenStore,
    read_all: ReadAll,
    entry_line: Line,
    durable: bool,
    read_first: bool,
) -> None:
    """F-105, F-130, X-41: damaged lines stay at their place; then the new entry."""
    store = await open_store(path, durable=durable)
    before = await read_all(store) if read_first else []
    await store.append([entry_line("new")])
    assert path.read_bytes() == migrated + entry_line("new") + b"\n"
    assert list(path.parent.iterdir()) == [path]
    assert (store.file_version, store.header.version) == (3, 3)
    after = await read_all(store)
    assert [envelope.id for envelope in after][-1] == "new"
    assert not read_first or after[:-1] == before
    lines = path.read_bytes().split(b"\n")
    found = await store.read_lines(range(store.version, 0, -1))
    assert found == [lines[store.line_number(seq) - 1] for seq in range(store.version, 0, -1)]
    assert await store.check() is False
    again = await open_store(path)
    assert (await read_all(again), again.faults) == (after, store.faults)
    await store.append([entry_line("newer")])
    assert await again.check() is True


async def test_migrating_on_request_rewrites_the_file_at_once(
    path: Path, migrated: bytes, open_store: OpenStore, read_all: ReadAll
) -> None:
    """F-105, F-111, X-42: once."""
    store = await open_store(path)
    assert [await store.migrate(), await store.migrate()] == [True, False]
    assert path.read_bytes() == migrated
    assert len(await read_all(store)) == store.version > 0


async def test_a_torn_last_line_gets_its_newline(
    path: Path, migrated: bytes, open_store: OpenStore, read_all: ReadAll, entry_line: Line
) -> None:
    """F-81, F-105: it stays damaged, and nothing is glued to it."""
    with path.open("ab") as file:
        file.write(b'{"type":"message","mess')
    store = await open_store(path)
    await read_all(store)
    faults = store.faults
    await store.append([entry_line("new")])
    assert path.read_bytes() == migrated + b'{"type":"message","mess\n' + entry_line("new") + b"\n"
    assert [(fault.line, fault.kind) for fault in store.faults] == [(fault.line, fault.kind) for fault in faults]
    assert store.line_number(store.version) == faults[-1].line + 1


async def test_what_stands_around_the_header_stays(
    tmp_path: Path, header_line: Line, entry_line: Line, title_slot: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """F-84, F-83, F-73, F-105: byte order mark, slot, damaged lines and CRLF."""
    for number, start in enumerate(
        [b"\xef\xbb\xbf", title_slot() + b"\n", b"\xef\xbb\xbf" + title_slot() + b"\r\n{torn\n\n"]
    ):
        path = tmp_path / f"{number}.jsonl"
        lines = [header_line(version=2), entry_line("a"), entry_line("b", "a")]
        path.write_bytes(start + b"\r\n".join(lines))
        store = await open_store(path)
        title = store.header.title
        await read_all(store)
        await store.append([entry_line("c")])
        lines[0] = header_line(version=3)
        assert path.read_bytes() == start + b"\r\n".join(lines) + b"\n" + entry_line("c") + b"\n"
        assert (store.header.title, store.version) == (title, 3)
        assert await store.read_lines([3, 1]) == [entry_line("c"), entry_line("a") + b"\r"]
        assert await store.check() is False


async def test_the_mode_is_kept(path: Path, open_store: OpenStore) -> None:
    """D7"""
    for mode in (0o640, 0o604, 0o600):
        path.write_bytes((DATA / "version-1.jsonl").read_bytes())
        path.chmod(mode)
        store = await open_store(path)
        assert await store.migrate()
        await store.close()
        assert stat.S_IMODE(path.stat().st_mode) == mode


async def test_a_symbolic_link_is_followed_and_stays_one(
    path: Path, tmp_path: Path, migrated: bytes, open_store: OpenStore
) -> None:
    """D7: the temporary file stands beside the file, not beside the link."""
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    store = await open_store(link)
    assert await store.migrate()
    assert (link.is_symlink(), path.is_symlink(), path.read_bytes()) == (True, False, migrated)


def fail_with(error: OSError) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize("step", ["replace", "fsync", "copy", "fchmod"])
async def test_after_a_failure_the_old_file_stands_and_no_other_is_left(
    path: Path,
    old: bytes,
    migrated: bytes,
    open_store: OpenStore,
    read_all: ReadAll,
    entry_line: Line,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    """F-130, F-131, X-58, D7: the error tells why; the next append tries again."""
    store = await open_store(path)
    before = await read_all(store)
    error = OSError(errno.EPERM if step == "replace" else errno.ENOSPC, "refused")
    target: tuple[Any, str] = (jsonl_store, "copy_migrated") if step == "copy" else (os, step)
    with monkeypatch.context() as patch:
        patch.setattr(*target, fail_with(error))
        with pytest.raises(AppendError) as caught:
            await store.append([entry_line("new")])
    assert (caught.value.errno, caught.value.outcome, caught.value.recorded) == (error.errno, "not-written", 0)
    assert (path.read_bytes(), list(path.parent.iterdir())) == (old, [path])
    assert (store.file_version < 3, await read_all(store)) == (True, before)
    with pytest.raises(SessionLockedError):
        await (await open_store(path)).acquire()
    await store.append([entry_line("new")])
    assert path.read_bytes() == migrated + entry_line("new") + b"\n"


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
        patch.setattr(jsonl_store, "copy_migrated", copy)
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

    def read_slowly(*arguments: Any) -> int:
        # Longer than the migration takes: each of these readings sees it end.
        found = read_all_bytes(*arguments)
        while store.file_version < 3:
            time.sleep(0.001)
        return found

    monkeypatch.setattr(read_file, "_NOWAIT", 0)
    monkeypatch.setattr(read_file, "_read_all", read_slowly)
    readings = [asyncio.ensure_future(store.read_lines(range(1, count + 1))) for _ in range(3)]
    await asyncio.sleep(0)
    assert await store.migrate()
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
