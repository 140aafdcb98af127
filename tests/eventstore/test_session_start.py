"""Where a session begins: what may stand before its header, and what is no session at all."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore.errors import NotASessionError, SessionFileError, SessionNotFoundError
from sessiontree.eventstore.header import HEADER_LIMIT, encode_header
from sessiontree.eventstore.jsonl_store import JsonlEventStore

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Any]]]


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("slot", ["no slot", "slot", "slot with CRLF"])
@pytest.mark.parametrize("damage", [b"", b"\n\r\n  \n", b'{"type":"sess\n\x00\x00\nnull\n[1]\nlog: started\n'])
async def test_a_mark_a_slot_blank_and_damaged_lines_before_the_header_are_passed_over(
    tmp_path: Path,
    header_line: Line,
    title_slot: Line,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    bom: bytes,
    slot: str,
    damage: bytes,
) -> None:
    """F-81, F-84, F-85: counted, reported, left in the file."""
    path = tmp_path / "session.jsonl"
    ends = {"no slot": b"", "slot": title_slot() + b"\n", "slot with CRLF": title_slot() + b"\r\n"}
    start = bom + ends[slot] + damage
    path.write_bytes(start + header_line() + b"\n" + entry_line("a") + b"\n")
    store = await open_store(path)
    assert [envelope.id for envelope in await read_all(store)] == ["a"]
    lines = start.count(b"\n")
    assert store.line_number(1) == lines + 2
    first = start[: len(start) - len(damage)].count(b"\n") + 1
    kinds = ["malformed", "malformed", "not-object", "not-object", "malformed"] if b"log" in damage else []
    assert [(fault.line, fault.kind) for fault in store.faults] == list(enumerate(kinds, first))
    await store.append([entry_line("b")])
    assert path.read_bytes() == start + b"".join(
        line + b"\n" for line in (header_line(), entry_line("a"), entry_line("b"))
    )


@pytest.mark.parametrize("size", [70_000, 300_000, HEADER_LIMIT - 1])
async def test_a_header_line_may_be_long(
    session_file: Callable[..., Path],
    header_line: Line,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    size: int,
) -> None:
    """F-92 as settled: up to 1 MiB with its newline."""
    header = header_line(systemPrompt="")
    header = header_line(systemPrompt="x" * (size - len(header)))
    assert len(header) == size
    store = await open_store(session_file(entry_line("a"), header=header))
    assert [envelope.id for envelope in await read_all(store)] == ["a"]
    await store.append([entry_line("b")])
    assert await store.read_lines([2, 1]) == [entry_line("b"), entry_line("a")]


async def test_a_header_beyond_1_mib_is_none(
    session_file: Callable[..., Path], header_line: Line, entry_line: Line, open_store: OpenStore
) -> None:
    """F-82 as settled"""
    with pytest.raises(NotASessionError):
        await open_store(session_file(entry_line("a"), header=header_line(systemPrompt="x" * HEADER_LIMIT)))


# What is no session


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"\n\n", 1),
        (b" ", 1),
        (b"\x00" * 5000, 1),
        (b"hello\nworld\n", 1),
        (b"{}\n", 1),
        (b'{"type":"session","version":3}\n', 1),
        (b'{"type":"session","version":3,"id":7}\n', 1),
        (b'{"type":"message","id":"a","parentId":null}\n', 1),
        (b'{"type":"session","version":3,"id":"s"', 1),
        (b'garbage\n{"type":"config","id":"x"}\n', 2),
        (b'\n\n{"name":"package"}', 3),
        (b"\x89PNG\r\n\x1a\n\x00\x00", 1),
    ],
)
async def test_a_file_that_is_no_session_is_refused_and_left_alone(
    tmp_path: Path, open_store: OpenStore, content: bytes, line: int
) -> None:
    """F-82, F-89 as settled, X-43, X-45: the error names the file and the line; nothing is written, ever."""
    path = tmp_path / "other.jsonl"
    path.write_bytes(content)
    before = path.stat()
    with pytest.raises(NotASessionError, match=r"other\.jsonl: line \d+: not a session file") as caught:
        await open_store(path)
    assert (caught.value.path, caught.value.line) == (path, line)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (content, before.st_mtime_ns)
    assert list(tmp_path.iterdir()) == [path]


async def test_a_path_that_does_not_exist_is_an_error(tmp_path: Path, open_store: OpenStore) -> None:
    """F-80, F-90 as settled"""
    for name in ("no/such.jsonl", "nul\0in-it.jsonl"):
        with pytest.raises(SessionNotFoundError) as caught:
            await open_store(tmp_path / name)
        assert isinstance(caught.value, FileNotFoundError)
    assert list(tmp_path.iterdir()) == []


async def test_a_directory_a_pipe_and_a_file_as_a_directory_are_errors(
    tmp_path: Path, open_store: OpenStore, session_file: Callable[..., Path]
) -> None:
    """F-89, D14"""
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name in ("", "pipe.jsonl"):
        with pytest.raises(NotASessionError, match=r"is a directory|is no regular file"):
            await open_store(tmp_path / name)
    with pytest.raises((SessionNotFoundError, SessionFileError)):
        await open_store(session_file() / "below.jsonl")
    with pytest.raises(SessionFileError):
        await open_store(tmp_path / ("x" * 300 + ".jsonl"))


async def test_who_only_looks_needs_no_header_for_an_empty_file(tmp_path: Path) -> None:
    """F-80 as settled: there is none to be seen."""
    path = tmp_path / "empty.jsonl"
    path.touch()
    store = await JsonlEventStore.open(path)
    assert (store.header.id, store.header.timestamp, store.header.cwd, store.version) == ("", "", None, 0)
    await store.close()


async def test_an_empty_file_is_a_new_session_there(
    tmp_path: Path, open_store: OpenStore, entry_line: Line, read_all: ReadAll
) -> None:
    """F-80 as settled, F-110: nothing is written before the first append."""
    path = tmp_path / "empty.jsonl"
    path.touch()
    store = await open_store(path)
    assert (store.version, store.header.cwd, path.stat().st_size) == (0, "/proj/demo", 0)
    await store.append([entry_line("a")])
    assert path.read_bytes() == encode_header(store.header) + b"\n" + entry_line("a") + b"\n"
    second = await open_store(path)
    assert second.header == store.header
    assert [envelope.id for envelope in await read_all(second)] == ["a"]
