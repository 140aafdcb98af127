"""A whole session file made at once, as forks are: complete, or not there."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore import session_file as module
from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.errors import AppendError
from sessiontree.eventstore.header import SessionHeader, encode_header
from sessiontree.eventstore.jsonl_store import JsonlEventStore
from sessiontree.eventstore.session_file import write_session_file

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]


async def batches(*parts: list[bytes]) -> AsyncIterator[list[bytes]]:
    for part in parts:
        yield part
        await asyncio.sleep(0)


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else set()


async def test_the_file_holds_the_header_and_all_batches(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """F-130, T-67: missing directories are made; for their owner only."""
    path = tmp_path / "new" / "session.jsonl"
    lines = [entry_line(name, text="x" * 100_000) for name in "abc"]
    umask = os.umask(0)
    try:
        await write_session_file(path, new_header, batches(lines[:2], [], lines[2:]))
    finally:
        os.umask(umask)
    assert path.read_bytes() == b"".join(line + b"\n" for line in (encode_header(new_header), *lines))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]
    assert [envelope.id for envelope in await read_all(await open_store(path))] == ["a", "b", "c"]


async def test_it_is_synced_before_it_gets_its_name_and_the_name_before_the_answer(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-130, D7"""
    path = tmp_path / "session.jsonl"
    steps: list[str] = []
    real_fsync, real_link = os.fsync, os.link

    def fsync(fd: int) -> None:
        steps.append("directory" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file")
        real_fsync(fd)

    def link(source: Path, target: Path) -> None:
        assert source.parent == target.parent == tmp_path
        assert source.name.startswith(f".{path.name}.")
        steps.append("link")
        real_link(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "link", link)
    await write_session_file(path, new_header, batches([entry_line("a")]))
    assert steps == ["file", "link", "directory"]


@pytest.mark.parametrize("code", ["EPERM", "EOPNOTSUPP", "ENOTSUP"])
async def test_where_there_are_no_hard_links_it_is_renamed(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """D7: and a file that is there stays there."""

    def refuse(*_: object) -> None:
        raise OSError(getattr(errno, code), "no hard links")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "session.jsonl"
    await write_session_file(path, new_header, batches([entry_line("a")]))
    content = encode_header(new_header) + b"\n" + entry_line("a") + b"\n"
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (content, [path])
    with pytest.raises(AppendError) as caught:
        await write_session_file(path, new_header, batches([entry_line("b")]))
    assert caught.value.errno == errno.EEXIST
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (content, [path])


@pytest.mark.parametrize("step", ["write", "fsync", "link", "sync_directory", "make_directory"])
async def test_after_a_failure_nothing_is_left(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """F-130, D14: the system's error is mapped, and kept as the cause."""

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = descriptors()
    with monkeypatch.context() as patch:
        patch.setattr(module if "directory" in step else os, step, fail)
        with pytest.raises(AppendError) as caught:
            await write_session_file(tmp_path / "session.jsonl", new_header, batches([entry_line("a")]))
    assert (caught.value.errno, caught.value.recorded) == (errno.ENOSPC, 0)
    assert isinstance(caught.value.__cause__, OSError)
    assert list(tmp_path.iterdir()) == []
    assert len(descriptors()) == len(before)


async def test_a_failure_of_what_gives_the_lines_is_raised_and_leaves_nothing(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line
) -> None:
    async def failing() -> AsyncIterator[list[bytes]]:
        yield [entry_line("a")]
        raise LookupError("no more lines")

    with pytest.raises(LookupError):
        await write_session_file(tmp_path / "session.jsonl", new_header, failing())
    assert list(tmp_path.iterdir()) == []


async def test_cancelled_at_any_point_nothing_is_left(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line
) -> None:
    """D8: neither a file, nor half of one, nor an open descriptor."""
    await write_session_file(tmp_path / "warm-up.jsonl", new_header, batches())
    (tmp_path / "warm-up.jsonl").unlink()
    before = descriptors()
    done = 0
    for turns in range(60):
        work = write_session_file(
            tmp_path / "session.jsonl", new_header, batches([entry_line("a")], [entry_line("b")])
        )
        task = asyncio.ensure_future(work)
        for _ in range(turns % 20):
            await asyncio.sleep(0.0002 * (turns // 20))
        task.cancel()
        await asyncio.wait((task,))
        if task.cancelled():
            assert list(tmp_path.iterdir()) == []
        else:
            done += 1
            (tmp_path / "session.jsonl").unlink()
    assert len(descriptors()) == len(before)


async def test_a_file_that_is_there_is_never_replaced(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line
) -> None:
    """D7"""
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"somebody's")
    with pytest.raises(AppendError) as caught:
        await write_session_file(path, new_header, batches([entry_line("a")]))
    assert caught.value.errno == errno.EEXIST
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"somebody's", [path])


async def test_a_file_that_appears_at_the_last_moment_is_not_replaced(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D7: to look first and to rename then would leave a gap."""
    path = tmp_path / "session.jsonl"
    real_link = os.link

    def link_late(source: Path, target: Path) -> None:
        path.write_bytes(b"somebody's")
        real_link(source, target)

    monkeypatch.setattr(os, "link", link_late)
    with pytest.raises(AppendError) as caught:
        await write_session_file(path, new_header, batches([entry_line("a")]))
    assert caught.value.errno == errno.EEXIST
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"somebody's", [path])


async def test_short_writes_are_continued(
    tmp_path: Path, new_header: SessionHeader, entry_line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D4"""
    real_write = os.write

    def write(fd: int, data: Any) -> int:
        return real_write(fd, data[:100])

    monkeypatch.setattr(os, "write", write)
    line = entry_line("a", text="x" * 1000)
    await write_session_file(tmp_path / "session.jsonl", new_header, batches([line]))
    assert (tmp_path / "session.jsonl").read_bytes().endswith(b"\n" + line + b"\n")
