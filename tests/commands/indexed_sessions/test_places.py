"""Where an index is written, and what may stand there: beside the session only by who appended to it (ADR 9)."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionManager
from sessiontree.eventstore.catalogue import catalogue
from sessiontree.eventstore.index import index_writer
from sessiontree.eventstore.index.places import place_beside, place_in_cache

WriteFile = Callable[..., Path]
USER = {"role": "user", "content": "new"}


def chain(count: int) -> list[dict[str, Any]]:
    return [{"id": f"e{number}", "parentId": f"e{number - 1}" if number else None} for number in range(count)]


def snapshot(directory: Path) -> list[tuple[str, bytes, int]]:
    found = [(file.name, file.read_bytes(), file.stat().st_mtime_ns) for file in sorted(directory.iterdir())]
    return [*found, ("", b"", directory.stat().st_mtime_ns)]


async def test_a_look_leaves_the_directory_as_it_was(indexes: Any, path: Path) -> None:
    """ADR 9, D5: the index is in the cache, for its user's eyes alone."""
    before = snapshot(path.parent)
    await indexes.look(path)
    assert await indexes.is_used(path)
    assert snapshot(path.parent) == before
    place = place_in_cache(path)
    assert place.stat().st_mode & 0o777 == 0o600
    assert place.parent.stat().st_mode & 0o777 == 0o700


async def test_who_appended_writes_it_beside(indexes: Any, path: Path) -> None:
    """ADR 9: it covers more than the one in the cache, and is the one that counts."""
    async with await SessionManager.open(path) as session:
        await session.append_message(USER)
    assert place_beside(path).stat().st_mode & 0o777 == 0o600
    async with await SessionManager.open(path) as session:
        assert indexes.covered(session) == path.stat().st_size
        assert session.entry_count == 41
    assert indexes.leftovers(path.parent.parent) == []


async def test_a_new_session_has_one_when_it_is_closed(indexes: Any, tmp_path: Path) -> None:
    """ADR 9: nothing was scanned, all of it was appended."""
    async with await SessionManager.create(cwd="/p", sessions_dir=tmp_path / "sessions") as session:
        ids = [await session.append_message(USER) for _ in range(3)]
        path = Path(str(session.session_file))
    assert place_beside(path).exists()
    async with await SessionManager.open(path) as session:
        assert indexes.covered(session) == path.stat().st_size
        assert session.path_ids() == ids


async def test_an_older_version_has_one_once_it_is_migrated(indexes: Any, write_file: WriteFile) -> None:
    """F-105, ADR 9: what is indexed is the file, and that is of version 3 then."""
    path = write_file(chain(5), version=2)
    await indexes.look(path)
    assert not await indexes.is_used(path)
    async with await SessionManager.open(path) as session:
        await session.append_message(USER)
        expected = [repr(entry) for entry in await session.get_entries()]
    assert await indexes.is_used(path)
    async with await SessionManager.open(path) as session:
        assert [repr(entry) for entry in await session.get_entries()] == expected


async def test_a_link_leads_to_the_index_of_its_session(indexes: Any, path: Path, tmp_path: Path) -> None:
    """D5: the resolved path is the key."""
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    async with await SessionManager.open(link) as session:
        await session.append_message(USER)
    assert place_beside(path).exists()
    assert not place_beside(link).exists()
    assert await indexes.is_used(path)


async def test_an_index_is_no_session(path: Path, tmp_path: Path) -> None:
    """F-92: lists, the newest session and forks pass over it."""
    async with await SessionManager.open(path) as session:
        await session.append_message(USER)
    assert place_beside(path).exists()
    assert [info.path for info in await catalogue(path.parent)] == [path]
    async with await SessionManager.continue_recent("/p", path.parent) as session:
        assert session.session_file == str(path)
    async with await SessionManager.fork_from(path, "/p", tmp_path / "forks") as fork:
        assert fork.entry_ids() == [f"e{number}" for number in range(40)] + [str(session.leaf_id)]


async def test_a_place_that_cannot_be_written_is_left_alone(
    indexes: Any, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 9: without a cache and without a home the session works."""
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", os.devnull)
    await indexes.look(path)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    async with await SessionManager.open(path) as session:
        assert session.entry_count == 40
    assert not await indexes.is_used(path)


async def test_a_removed_directory_is_not_made_again(path: Path) -> None:
    """D7: nothing comes back that somebody removed."""
    session = await SessionManager.open(path)
    await session.append_message(USER)
    path.unlink()
    for left in path.parent.iterdir():
        left.unlink()
    path.parent.rmdir()
    await session.close()
    assert not path.parent.exists()


@pytest.mark.parametrize("kind", ["directory", "pipe", "empty", "text", "unreadable"])
async def test_what_is_no_index_is_as_none(indexes: Any, path: Path, kind: str) -> None:
    """ADR 9: whatever stands in its place."""
    place = place_beside(path)
    match kind:
        case "directory":
            place.mkdir()
        case "pipe":
            os.mkfifo(place)
        case "unreadable":
            place.touch(mode=0)
        case _:
            place.write_bytes(b"" if kind == "empty" else b"text\n" * 100)
    async with await SessionManager.open(path) as session:
        assert indexes.covered(session) == 0
        await session.append_message(USER)
    assert await indexes.is_used(path) or kind == "directory"
    assert indexes.leftovers(path.parent) == []


async def test_a_full_disk_leaves_nothing_behind(indexes: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ADR 9: what was written is removed, the session is as it was."""

    class Full:
        def __getattr__(self, name: str) -> Any:
            return getattr(os, name)

        def write(self, fd: int, data: memoryview) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(index_writer, "os", Full())
        async with await SessionManager.open(path) as session:
            await session.append_message(USER)
    assert indexes.leftovers(path.parent.parent) == []
    assert not place_beside(path).exists()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
    try:
        await indexes.look(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert indexes.leftovers(path.parent.parent) == []
    assert not place_in_cache(path).exists()


async def test_the_cache_keeps_what_was_written_last(
    indexes: Any, path: Path, write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 9: at most so many bytes."""
    await indexes.look(path)
    monkeypatch.setattr("sessiontree.eventstore.index.places._MOST_CACHED", place_in_cache(path).stat().st_size)
    os.utime(place_in_cache(path), ns=(10**18, 10**18))
    other = write_file(chain(10), name="other.jsonl")
    await indexes.look(other)
    assert not place_in_cache(path).exists()
    assert place_in_cache(other).exists()
