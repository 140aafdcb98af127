"""Lines come back from the file: in any order, with few descriptors, while it grows."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessiontree.eventstore import jsonl_reader, line_groups, read_file
from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.errors import SessionRewrittenError
from sessiontree.eventstore.header import make_header
from sessiontree.eventstore.jsonl_store import JsonlEventStore
from sessiontree.eventstore.read_file import ReadFile

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
SessionFile = Callable[..., Path]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]


@pytest.fixture
def slow_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is in memory: each read goes to a thread, and takes its time there."""
    read_all = read_file._read_all

    def read_slowly(*args: Any) -> int:
        time.sleep(0.001)
        return read_all(*args)

    monkeypatch.setattr(read_file, "_NOWAIT", 0)
    monkeypatch.setattr(read_file, "_read_all", read_slowly)


def open_descriptors(directory: Path) -> int:
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc to count descriptors")
    count = 0
    for fd in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{fd}").startswith(str(directory))
        except FileNotFoundError:
            continue
    return count


# Order and coalescing


@settings(max_examples=60)
@given(
    sizes=st.lists(st.sampled_from([0, 1, 30, 500, 3000]), min_size=1, max_size=25),
    blanks=st.lists(st.sampled_from([b"", b"\n", b"{torn\n", b"x" * 900 + b"\n"]), max_size=5),
    terminated=st.booleans(),
    gap=st.sampled_from([0, 40, 1000]),
    most=st.sampled_from([1, 600, 5000]),
    data=st.data(),
)
def test_lines_come_back_in_any_order_however_they_are_read_together(
    sizes: list[int], blanks: list[bytes], terminated: bool, gap: int, most: int, data: st.DataObject
) -> None:
    """D2: coalesced reads give each line its own bytes."""
    lines = [b'{"type":"x","id":"%d","x":"%s"}' % (number, b"y" * size) for number, size in enumerate(sizes)]
    between = blanks or [b""]
    body = b"".join(line + b"\n" + between[number % len(between)] for number, line in enumerate(lines))
    order = data.draw(st.lists(st.integers(1, len(lines)), max_size=40))

    async def check(path: Path) -> None:
        store = await JsonlEventStore.open(path, header_of_new=lambda: make_header("", "", ""))
        assert [batch async for batch in store.read()]
        expected = [lines[seq - 1] for seq in order]
        assert await store.read_lines(order) == expected
        assert store.read_lines_now(order) in (expected, None)
        await store.close()

    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_groups, "_GAP", gap)
        patch.setattr(line_groups, "_MOST_AT_ONCE", most)
        path = Path(directory, "session.jsonl")
        path.write_bytes(b'{"type":"session","version":3,"id":"s"}\n' + (body if terminated else body.rstrip(b"\n")))
        if terminated or not body.rstrip(b"\n").endswith((b"torn", b"x")):
            asyncio.run(check(path))


