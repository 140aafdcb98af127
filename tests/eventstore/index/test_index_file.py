"""An index file is whole, or as none, or says that it is damaged."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiontree.eventstore.errors import IndexDamagedError
from sessiontree.eventstore.index import index_file
from sessiontree.eventstore.index.coverage import Coverage, LinePlace, line_place, sampled
from sessiontree.eventstore.index.index_file import IndexFile
from sessiontree.eventstore.index.index_writer import IndexWriter
from sessiontree.eventstore.index.packed import pack, unpack

WriteIndex = Callable[..., Awaitable[Path]]


async def fill(writer: IndexWriter) -> None:
    await writer.add("part", [b"x" * 200])


def with_directory(path: Path, **fields: Any) -> None:
    """Write another directory, with a footer that fits."""
    file = IndexFile.open(path)
    assert file is not None
    end = max(offset + size for offset, size in file._directory.parts.values())
    changed = msgspec.to_builtins(file._directory, builtin_types=(bytes,)) | fields
    data = msgspec.msgpack.encode({key: value for key, value in changed.items() if value is not None})
    footer = index_file._FOOTER.pack(end, len(data), crc32(data), index_file._MAGIC)
    path.write_bytes(path.read_bytes()[:end] + data + footer)


async def test_a_whole_file_is_read(write_index: WriteIndex) -> None:
    """ADR 9: parts, coverage and state."""
    file = IndexFile.open(await write_index(fill, small={"a": 1}))
    assert file is not None
    assert file.read(*file.part("part")) == b"x" * 200
    assert file.state("small", dict[str, int]) == {"a": 1}
    assert file.damage is None


@pytest.mark.parametrize(
    "fields",
    [
        {"format": 2},
        {"format": None},
        {"coverage": [1]},
        {"checksums": b"abc"},
        {"checksums": b""},
        {"parts": {"part": (0, 1 << 40)}},
        {"parts": 5},
    ],
)
async def test_another_format_is_as_none(write_index: WriteIndex, fields: dict[str, Any]) -> None:
    """ADR 9: newer ones, and directories that cannot be."""
    path = await write_index(fill)
    with_directory(path)
    assert IndexFile.open(path) is not None
    with_directory(path, **fields)
    assert IndexFile.open(path) is None


async def test_what_is_missing_or_of_another_kind_is_damage(write_index: WriteIndex) -> None:
    """ADR 9: the index is removed, and says so."""
    path = await write_index(fill, small={"a": 1})
    file = IndexFile.open(path)
    assert file is not None
    for ask in (lambda: file.part("other"), lambda: file.state("other", int), lambda: file.state("small", list[int])):
        with pytest.raises(IndexDamagedError):
            ask()
        assert not path.exists()
    assert file.damage is not None
    assert "has no part other" in str(file.damage)


@pytest.mark.parametrize("how", ["changed", "cut", "unreadable"])
async def test_a_block_that_is_another_is_damage(
    write_index: WriteIndex, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 9: met where it is read, not before."""
    path = await write_index(fill)
    file = IndexFile.open(path)
    assert file is not None
    assert file.read(0, 10) == b"x" * 10
    match how:
        case "changed":
            with path.open("r+b") as other:
                other.seek(100)
                other.write(b"y")
        case "cut":
            os.truncate(path, 100)
        case _:

            def fail(*_: object) -> bytes:
                raise OSError(5, "Input/output error")

            monkeypatch.setattr(os, "pread", fail)
    assert file.read(20, 10) == b"x" * 10
    with pytest.raises(IndexDamagedError):
        file.read(90, 20)
    monkeypatch.undo()
    assert not path.exists()


async def test_a_file_that_was_replaced_or_removed_is_read_on(write_index: WriteIndex) -> None:
    """ADR 9: deleting it is always safe."""
    path = await write_index(fill)
    file = IndexFile.open(path)
    assert file is not None
    other = path.with_suffix(".new")
    other.write_bytes(b"text")
    other.replace(path)
    assert file.read(0, 200) == b"x" * 200
    path.unlink()
    assert file.read(0, 200) == b"x" * 200


