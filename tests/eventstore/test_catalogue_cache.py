"""What a listing remembers: only in the user's cache directory, only while a file is as it was."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sessiontree import SessionInfo, list_sessions
from sessiontree.eventstore import catalogue
from sessiontree.eventstore.catalogue_cache import CatalogueCache
from sessiontree.projections import listing

SessionFile = Callable[..., Path]
Line = Callable[..., bytes]


@pytest.fixture
def sessions(session_file: SessionFile, header_line: Line, entry_line: Line, tmp_path: Path) -> Path:
    """Five small sessions and a damaged file."""
    for number in range(5):
        lines = [entry_line(f"e{at}", timestamp=f"2026-02-16T10:{number:02}:00.000Z") for at in range(number + 1)]
        session_file(*lines, name=f"sessions/{number}.jsonl", header=header_line(id=f"s{number}"))
    (tmp_path / "sessions" / "damaged.jsonl").write_bytes(b"garbage")
    return tmp_path / "sessions"


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files that were described or scanned; whoever looks clears it."""
    seen: list[str] = []
    describe, count = catalogue.describe, listing.count

    def note_describe(path: Path, stamp: Any) -> Any:
        seen.append(path.stem)
        return describe(path, stamp)

    async def note_count(info: SessionInfo, *arguments: Any) -> SessionInfo:
        seen.append("scan " + info.path.stem)
        return await count(info, *arguments)

    monkeypatch.setattr(catalogue, "describe", note_describe)
    monkeypatch.setattr(listing, "count", note_count)
    return seen


def state(directory: Path) -> dict[str, tuple[bytes, int, int]]:
    found = {".": (b"", directory.stat().st_mtime_ns, 0)}
    for path in directory.rglob("*"):
        status = path.stat()
        found[str(path)] = path.read_bytes(), status.st_mtime_ns, status.st_ino
    return found


async def test_listing_leaves_the_sessions_directory_as_it_was(sessions: Path, tmp_path: Path) -> None:
    """F-92, D5: no byte, no time, no file more; what is remembered is in `XDG_CACHE_HOME`."""
    before = state(sessions)
    first = await list_sessions(sessions)
    assert await list_sessions(sessions) == first
    assert state(sessions) == before
    [cache] = (tmp_path / "cache" / "sessiontree").iterdir()
    assert cache == CatalogueCache(sessions).path
    assert stat.S_IMODE(cache.parent.stat().st_mode) == 0o700
    assert not (tmp_path / "home").exists()


async def test_what_was_found_out_is_not_looked_at_again(sessions: Path, looked_at: list[str]) -> None:
    """F-92"""
    infos = await list_sessions(sessions)
    assert [info.message_count for info in infos] == [5, 4, 3, 2, 1, None]
    assert len(looked_at) == 6 + 5
    looked_at.clear()
    assert await list_sessions(sessions) == infos
    assert looked_at == ["damaged"]


@pytest.mark.parametrize("change", ["size", "time", "inode"])
async def test_a_file_that_changed_is_looked_at_again(
    sessions: Path, entry_line: Line, looked_at: list[str], change: str
) -> None:
    """F-92: the stamp is size, time and inode."""
    await list_sessions(sessions)
    looked_at.clear()
    path = sessions / "2.jsonl"
    before = path.stat()
    if change == "inode":
        path.with_suffix(".new").write_bytes(path.read_bytes())
        os.replace(path.with_suffix(".new"), path)
    elif change == "size":
        path.write_bytes(path.read_bytes() + entry_line("more") + b"\n")
    times = before.st_mtime_ns + (1000 if change == "time" else 0)
    os.utime(path, ns=(times, times))
    infos = await list_sessions(sessions)
    assert looked_at == ["2", "damaged", "scan 2"]
    assert {info.path.stem: info.message_count for info in infos}["2"] == (4 if change == "size" else 3)


async def test_new_files_come_in_and_removed_ones_go(sessions: Path, looked_at: list[str]) -> None:
    """F-92"""
    await list_sessions(sessions)
    looked_at.clear()
    (sessions / "new.jsonl").write_bytes((sessions / "1.jsonl").read_bytes())
    (sessions / "0.jsonl").unlink()
    names = [info.path.stem for info in await list_sessions(sessions)]
    assert (sorted(names), looked_at) == (["1", "2", "3", "4", "damaged", "new"], ["damaged", "new", "scan new"])
    known = await CatalogueCache(sessions).load()
    assert {path.stem for path in known} == {*names}


async def test_only_the_printed_rows_are_scanned_and_none_of_them_twice(sessions: Path, looked_at: list[str]) -> None:
    """F-92: the newest so many; the others stay known by their header."""
    infos = await list_sessions(sessions, limit=2)
    assert [info.message_count for info in infos] == [5, 4, None, None, None, None]
    looked_at.clear()
    infos = await list_sessions(sessions, limit=3)
    assert [info.message_count for info in infos][:4] == [5, 4, 3, None]
    assert looked_at == ["damaged", "scan 2"]


