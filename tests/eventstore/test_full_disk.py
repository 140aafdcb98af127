"""Writing in pieces, and to a disk that has no room: whole lines stay, torn ones go."""

from __future__ import annotations

import errno
import json
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
Check = Callable[[JsonlEventStore], Awaitable[None]]
DiskOf = Callable[[Path], Any]


def ids(envelopes: list[Envelope]) -> list[str]:
    return [envelope.id for envelope in envelopes]


@pytest.fixture(params=[True, False], ids=["synced", "unsynced"])
def durable(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


async def test_a_short_write_is_continued(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    durable: bool,
    disk_of: DiskOf,
    check_against_the_file: Check,
) -> None:
    """D4"""
    path = session_file()
    disk = disk_of(path)
    disk.most = 7
    store = await open_store(path, durable=durable)
    await store.append([entry_line("a", text="ä" * 50), entry_line("b")])
    assert path.read_bytes().endswith(entry_line("a", text="ä" * 50) + b"\n" + entry_line("b") + b"\n")
    await check_against_the_file(store)


@pytest.mark.parametrize("torn", [False, True])
@pytest.mark.parametrize("whole", [0, 1, 2])
@pytest.mark.parametrize("more", [0, 1, 40])
async def test_a_full_disk_keeps_whole_lines_and_cuts_the_rest(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    durable: bool,
    disk_of: DiskOf,
    check_against_the_file: Check,
    torn: bool,
    whole: int,
    more: int,
) -> None:
    """D4, F-116: the error says how many are recorded; the next append goes on."""
    path = session_file(entry_line("a"))
    if torn:
        path.write_bytes(path.read_bytes()[:-20])
    before = path.read_bytes()
    disk = disk_of(path)
    store = await open_store(path, durable=durable)
    await store.append([])
    lines = [entry_line(name) for name in "bcd"]
    kept = b"\n" * torn + b"".join(line + b"\n" for line in lines[:whole])
    disk.room = len(kept) + more
    with pytest.raises(AppendError) as caught:
        await store.append(lines)
    assert (caught.value.errno, caught.value.outcome, caught.value.recorded) == (errno.ENOSPC, "not-written", whole)
    assert path.read_bytes() == before + kept
    assert store.version == whole + (not torn)
    disk.room = None
    await store.append([entry_line("e")])
    assert path.read_bytes().endswith(b"\n" + entry_line("e") + b"\n")
    await check_against_the_file(store)


@pytest.mark.parametrize("foreign", ["whole", "torn"])
async def test_a_torn_rest_that_is_not_the_end_stays(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    durable: bool,
    disk_of: DiskOf,
    check_against_the_file: Check,
    foreign: str,
) -> None:
    """D4, D7: cutting it would cut what another program wrote behind it."""
    path = session_file(entry_line("a"))
    before = path.read_bytes()
    disk = disk_of(path)
    store = await open_store(path, durable=durable)
    await store.append([])
    others = b"\n" + entry_line("x") + (b"\n" if foreign == "whole" else b"")
    disk.when_full = lambda: disk.foreign(others)
    disk.room = len(entry_line("b")) + 1 + 25
    with pytest.raises(AppendError) as caught:
        await store.append([entry_line("b"), entry_line("c")])
    assert caught.value.recorded == 1
    assert path.read_bytes() == before + entry_line("b") + b"\n" + entry_line("c")[:25] + others
    disk.room = None
    await store.append([entry_line("d")])
    await check_against_the_file(store)
    assert b"\n" + entry_line("d") + b"\n" in path.read_bytes()


async def test_a_torn_rest_that_cannot_be_cut_stays(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    durable: bool,
    disk_of: DiskOf,
    check_against_the_file: Check,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D4, D14: the error is that of the write; the next append begins on a line of its own."""
    path = session_file(entry_line("a"))
    disk = disk_of(path)
    store = await open_store(path, durable=durable)
    await store.append([])
    disk.room = len(entry_line("b")) + 1 + 25

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "ftruncate", refuse)
    with pytest.raises(AppendError) as caught:
        await store.append([entry_line("b"), entry_line("c")])
    assert (caught.value.errno, caught.value.recorded) == (errno.ENOSPC, 1)
    disk.room = None
    await store.append([entry_line("d")])
    assert path.read_bytes().endswith(entry_line("c")[:25] + b"\n" + entry_line("d") + b"\n")
    await check_against_the_file(store)


@pytest.mark.parametrize("foreign", [None, b"\n", b'"}}\n'])
async def test_what_follows_a_torn_rest_stands_on_a_line_of_its_own(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    durable: bool,
    disk_of: DiskOf,
    check_against_the_file: Check,
    monkeypatch: pytest.MonkeyPatch,
    foreign: bytes | None,
) -> None:
    """D4: wherever it was torn, and whoever ended it meanwhile."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "ftruncate", refuse)
    for room in (*range(6), *range(len(entry_line("b")) - 3, len(entry_line("b")) + 4)):
        path = session_file(entry_line("a"), name=f"{room}.jsonl")
        disk = disk_of(path)
        store = await open_store(path, durable=durable)
        await store.append([])
        disk.room = room
        with pytest.raises(AppendError):
            await store.append([entry_line("b"), entry_line("c")])
        disk.room = None
        if foreign is not None:
            disk.foreign(foreign)
        await store.append([entry_line("d")])
        assert path.read_bytes().endswith(b"\n" + entry_line("d") + b"\n")
        assert json.loads((await store.read_lines([store.version]))[0])["id"] == "d"
        await check_against_the_file(store)


async def test_a_short_write_is_not_continued_behind_another_program(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    durable: bool,
    disk_of: DiskOf,
    check_against_the_file: Check,
) -> None:
    """D4: an entry whose parts have others between them is none."""
    path = session_file()
    disk = disk_of(path)
    store = await open_store(path, durable=durable)
    await store.append([])
    disk.most = 30
    real_write = disk._write

    def write_and_let_others(fd: int, data: Any) -> int:
        written: int = real_write(fd, data)
        disk._write = real_write
        disk.foreign(b"\n" + entry_line("x") + b"\n")
        return written

    disk._write = write_and_let_others
    with pytest.raises(AppendError) as caught:
        await store.append([entry_line("a")])
    assert caught.value.recorded == 0
    await store.append([entry_line("b")])
    await check_against_the_file(store)
    assert path.read_bytes().endswith(b"\n" + entry_line("b") + b"\n")


@pytest.mark.parametrize("room", [0, 5, 10_000])
async def test_a_new_session_on_a_full_disk_leaves_no_file_or_a_whole_header(
    tmp_path: Path,
    new_header: SessionHeader,
    entry_line: Line,
    read_all: ReadAll,
    monkeypatch: pytest.MonkeyPatch,
    room: int,
) -> None:
    """F-110, D7: and the next append makes the session."""
    path = tmp_path / "new" / "session.jsonl"
    store = JsonlEventStore.create(path, new_header, durable=False)
    left, real_write = room, os.write
    head = encode_header(new_header) + b"\n"

    def write(fd: int, data: Any) -> int:
        nonlocal left
        size = min(left, len(data))
        left -= size
        if not size:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_write(fd, data[:size])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        large = entry_line("a", text="x" * 20_000)
        with pytest.raises(AppendError) as caught:
            await store.append([large])
        assert caught.value.recorded == 0
    assert not path.exists() if room < len(head) else path.read_bytes() == head
    await store.append([entry_line("a")])
    assert path.read_bytes() == head + entry_line("a") + b"\n"
    assert ids(await read_all(store)) == ["a"]
    await store.close()
