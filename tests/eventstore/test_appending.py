"""What stands in the file after an append: behind torn lines, and beside other programs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.errors import ConcurrencyError, SessionRewrittenError
from sessiontree.eventstore.jsonl_store import JsonlEventStore

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
SessionFile = Callable[..., Path]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]
Check = Callable[[JsonlEventStore], Awaitable[None]]
DiskOf = Callable[[Path], Any]


def ids(envelopes: list[Envelope]) -> list[str]:
    return [envelope.id for envelope in envelopes]


def known(store: JsonlEventStore) -> tuple[list[int], list[tuple[int, str]]]:
    """Line numbers of all entries, and the faults, as the store has them."""
    return (
        [store.line_number(seq) for seq in range(1, store.version + 1)],
        [(fault.line, fault.kind) for fault in store.faults],
    )


@pytest.fixture(params=[True, False], ids=["synced", "unsynced"])
def durable(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


# Behind what stands there


async def test_a_torn_tail_gets_its_newline_and_stays(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, durable: bool, check_against_the_file: Check
) -> None:
    """F-81, D4: nothing is glued to it; it is reported."""
    path = session_file(entry_line("a"))
    with path.open("ab") as file:
        file.write(entry_line("torn")[:-9])
    before = path.read_bytes()
    store = await open_store(path, durable=durable)
    batch = await store.append([entry_line("b"), entry_line("c")])
    assert (batch.first_seq, ids(batch.envelopes)) == (2, ["b", "c"])
    await store.append([entry_line("d")])
    assert path.read_bytes() == before + b"".join(b"\n" + entry_line(name) for name in "bcd") + b"\n"
    assert known(store) == ([2, 4, 5, 6], [(3, "malformed")])
    await check_against_the_file(store)


@pytest.mark.parametrize("blank", [b"", b"  ", b"\r"])
async def test_a_last_line_without_newline_is_an_entry_and_is_appended_to(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    durable: bool,
    check_against_the_file: Check,
    blank: bytes,
) -> None:
    """F-81"""
    path = session_file(entry_line("a"))
    with path.open("ab") as file:
        file.write(entry_line("b") + blank)
    before = path.read_bytes()
    store = await open_store(path, durable=durable)
    assert ids(await read_all(store)) == ["a", "b"]
    assert (path.read_bytes(), await store.check()) == (before, False)
    await store.append([entry_line("c")])
    assert path.read_bytes() == before + b"\n" + entry_line("c") + b"\n"
    assert known(store) == ([2, 3, 4], [])
    await check_against_the_file(store)


async def test_a_header_without_newline_is_appended_to(
    tmp_path: Path,
    header_line: Line,
    entry_line: Line,
    open_store: OpenStore,
    durable: bool,
    check_against_the_file: Check,
) -> None:
    """F-81"""
    path = tmp_path / "session.jsonl"
    path.write_bytes(header_line())
    store = await open_store(path, durable=durable)
    await store.append([entry_line("a")])
    assert path.read_bytes() == header_line() + b"\n" + entry_line("a") + b"\n"
    assert known(store) == ([2], [])
    await check_against_the_file(store)


async def test_a_torn_tail_that_its_program_completes_becomes_an_entry(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    check_against_the_file: Check,
) -> None:
    """F-81: a reader that looks in the middle of a write sees the rest later."""
    path = session_file(entry_line("a"))
    line = entry_line("b") + b"\n"
    store = await open_store(path)
    for end in (0, 10, len(line) - 2):
        with path.open("ab") as file:
            file.write(line[end : {0: 10, 10: len(line) - 2}.get(end, len(line))])
        await read_all(store)
        assert store.version == (2 if end > 10 else 1)
    assert known(store) == ([2, 3], [])
    await check_against_the_file(store)


# Beside other programs


@pytest.mark.parametrize("ends", [b"\n", b""])
async def test_what_others_appended_is_taken_in_first(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    durable: bool,
    check_against_the_file: Check,
    ends: bytes,
) -> None:
    """D4, D5: programs that take no lock may write between two appends."""
    path = session_file(entry_line("a"))
    store = await open_store(path, durable=durable)
    await read_all(store)
    await store.append([entry_line("b")])
    with path.open("ab") as file:
        file.write(b"{torn\n" + entry_line("x") + b"\n" + entry_line("y") + ends)
    with pytest.raises(ConcurrencyError) as caught:
        await store.append([entry_line("c")], expected_version=2)
    assert (caught.value.expected, caught.value.actual) == (2, 4)
    batch = await store.append([entry_line("c")])
    assert (batch.first_seq, ids(batch.envelopes), ids(await read_all(store))) == (5, ["c"], ["a", "b", "x", "y", "c"])
    assert known(store) == ([2, 3, 5, 6, 7], [(4, "malformed")])
    await check_against_the_file(store)


@pytest.mark.parametrize("tail", ["", "torn", "whole"])
async def test_what_others_append_between_the_look_and_the_write_is_taken_in_too(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    durable: bool,
    disk_of: DiskOf,
    check_against_the_file: Check,
    tail: str,
) -> None:
    """D4: our place is where the write ended, less its length."""
    path = session_file(entry_line("a"))
    with path.open("ab") as file:
        file.write({"": b"", "torn": b'{"type":', "whole": entry_line("t")}[tail])
    before = path.read_bytes()
    disk = disk_of(path)
    store = await open_store(path, durable=durable)
    await store.append([])
    foreign = b"\n" * bool(tail) + entry_line("x") + b"\n{torn\n"
    disk.before_write = lambda: disk.foreign(foreign)
    batch = await store.append([entry_line("b")])
    assert ids(batch.envelopes) == ["b"]
    assert path.read_bytes() == before + foreign + b"\n" * bool(tail) + entry_line("b") + b"\n"
    await store.append([entry_line("c")])
    await check_against_the_file(store)


async def test_the_newline_that_another_program_gives_our_last_line_is_no_line_of_its_own(
    session_file: SessionFile,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    check_against_the_file: Check,
) -> None:
    """F-81"""
    path = session_file(entry_line("a"))
    path.write_bytes(path.read_bytes()[:-1])
    store = await open_store(path)
    await read_all(store)
    for more in (b"\n", entry_line("b") + b"\n", entry_line("c"), b"\n" + entry_line("d")):
        with path.open("ab") as file:
            file.write(more)
        assert await store.check() is True
        await read_all(store)
        await check_against_the_file(store)
    assert known(store) == ([2, 3, 4, 5], [])


async def test_a_last_line_that_another_program_makes_longer_is_a_rewrite(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """D5: the known last line has to stand unchanged."""
    path = session_file(entry_line("a"))
    path.write_bytes(path.read_bytes()[:-1])
    store = await open_store(path)
    await read_all(store)
    with path.open("ab") as file:
        file.write(entry_line("welded") + b"\n")
    before = path.read_bytes()
    with pytest.raises(SessionRewrittenError):
        await read_all(store)
    with pytest.raises(SessionRewrittenError):
        await store.append([entry_line("b")])
    assert path.read_bytes() == before