async def test_close_lines_are_read_in_one_go_and_distant_ones_are_not(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D2"""
    store = await open_store(session_file(*(entry_line(str(number), text="x" * 1000) for number in range(400))))
    await read_all(store)
    reads: list[int] = []
    read = ReadFile.read

    async def counted(file: ReadFile, offset: int, size: int) -> bytes:
        reads.append(size)
        return await read(file, offset, size)

    monkeypatch.setattr(ReadFile, "read", counted)
    await store.read_lines([3, 1, 2])
    await store.read_lines([1, 400])
    assert len(reads) == 3
    assert max(reads) < 4000


# Descriptors


async def test_many_open_sessions_keep_few_descriptors_and_all_can_be_read(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, read_all: ReadAll, tmp_path: Path
) -> None:
    """D2: 1,000 sessions in one process; what is idle longest is closed."""
    stores = []
    for number in range(100):
        stores.append(await open_store(session_file(entry_line(f"e{number}"), name=f"{number}.jsonl")))
        await read_all(stores[-1])
    assert open_descriptors(tmp_path) <= read_file._MAX_IDLE
    for _ in range(2):
        for number, store in enumerate(stores):
            assert await store.read_lines([1]) == [entry_line(f"e{number}")]
            assert await store.check() is False
    assert open_descriptors(tmp_path) <= read_file._MAX_IDLE
    for store in stores:
        await store.close()
    assert open_descriptors(tmp_path) == 0


async def test_a_descriptor_in_use_is_not_closed(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, read_all: ReadAll, slow_disk: None
) -> None:
    """D2: more files are read at the same time than may be idle."""
    paths = [session_file(entry_line(f"e{number}"), name=f"{number}.jsonl") for number in range(80)]
    stores = [await open_store(path) for path in paths]
    found = await asyncio.gather(*(read_all(store) for store in stores))
    assert [[envelope.id for envelope in envelopes] for envelopes in found] == [[f"e{number}"] for number in range(80)]


def test_a_descriptor_that_another_thread_takes_for_idle_is_not_closed_under_its_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D2: sessions on two loops in two threads share the idle descriptors."""
    for name in ("mine", "other"):
        (tmp_path / name).write_bytes(name.encode())
    mine, other = ReadFile(tmp_path / "mine"), ReadFile(tmp_path / "other")
    with mine.descriptor() as fd:
        idle = fd
    monkeypatch.setattr(read_file, "_MAX_IDLE", 0)
    closing, taken = threading.Event(), threading.Event()
    real_close = os.close

    def close_slowly(fd: int) -> None:
        # The reader gets the time to take the descriptor that is about to be closed.
        if fd == idle and not closing.is_set():
            closing.set()
            taken.wait(0.05)
        real_close(fd)

    monkeypatch.setattr(os, "close", close_slowly)
    thread = threading.Thread(target=other.stat)
    thread.start()
    assert closing.wait(60)
    with mine.descriptor() as fd:
        taken.set()
        thread.join(60)
        assert os.pread(fd, 10, 0) == b"mine"
    mine.close()
    other.close()


async def test_a_file_in_another_ones_place_is_not_read(tmp_path: Path) -> None:
    """D2: checked by device and inode when it is opened again."""
    path = tmp_path / "file"
    path.write_bytes(b"first")
    file = ReadFile(path)
    assert (file.read_now(1, 3), await file.read(0, 10)) in ((b"irs", b"first"), (None, b"first"))
    file.close()
    assert await file.read(2, 2) == b"rs"
    file.close()
    (tmp_path / "other").write_bytes(b"other")
    os.replace(tmp_path / "other", path)
    for attempt in (file.read(0, 5), file.read_into(bytearray(5), 0)):
        with pytest.raises(SessionRewrittenError):
            await attempt
    with pytest.raises(SessionRewrittenError):
        file.stat()
    path.unlink()
    with pytest.raises(FileNotFoundError):
        await file.read(0, 5)
    file.close()


async def test_reading_ends_at_the_end_of_the_file(tmp_path: Path, slow_disk: None) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    file = ReadFile(path)
    assert [await file.read(offset, 4) for offset in (0, 8, 10, 20)] == [b"0123", b"89", b"", b""]
    buffer = bytearray(6)
    assert (await file.read_into(buffer, 7), bytes(buffer[:3])) == (3, b"789")
    file.close()


# While it grows


@pytest.mark.parametrize("durable", [True, False])
async def test_reading_and_appending_at_the_same_time_take_nothing_in_twice(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    slow_disk: None,
    durable: bool,
) -> None:
    """D4, D2: several readers of one store, its own appends, and another program's."""
    path = session_file(*(entry_line(f"old{number}", text="x" * 3000) for number in range(200)))
    store = await open_store(path, durable=durable)

    async def write() -> None:
        for number in range(20):
            await store.append([entry_line(f"own{number}")])

    async def write_from_outside() -> None:
        for number in range(20):
            with path.open("ab") as file:
                file.write(entry_line(f"foreign{number}") + b"\n")
            await asyncio.sleep(0.002)

    async def keep_reading() -> None:
        while store.version < 240:
            assert len(await read_all(store)) <= 240
            await asyncio.sleep(0)

    await asyncio.gather(write(), keep_reading(), keep_reading(), write_from_outside())
    lines = path.read_bytes().split(b"\n")[1:-1]
    assert await store.read_lines(range(1, 241)) == lines
    ids = [envelope.id for envelope in await read_all(store)]
    assert sorted(ids) == sorted({*ids})
    assert [store.line_number(seq) for seq in range(1, 241)] == list(range(2, 242))
    assert (store.faults, await store.check()) == ([], False)


async def test_a_reading_that_is_given_up_leaves_the_store_usable(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, read_all: ReadAll, slow_disk: None
) -> None:
    """D8: cancelled or abandoned at any point, what was read is known and the rest is not lost."""
    path = session_file(*(entry_line(f"e{number}", text="x" * 3000) for number in range(300)))
    store = await open_store(path)
    for turns in range(6):
        task = asyncio.ensure_future(read_all(store))
        await asyncio.sleep(0.0005 * turns)
        task.cancel()
        await asyncio.wait((task,))
    async for _ in store.read():
        break
    assert [envelope.id for envelope in await read_all(store)] == [f"e{number}" for number in range(300)]
    await store.append([entry_line("new")])
    assert store.version == 301


async def test_a_line_that_grows_over_several_looks_is_taken_once_it_is_whole(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """F-81, F-88"""
    monkeypatch.setattr(jsonl_reader, "CHUNK", 50)
    path = session_file(entry_line("a"))
    store = await open_store(path)
    await read_all(store)
    line = entry_line("b", text="𝄞" * 100) + b"\n" + entry_line("c") + b"\n"
    for start in range(0, len(line), 37):
        with path.open("ab") as file:
            file.write(line[start : start + 37])
        assert await store.check() is True
        await read_all(store)
        whole = (line[: start + 37] + b"\n").count(b"}\n")
        assert store.version in (whole, whole + 1)
        assert [fault.kind for fault in store.faults] in ([], ["malformed"])
    assert (store.version, store.faults) == (3, [])