async def test_the_next_index_is_not_removed_for_the_one_before(write_index: WriteIndex) -> None:
    """ADR 9: what is damaged is the file that was opened, not what stands in its place."""
    path = await write_index(fill)
    file = IndexFile.open(path)
    assert file is not None
    (await write_index(fill)).replace(path)
    with pytest.raises(IndexDamagedError):
        file.part("other")
    assert IndexFile.open(path) is not None


def test_what_was_not_published_is_not_there(tmp_path: Path) -> None:
    """ADR 9: whole, or not at all."""
    IndexWriter(tmp_path / "one.idx").close()
    assert list(tmp_path.iterdir()) == []


@given(
    value=st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()), st.lists)
)
def test_what_is_packed_comes_back(value: Any) -> None:
    """ADR 9: every value that a line of JSON can hold."""
    assert repr(unpack(pack(value), Any)) == repr(value)


def test_numbers_stay_keys_and_kinds_are_looked_at() -> None:
    """ADR 9: also where msgpack cannot carry a value."""
    assert unpack(pack({1: "\ud800"}), dict[int, str]) == {1: "\ud800"}
    for data in (pack({1: "\ud800"}), pack({1: "a"}), b"", b"\xc1", b"\xc1{"):
        with pytest.raises(ValueError, match=r".*"):
            unpack(data, list[int])


def test_the_last_entry_is_always_a_witness() -> None:
    """ADR 9: sixteen, spread over all of them."""
    assert sampled(0) == []
    for count in (1, 2, 15, 16, 17, 1000):
        seqs = sampled(count)
        assert len(seqs) == len(set(seqs)) == min(count, 16)
        assert (min(seqs) >= 1, seqs[-1]) == (True, count)


def test_a_long_line_is_looked_at_from_its_end(tmp_path: Path) -> None:
    """D6: a line of ten megabytes costs what one of 64 kB does."""
    path = tmp_path / "lines"
    path.write_bytes(b"a" * 100_000 + b"b" * 65_536)
    with path.open("rb") as file:
        place = line_place(file.fileno(), 0, 165_536)
        assert (place.offset, place.length) == (100_000, 65_536)
        assert line_place(file.fileno(), place.offset, place.length) == place


@pytest.mark.parametrize(
    ("change", "standing"),
    [
        ({}, "same"),
        ({"inode": 1}, "other"),
        ({"device": 1}, "other"),
        ({"mtime_ns": 1}, "other"),
        ({"ctime_ns": 1}, "same"),
        ({"ctime_ns": 1, "witnesses": [LinePlace(0, 5, b"")]}, "other"),
        ({"witnesses": [LinePlace(0, 5, b"")]}, "same"),
        ({"looked_at_ns": 0, "witnesses": [LinePlace(0, 5, b"")]}, "other"),
        ({"size": 9, "end": 9}, "grown"),
        ({"size": 9, "end": 9, "mtime_ns": 1}, "grown"),
        ({"size": 12, "end": 10, "mtime_ns": 1}, "same"),
        ({"size": 12, "end": 11}, "other"),
    ],
)
def test_what_an_index_covers_stands_or_not(tmp_path: Path, change: dict[str, Any], standing: str) -> None:
    """ADR 9: identity, size and times; lines where the times are not to be trusted."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"line\nline\n")
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        coverage = Coverage(
            device=found.st_dev,
            inode=found.st_ino,
            size=10,
            mtime_ns=found.st_mtime_ns,
            ctime_ns=found.st_ctime_ns,
            looked_at_ns=found.st_ctime_ns + 10**10,
            end=10,
            entry_count=1,
            witnesses=[line_place(file.fileno(), 0, 5)],
        )
        assert msgspec.structs.replace(coverage, **change).standing(file.fileno()) == standing
