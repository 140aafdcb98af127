"""A migration reaches the disk with the next append: whole, in place of the old file, or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore import jsonl_reader
from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.errors import AppendError, SessionLockedError
from sessiontree.eventstore.jsonl_store import JsonlEventStore

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]


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


async def test_the_mode_is_kept(path: Path, open_store: OpenStore, old: bytes) -> None:
    """D7"""
    for mode in (0o640, 0o604, 0o600):
        path.write_bytes(old)
        path.chmod(mode)
        store = await open_store(path)
        assert await store.migrate()
        await store.close()
        assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize("allowed", [True, False])
async def test_the_owner_is_kept_where_the_system_allows_it(
    path: Path, migrated: bytes, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    """D7: only root may give files away; for others the file becomes their own."""
    given: list[tuple[int, int]] = []

    def fchown(_: int, uid: int, gid: int) -> None:
        given.append((uid, gid))
        if not allowed:
            raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", fchown)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    store = await open_store(path)
    assert await store.migrate()
    assert (given, path.read_bytes()) == ([(path.stat().st_uid, path.stat().st_gid)], migrated)


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


async def test_a_header_that_got_its_newline_from_another_program_is_migrated(
    tmp_path: Path, header_line: Line, entry_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """F-105: the header's line ends where it ends by now."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(header_line(version=2))
    store = await open_store(path)
    await read_all(store)
    with path.open("ab") as file:
        file.write(b"\n" + entry_line("a") + b"\n")
    assert await store.migrate()
    assert path.read_bytes() == header_line() + b"\n" + entry_line("a") + b"\n"
    assert await store.read_lines([1]) == [entry_line("a")]
    assert await store.check() is False


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
    target: tuple[Any, str] = (jsonl_reader, "copy_migrated") if step == "copy" else (os, step)
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
