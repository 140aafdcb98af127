"""A file that another program rewrote: readers load it anew, writers refuse (design D5)."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionEntry, SessionManager, SessionNotFoundError, SessionRewrittenError, SessionTreeError

Make = Callable[..., Awaitable[SessionManager]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def chain(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


def replaced(path: Path, data: bytes) -> None:
    new = path.with_suffix(".new")
    new.write_bytes(data)
    os.replace(new, path)


def in_place(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    stat = path.stat()
    # Whatever the resolution of the file system's clock is.
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1_000_000_000))


REWRITES = pytest.mark.parametrize("rewrite", [replaced, in_place])
Rewrite = Callable[[Path, bytes], None]


@pytest.fixture
async def path(make_file: Make) -> Path:
    """A closed session with the chain `a`, `b`, `c`."""
    session = await make_file()
    await chain(session, "a", "b", "c")
    await session.close()
    return Path(str(session.session_file))


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


async def scanned(session: SessionManager) -> list[SessionEntry]:
    return [entry async for entry in session.scan_entries(["a", "b"])]


READS: dict[str, Callable[[SessionManager], Awaitable[Any]]] = {
    "refresh": lambda session: session.refresh(),
    "get_entry": lambda session: session.get_entry("a"),
    "get_entries": lambda session: session.get_entries(),
    "scan_entries": scanned,
    "get_branch": lambda session: session.get_branch(),
    "get_tree": lambda session: session.get_tree(),
    "get_children": lambda session: session.get_children("a"),
    "context": lambda session: session.build_session_context(),
    "get_line": lambda session: session.get_line("a"),
}


@REWRITES
async def test_a_reader_loads_a_rewritten_file_anew_and_keeps_its_leaf_by_id(path: Path, rewrite: Rewrite) -> None:
    """D5: cursors too; where its entry is gone the leaf is the last one."""
    async with await SessionManager.open(path) as session:
        session.branch("b")
        gone, empty = session.cursor("c"), session.cursor(None)
        header, a, b, _ = lines_of(path)
        new = json.dumps({"type": "custom", "customType": "x", "id": "d", "parentId": "a", "timestamp": None})
        rewrite(path, header + a + b + new.encode() + b"\n")
        assert await session.refresh()
        assert (session.generation, session.leaf_id, session.entry_ids()) == (1, "b", ["a", "b", "d"])
        assert (gone.leaf_id, empty.leaf_id) == ("d", None)
        assert session.child_ids("a") == ["b", "d"]
        assert not await session.refresh()
        assert session.generation == 1


@pytest.mark.parametrize("name", READS)
async def test_whatever_is_read_first_finds_the_rewrite(path: Path, name: str) -> None:
    """D2, D5: bodies that are no longer where they were are never answered."""
    async with await SessionManager.open(path) as session:
        header, a, *rest = lines_of(path)
        longer = a.replace(b'"content":"a"', b'"content":"another text"')
        replaced(path, header + longer + b"".join(rest))
        await READS[name](session)
        if name == "refresh" or session.generation:
            assert session.generation == 1
        entry: Any = await session.get_entry("a")
        await session.refresh()
        entry = await session.get_entry("a")
        assert entry.message == user("another text")
        assert session.path_ids() == ["a", "b", "c"]


@pytest.mark.parametrize("name", [name for name in READS if name != "refresh"])
async def test_a_changed_line_is_noticed_by_who_reads_it(path: Path, name: str) -> None:
    """D2: the newlines around a line, and its id, witness that it still stands there."""
    async with await SessionManager.open(path) as session:
        header, a, *rest = lines_of(path)
        in_place(path, header + b"\n\n\n" + a + b"".join(rest))
        await READS[name](session)
        assert session.generation == 1
        assert session.path_ids() == ["a", "b", "c"]


async def test_many_reads_at_once_load_a_rewritten_file_once(path: Path) -> None:
    """D5: `generation` counts rewrites."""
    async with await SessionManager.open(path) as session:
        header, a, *rest = lines_of(path)
        in_place(path, header + b"\n\n\n" + a + b"".join(rest))
        await asyncio.gather(*(read(session) for read in READS.values()))
        assert session.generation == 1


@REWRITES
async def test_a_writer_refuses_to_go_on_after_a_rewrite(make_file: Make, rewrite: Rewrite) -> None:
    """D5: nothing is written, the leaf falls back, and opening again is the way on."""
    session = await make_file()
    await chain(session, "a", "b")
    path = Path(str(session.session_file))
    header, a, _ = lines_of(path)
    rewrite(path, header + a)
    for attempt in (chain(session, "c"), session.refresh()):
        with pytest.raises(SessionRewrittenError) as caught:
            await attempt
        assert caught.value.path == path
        assert isinstance(caught.value, SessionTreeError)
    assert path.read_bytes() == header + a
    assert (session.leaf_id, session.generation) == ("b", 0)
    await session.close()
    async with await SessionManager.open(path) as again:
        await chain(again, "c")
        assert again.path_ids() == ["a", "c"]


@REWRITES
async def test_a_first_append_after_a_rewrite_is_refused(path: Path, rewrite: Rewrite) -> None:
    """D5: the writer appends to what it knows, or not at all."""
    async with await SessionManager.open(path) as session:
        header, a, *_ = lines_of(path)
        rewrite(path, header + a)
        with pytest.raises(SessionRewrittenError):
            await chain(session, "d")
        assert path.read_bytes() == header + a
        assert session.leaf_id == "c"
        async with await SessionManager.open(path) as other:
            await chain(other, "d")


async def test_a_file_that_was_removed_is_never_made_again(path: Path) -> None:
    """D5, D7: appending would leave a session without its beginning."""
    async with await SessionManager.open(path) as session:
        path.unlink()
        with pytest.raises(SessionRewrittenError):
            await chain(session, "d")
        assert not path.exists()
    with pytest.raises(SessionNotFoundError):
        await SessionManager.open(path)


async def test_a_reader_of_a_file_that_was_removed_is_told(path: Path) -> None:
    async with await SessionManager.open(path) as session:
        path.unlink()
        with pytest.raises(SessionTreeError):
            await session.refresh()
        assert session.path_ids() == ["a", "b", "c"]


async def test_growth_is_no_rewrite(path: Path) -> None:
    """D5: header and last known line stand where they stood."""
    async with await SessionManager.open(path) as session:
        with path.open("ab") as file:
            file.write(b'{"type":"custom","customType":"x","id":"d","parentId":"c","timestamp":null}\n')
        assert await session.refresh()
        assert (session.generation, session.entry_count) == (0, 4)


async def test_a_migration_of_our_own_is_no_rewrite(write_file: Callable[..., Path]) -> None:
    """D5, F-105."""
    path = write_file([{"id": "x"}, {"id": "y"}], version=1)
    async with await SessionManager.open(path) as session:
        await chain(session, "c", "d")
        assert not await session.refresh()
        assert (session.generation, session.entry_count) == (0, 4)


async def test_a_new_session_whose_file_another_program_made_refuses_to_write(tmp_path: Path) -> None:
    """D5, D7."""
    path = tmp_path / "empty.jsonl"
    path.touch()
    async with await SessionManager.open(path) as session:
        path.write_text('{"type":"session","version":3,"id":"theirs","timestamp":"2026-01-05T10:00:00.000Z"}\n')
        before = path.read_bytes()
        with pytest.raises(SessionRewrittenError):
            await chain(session, "a")
        assert path.read_bytes() == before


async def test_reads_go_on_while_the_session_is_loaded_anew(make_file: Make) -> None:
    """D5: whoever reads meanwhile gets the old content or the new, and no error."""
    writer = await make_file()
    await chain(writer, "a", "b")
    path = Path(str(writer.session_file))
    await writer.close()
    reader = await SessionManager.open(path, read_only=True)
    stop = False

    async def keep_reading() -> int:
        count = 0
        while not stop:
            assert len(await reader.get_entries()) == 2
            assert [entry.id for entry in await reader.get_branch()] == ["a", "b"]
            count += 1
            await asyncio.sleep(0)
        return count

    tasks = [asyncio.ensure_future(keep_reading()) for _ in range(4)]
    for _ in range(10):
        replaced(path, path.read_bytes())
        await reader.refresh()
        await asyncio.sleep(0.002)
    stop = True
    assert all([await task for task in tasks])
    assert reader.generation == 10
    await reader.close()


async def test_many_readers_of_one_rewrite_load_it_once(make_file: Make) -> None:
    """D5: one rewrite, one generation."""
    writer = await make_file()
    await chain(writer, "a", "b")
    path = Path(str(writer.session_file))
    await writer.close()
    reader = await SessionManager.open(path, read_only=True)
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"a"', b'"c"'))
    await asyncio.gather(*(reader.get_entries() for _ in range(20)))
    assert reader.generation == 1
    await reader.close()
