"""When an index counts for the file as it is now (ADR 9)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionManager
from sessiontree.eventstore.header import BOM
from sessiontree.projections import session_index

WriteFile = Callable[..., Path]


def chain(count: int) -> list[dict[str, Any]]:
    return [{"id": f"e{number}", "parentId": f"e{number - 1}" if number else None} for number in range(count)]


def rewritten(data: bytes) -> bytes:
    """The same size with an entry of another id."""
    return data.replace(b'"e20"', b'"X20"')


async def index_long_after(indexes: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index was written well after the session."""
    stat = path.stat()
    monkeypatch.setattr("sessiontree.eventstore.jsonl_reader.time.time_ns", lambda: stat.st_ctime_ns + 10**10)
    await indexes.look(path)


async def test_the_same_file_is_trusted(indexes: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ADR 9: by size and times, no line is read."""
    await index_long_after(indexes, path, monkeypatch)
    monkeypatch.setattr("sessiontree.eventstore.index.coverage.line_place", lambda *_: pytest.fail("read"))
    assert await indexes.is_used(path)


@pytest.mark.parametrize("trusted", [False, True])
async def test_a_rewrite_of_the_same_size_is_found(
    indexes: Any, path: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool
) -> None:
    """ADR 9: by the time, however soon it comes, wherever it is."""
    await (index_long_after(indexes, path, monkeypatch) if trusted else indexes.look(path))
    path.write_bytes(rewritten(path.read_bytes()))
    async with await SessionManager.open(path) as session:
        assert session.has_entry("X20")
        assert not session.has_entry("e20")


async def test_a_touch_or_another_time_is_a_rewrite(indexes: Any, path: Path) -> None:
    """D5: the same size with another time."""
    await indexes.look(path)
    os.utime(path)
    assert not await indexes.is_used(path)


async def test_another_mode_makes_the_lines_be_read(indexes: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ADR 9: the times are not those of the look any more, the lines stand."""
    await index_long_after(indexes, path, monkeypatch)
    path.chmod(0o640)
    assert await indexes.is_used(path)


async def test_a_restored_time_hides_no_edit_of_a_witness(
    indexes: Any, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 9: the ctime cannot be set."""
    await index_long_after(indexes, path, monkeypatch)
    stat = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"e39"', b'"X39"'))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert not await indexes.is_used(path)


async def test_times_soon_after_a_write_are_not_trusted(
    indexes: Any, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 9: a write within the same tick of the clock leaves all times as they were."""
    await indexes.look(path)
    looked: list[int] = []
    monkeypatch.setattr(
        "sessiontree.eventstore.index.coverage.line_place",
        lambda fd, offset, length: looked.append(offset),
    )
    assert not await indexes.is_used(path)
    assert looked


async def test_an_edited_body_is_found_when_it_is_read(
    indexes: Any, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 9, D2: an edit in the middle of a file that also grew, at no witness."""
    await index_long_after(indexes, path, monkeypatch)
    data = path.read_bytes()
    path.write_bytes(
        data.replace(b'"id": "e20"', b'"id": "X20"') + data.splitlines(keepends=True)[-1].replace(b"39", b"40")
    )
    async with await SessionManager.open(path) as session:
        entry = (await session.get_entries())[20]
        assert entry.id == "X20"


@pytest.mark.parametrize("change", ["renamed", "cut", "title slot"])
async def test_another_file_is_scanned(indexes: Any, write_file: WriteFile, change: str) -> None:
    """ADR 9: another inode, fewer bytes, or other bytes before the header of a file that grew."""
    path = write_file(chain(40))
    slot = b'{"type":"title","v":1,"title":"%s","updatedAt":"","pad":""}\n'
    path.write_bytes(BOM + slot % b"old" + path.read_bytes())
    await indexes.look(path)
    assert await indexes.is_used(path)
    data = path.read_bytes()
    match change:
        case "renamed":
            other = path.with_suffix(".new")
            other.write_bytes(data)
            other.replace(path)
        case "cut":
            os.truncate(path, len(data) - len(data.splitlines(keepends=True)[-1]))
        case _:
            path.write_bytes(data.replace(b'"old"', b'"new"') + data.splitlines(keepends=True)[-1])
    async with await SessionManager.open(path, read_only=True) as session:
        assert session.session_name == ("new" if change == "title slot" else "old")
        assert session.entry_count == (39 if change == "cut" else 40)
    index = session._log._index
    assert index is not None
    assert index._file is None


async def test_what_was_rewritten_since_it_was_scanned_is_not_indexed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 9: an index of other bytes would stand for these."""
    monkeypatch.setattr(session_index, "PAYS_FROM", 1 << 30)
    session = await SessionManager.open(path)
    path.write_bytes(rewritten(path.read_bytes()))
    monkeypatch.setattr(session_index, "PAYS_FROM", 1)
    await session.close()
    async with await SessionManager.open(path) as session:
        assert session.has_entry("X20")
        assert not session.has_entry("e20")