async def test_a_list_of_one_working_directory_forgets_no_other(
    sessions: Path, session_file: SessionFile, header_line: Line, looked_at: list[str]
) -> None:
    """F-92"""
    session_file(name="sessions/other.jsonl", header=header_line(id="other", cwd="/other"))
    await list_sessions(sessions)
    looked_at.clear()
    assert [info.path.stem for info in await list_sessions(sessions, cwd="/other")] == ["other"]
    session_file(name="sessions/other2.jsonl", header=header_line(id="other2", cwd="/other"))
    assert len(await list_sessions(sessions, cwd="/other")) == 2
    assert looked_at == ["damaged", "damaged", "other2", "scan other2"]
    looked_at.clear()
    assert len(await list_sessions(sessions)) == 8
    assert looked_at == ["damaged"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"garbage",
        b"{}",
        b"[]",
        b"null",
        b'{"format":1}',
        b'{"format":1,"sessions":[5]}',
        b'{"format":1,"sessions":[{"path":5}]}',
        b'{"format":1,"sessions":[{"path":"/x","stamp":[1,2],"size":1,"modified":"2026-02-16T10:00:00Z"}]}',
        b'{"format":1,"sessions":[{"path":"/x","stamp":[1,2,3],"size":1,"modified":"yesterday"}]}',
        b"[" * 100_000,
        b"\xff" * 100,
        None,
    ],
    ids=lambda content: str(content)[:30],
)
async def test_a_damaged_cache_is_ignored_and_replaced(
    sessions: Path, looked_at: list[str], content: bytes | None
) -> None:
    """D7: deleting it is always safe, and so is anything else that happens to it."""
    infos = await list_sessions(sessions)
    cache = CatalogueCache(sessions).path
    whole = cache.read_bytes()
    cache.write_bytes(content if content is not None else whole[: len(whole) // 2])
    looked_at.clear()
    assert await list_sessions(sessions) == infos
    assert len(looked_at) == 11
    looked_at.clear()
    assert await list_sessions(sessions) == infos
    assert (looked_at, [path.name for path in cache.parent.iterdir()]) == (["damaged"], [cache.name])


async def test_a_cache_of_another_format_is_not_used(sessions: Path, looked_at: list[str]) -> None:
    infos = await list_sessions(sessions)
    cache = CatalogueCache(sessions).path
    content = msgspec.json.decode(cache.read_bytes())
    cache.write_bytes(msgspec.json.encode({**content, "format": 999}))
    looked_at.clear()
    assert await list_sessions(sessions) == infos
    assert len(looked_at) == 11


async def test_a_fault_is_not_remembered(sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-92: what the system refused today it may allow tomorrow, without a change of the file."""
    real_open = os.open

    def refuse(path: Any, *arguments: Any, **options: Any) -> int:
        if str(path).endswith("3.jsonl"):
            raise PermissionError(13, "Permission denied", str(path))
        return real_open(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        infos = await list_sessions(sessions)
        assert [info.path.stem for info in infos if info.fault is None] == ["4", "2", "1", "0"]
    infos = await list_sessions(sessions)
    assert [info.message_count for info in infos if info.fault is None] == [5, 4, 3, 2, 1]


async def test_a_list_without_a_cache_is_right_all_the_same(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-92: where the cache directory cannot be written, or a path is no text."""
    (tmp_path / "cache").write_text("in the way")
    (sessions / os.fsdecode(b"\xff.jsonl")).write_bytes((sessions / "1.jsonl").read_bytes())
    for _ in range(2):
        assert len(await list_sessions(sessions)) == 7
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache2"))
    for _ in range(2):
        assert len(await list_sessions(sessions)) == 7


def test_each_sessions_directory_has_its_own_cache(sessions: Path, tmp_path: Path) -> None:
    """D5: keyed by the resolved path."""
    (tmp_path / "link").symlink_to(sessions)
    assert CatalogueCache(sessions).path == CatalogueCache(tmp_path / "link").path
    assert CatalogueCache(sessions).path != CatalogueCache(sessions / "sub").path


def test_without_the_variable_the_cache_is_in_the_home(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert CatalogueCache(sessions).path.parent == tmp_path / "home" / ".cache" / "sessiontree"


async def test_300_small_sessions_are_listed_with_their_names_and_counts(
    session_file: SessionFile, header_line: Line, entry_line: Line, tmp_path: Path
) -> None:
    """F-92"""
    for number in range(300):
        lines = [
            entry_line("a"),
            entry_line("b", "a"),
            entry_line("n", "a", type="session_info", name=f"name {number}"),
        ]
        session_file(*lines, b"{torn", name=f"many/{number:03}.jsonl", header=header_line(id=f"s{number}"))
    for _ in range(2):
        infos = await list_sessions(tmp_path / "many")
        assert [info.id for info in infos] == [f"s{number}" for number in range(300)]
        assert {(info.message_count, info.branch_count, info.fault_count) for info in infos} == {(2, 2, 1)}
        assert [info.name for info in infos] == [f"name {number}" for number in range(300)]
