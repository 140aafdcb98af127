"""Sessions with an index: where it is written, when it counts, and what happens when it is damaged (ADR 9)."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import IndexDamagedError, SessionManager, SessionRewrittenError
from sessiontree.eventstore.catalogue import catalogue
from sessiontree.eventstore.index import index_writer
from sessiontree.eventstore.index.places import place_beside, place_in_cache
from sessiontree.projections import session_index

WriteFile = Callable[..., Path]
USER = {"role": "user", "content": "new"}


@pytest.fixture(autouse=True)
def pays_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Small sessions are indexed too, in a cache of the test's own."""
    monkeypatch.setattr(session_index, "PAYS_FROM", 1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def chain(count: int) -> list[dict[str, Any]]:
    return [{"id": f"e{number}", "parentId": f"e{number - 1}" if number else None} for number in range(count)]


@pytest.fixture
def path(write_file: WriteFile) -> Path:
    """A session of 40 entries, written long ago."""
    path = write_file(chain(40))
    os.utime(path, ns=(10**18, 10**18))
    return path


async def look(path: Path) -> None:
    """Open a session and close it: then it is indexed."""
    async with await SessionManager.open(path):
        pass


def covered(session: SessionManager) -> int:
    """Bytes of the session that came from an index, or are in one now."""
    index = session._log._index
    assert index is not None
    return index.covered


async def is_used(path: Path) -> bool:
    """Tell whether a session would begin with an index."""
    session = await SessionManager.open(path, read_only=True)
    index = session._log._index
    assert index is not None
    used = index._file is not None
    await session.close()
    return used


def snapshot(directory: Path) -> list[tuple[str, bytes, int]]:
    found = [(file.name, file.read_bytes(), file.stat().st_mtime_ns) for file in sorted(directory.iterdir())]
    return [*found, ("", b"", directory.stat().st_mtime_ns)]


def leftovers(directory: Path) -> list[str]:
    return [file.name for file in directory.rglob("*") if file.name.endswith(".tmp")]


class TestPlaces:
    """Beside the session only by who appended to it."""

    async def test_a_look_leaves_the_directory_as_it_was(self, path: Path) -> None:
        """ADR 9, D5: the index is in the cache, for its user's eyes alone."""
        before = snapshot(path.parent)
        await look(path)
        assert await is_used(path)
        assert snapshot(path.parent) == before
        place = place_in_cache(path)
        assert place.stat().st_mode & 0o777 == 0o600
        assert place.parent.stat().st_mode & 0o777 == 0o700

    async def test_who_appended_writes_it_beside(self, path: Path) -> None:
        """ADR 9: it covers more than the one in the cache, and is the one that counts."""
        async with await SessionManager.open(path) as session:
            await session.append_message(USER)
        assert place_beside(path).stat().st_mode & 0o777 == 0o600
        async with await SessionManager.open(path) as session:
            assert covered(session) == path.stat().st_size
            assert session.entry_count == 41
        assert leftovers(path.parent.parent) == []

    async def test_a_link_leads_to_the_index_of_its_session(self, path: Path, tmp_path: Path) -> None:
        """D5: the resolved path is the key."""
        link = tmp_path / "link.jsonl"
        link.symlink_to(path)
        async with await SessionManager.open(link) as session:
            await session.append_message(USER)
        assert place_beside(path).exists()
        assert not place_beside(link).exists()
        assert await is_used(path)

    async def test_an_index_is_no_session(self, path: Path, tmp_path: Path) -> None:
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
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """ADR 9: without a cache and without a home the session works."""
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", os.devnull)
        await look(path)
        monkeypatch.delenv("HOME")
        monkeypatch.setattr(os.path, "expanduser", lambda path: path)
        async with await SessionManager.open(path) as session:
            assert session.entry_count == 40
        assert not await is_used(path)

    async def test_a_removed_directory_is_not_made_again(self, path: Path) -> None:
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
    async def test_what_is_no_index_is_as_none(self, path: Path, kind: str) -> None:
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
            assert covered(session) == 0
            await session.append_message(USER)
        assert await is_used(path) or kind == "directory"
        assert leftovers(path.parent) == []

    async def test_a_full_disk_leaves_nothing_behind(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        assert leftovers(path.parent.parent) == []
        assert not place_beside(path).exists()
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
        try:
            await look(path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert leftovers(path.parent.parent) == []
        assert not place_in_cache(path).exists()

    async def test_the_cache_keeps_what_was_written_last(
        self, path: Path, write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """ADR 9: at most so many bytes."""
        await look(path)
        monkeypatch.setattr("sessiontree.eventstore.index.places._MOST_CACHED", place_in_cache(path).stat().st_size)
        os.utime(place_in_cache(path), ns=(10**18, 10**18))
        other = write_file(chain(10), name="other.jsonl")
        await look(other)
        assert not place_in_cache(path).exists()
        assert place_in_cache(other).exists()


def rewritten(data: bytes) -> bytes:
    """The same size with an entry of another id."""
    return data.replace(b'"e20"', b'"X20"')


class TestCoverage:
    """When an index counts."""

    async def indexed(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The index was written well after the session."""
        stat = path.stat()
        monkeypatch.setattr("sessiontree.eventstore.jsonl_reader.time.time_ns", lambda: stat.st_ctime_ns + 10**10)
        await look(path)

    async def test_the_same_file_is_trusted(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """ADR 9: by size and times, no line is read."""
        await self.indexed(path, monkeypatch)
        monkeypatch.setattr("sessiontree.eventstore.index.coverage.line_place", lambda *_: pytest.fail("read"))
        assert await is_used(path)

    @pytest.mark.parametrize("trusted", [False, True])
    async def test_a_rewrite_of_the_same_size_is_found(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool
    ) -> None:
        """ADR 9: by the time, however soon it comes, wherever it is."""
        await (self.indexed(path, monkeypatch) if trusted else look(path))
        path.write_bytes(rewritten(path.read_bytes()))
        async with await SessionManager.open(path) as session:
            assert covered(session) == 0 or session.has_entry("X20")
            assert session.has_entry("X20")
            assert not session.has_entry("e20")

    async def test_a_touch_or_another_time_is_a_rewrite(self, path: Path) -> None:
        """D5: the same size with another time."""
        await look(path)
        os.utime(path)
        assert not await is_used(path)

    async def test_another_mode_makes_the_lines_be_read(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """ADR 9: the times are not those of the look any more, the lines stand."""
        await self.indexed(path, monkeypatch)
        path.chmod(0o640)
        assert await is_used(path)

    async def test_a_restored_time_hides_no_edit_of_a_witness(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """ADR 9: the ctime cannot be set."""
        await self.indexed(path, monkeypatch)
        stat = path.stat()
        path.write_bytes(path.read_bytes().replace(b'"e39"', b'"X39"'))
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert not await is_used(path)

    async def test_times_soon_after_a_write_are_not_trusted(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """ADR 9: a write within the same tick of the clock leaves all times as they were."""
        await look(path)
        looked: list[int] = []
        monkeypatch.setattr(
            "sessiontree.eventstore.index.coverage.line_place",
            lambda fd, offset, length: looked.append(offset),
        )
        assert not await is_used(path)
        assert looked

    async def test_an_edited_body_is_found_when_it_is_read(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """ADR 9, D2: an edit in the middle of a file that also grew, at no witness."""
        await self.indexed(path, monkeypatch)
        data = path.read_bytes()
        path.write_bytes(
            data.replace(b'"id": "e20"', b'"id": "X20"') + data.splitlines(keepends=True)[-1].replace(b"39", b"40")
        )
        async with await SessionManager.open(path) as session:
            entry = (await session.get_entries())[20]
            assert entry.id == "X20"

    @pytest.mark.parametrize("change", ["renamed", "cut", "title slot"])
    async def test_another_file_is_scanned(self, write_file: WriteFile, change: str) -> None:
        """ADR 9: another inode, fewer bytes, or other bytes before the header of a file that grew."""
        path = write_file(chain(40))
        slot = b'{"type":"title","v":1,"title":"%s","updatedAt":"","pad":""}\n'
        path.write_bytes(slot % b"old" + path.read_bytes())
        await look(path)
        assert await is_used(path)
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
        self, path: Path, monkeypatch: pytest.MonkeyPatch
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


class TestConcurrency:
    """What happens while an index is written."""

    async def test_cancelled_wherever_it_is_it_leaves_nothing_half_written(
        self, path: Path, walk: Callable[..., Awaitable[tuple[Any, bool]]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """ADR 9: at every step of the writing."""
        monkeypatch.setattr("sessiontree.eventstore.turns._TURN", -1)
        monkeypatch.setattr(session_index, "PAYS_FROM", 1 << 30)
        async with await SessionManager.open(path) as session:
            index = session._log._index
            assert index is not None
            for step in range(1000):
                outcome, reached = await walk(index.write(beside=False), step, lambda task: task.cancel())
                assert leftovers(path.parent.parent) == []
                if not reached:
                    break
                assert isinstance(outcome, asyncio.CancelledError)
            assert not reached
            assert step > 40
        assert await is_used(path)

    async def test_a_cancelled_writing_is_nobodys_error(self, path: Path) -> None:
        """F-115: the session closes as ever."""
        session = await SessionManager.open(path)
        indexing = session._log._indexing
        assert indexing is not None
        indexing.cancel()
        await session.close()
        assert indexing.cancelled()

    async def test_appends_go_on_while_an_index_is_written(self, path: Path) -> None:
        """D4: nobody waits for it."""
        async with await SessionManager.open(path) as session:
            for _ in range(5):
                await session.append_message(USER)
            session.branch("e3")
            await session.append_message(USER)
            expected = session.entry_ids()
        async with await SessionManager.open(path) as session:
            assert session.entry_ids() == expected
            assert covered(session) == path.stat().st_size

    async def test_two_that_index_the_same_session_do_not_disturb_each_other(self, path: Path) -> None:
        """ADR 9: each writes a file of its own, and the last one counts."""
        sessions = await asyncio.gather(*(SessionManager.open(path) for _ in range(4)))
        await asyncio.gather(*(session.close() for session in sessions))
        assert await is_used(path)
        assert leftovers(path.parent.parent) == []

    async def test_an_index_that_was_removed_or_replaced_is_read_on(self, path: Path) -> None:
        """ADR 9: deleting it is always safe."""
        await look(path)
        async with await SessionManager.open(path) as session:
            place_in_cache(path).unlink()
            assert session.path_ids() == [f"e{number}" for number in range(40)]
            assert session.child_ids("e5") == ["e6"]


def spoil(session: SessionManager) -> None:
    """From now on no block of the index is as it was written."""
    index = session._log._index
    assert index is not None
    file = index._file
    assert file is not None
    file._blocks.clear()
    file._checksums = memoryview(bytes(file._checksums.nbytes)).cast("I")


Read = Callable[[SessionManager], Awaitable[Any]]

READS: dict[str, Read] = {
    "get_entry": lambda session: session.get_entry("e7"),
    "get_entries": lambda session: session.get_entries(),
    "get_line": lambda session: session.get_line("e7"),
    "get_children": lambda session: session.get_children("e7"),
    "get_branch": lambda session: session.get_branch("e7"),
    "get_tree": lambda session: session.get_tree(),
    "build_session_context": lambda session: session.build_session_context("e7"),
}


class TestDamage:
    """A block that is not as it was written."""

    @pytest.mark.parametrize("writing", [False, True])
    @pytest.mark.parametrize("read", READS.values(), ids=READS)
    async def test_who_reads_is_answered(self, path: Path, read: Read, writing: bool) -> None:
        """ADR 9: the session is loaded anew, below the lock of one that writes; then all is as ever."""
        await look(path)
        before = path.read_bytes()
        async with await SessionManager.open(path) as session:
            if writing:
                await session.acquire()
            spoil(session)
            found = await read(session)
            assert session.generation == 1
            assert path.read_bytes() == before
            assert not place_in_cache(path).exists()
            assert repr(found) == repr(await read(session))
            assert session.leaf_id == "e39"
            await session.append_message(USER)
            assert session.path_ids()[:40] == [f"e{number}" for number in range(40)]
        assert path.read_bytes().startswith(before)
        assert path.read_bytes().count(b"\n") == 42
        assert await is_used(path)

    async def test_an_entry_that_was_written_is_acknowledged(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """D4: damage that is met when it is folded keeps nobody from the answer; the lock is kept."""
        await look(path)
        async with await SessionManager.open(path) as session:
            index = session._log._index
            column: Any = session._log.projector.states._record_at
            assert index is not None

            def take_block(number: int) -> None:
                assert index._file is not None
                raise index._file.damaged("was changed")

            monkeypatch.setattr(column._stored, "_take_block", take_block)
            entry_id = await session.append_message(USER)
            assert session.generation == 1
            assert session.leaf_id == entry_id
            other = await session.append_message(USER)
            assert session.path_ids()[-3:] == ["e39", entry_id, other]
            async with await SessionManager.open(path) as second:
                with pytest.raises(Exception, match="is being written"):
                    await second.append_message(USER)
        assert path.read_bytes().count(b"\n") == 43

    @pytest.mark.parametrize("writing", [False, True])
    async def test_what_answers_at_once_raises_and_a_refresh_helps(self, path: Path, writing: bool) -> None:
        """ADR 9: nothing is written in between."""
        await look(path)
        before = path.read_bytes()
        async with await SessionManager.open(path) as session:
            if writing:
                await session.acquire()
            spoil(session)
            with pytest.raises(IndexDamagedError, match="is not as it was written"):
                session.child_ids("e7")
            with pytest.raises(IndexDamagedError):
                await session.append_message(USER)
            assert path.read_bytes() == before
            assert await session.refresh()
            assert session.child_ids("e7") == ["e8"]
            await session.append_message(USER)
        assert path.read_bytes().count(b"\n") == 42

    @pytest.mark.parametrize("position", [0, 1])
    async def test_a_session_opens_whatever_its_index_holds(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, position: int
    ) -> None:
        """ADR 9: damage that is met by opening it, or by what was appended since."""
        await look(path)
        with path.open("ab") as file:
            file.write(b'{"type":"custom","id":"new","parentId":"e3","timestamp":"t"}\n' * position)
        data = bytearray(place_in_cache(path).read_bytes())
        data[:200] = bytes(200)
        place_in_cache(path).write_bytes(data)
        async with await SessionManager.open(path) as session:
            assert session.entry_count == 40 + position
            assert session.generation == 0
        assert await is_used(path)

    async def test_a_writer_whose_file_was_rewritten_too_raises(self, path: Path) -> None:
        """D5: what was rewritten is not taken for what was there."""
        await look(path)
        async with await SessionManager.open(path) as session:
            await session.acquire()
            spoil(session)
            path.write_bytes(rewritten(path.read_bytes()))
            with pytest.raises(SessionRewrittenError, match="was rewritten"):
                await session.get_entries()

    async def test_an_index_of_before_the_last_load_is_an_error(self, path: Path) -> None:
        """ADR 9: who still looks at the old columns is not helped by loading again and again."""
        await look(path)
        async with await SessionManager.open(path) as session:
            old = session.columns
            spoil(session)
            await session.get_entries()

            async def read() -> int:
                return old.find("e7")

            with pytest.raises(IndexDamagedError):
                await session._log.reading(read)
            assert session.generation == 1
