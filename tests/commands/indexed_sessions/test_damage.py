"""An index that is not as it was written (ADR 9)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import IndexDamagedError, SessionManager, SessionRewrittenError
from sessiontree.eventstore.index.places import place_in_cache

USER = {"role": "user", "content": "new"}


def rewritten(data: bytes) -> bytes:
    """The same size with an entry of another id."""
    return data.replace(b'"e20"', b'"X20"')


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


@pytest.mark.parametrize("writing", [False, True])
@pytest.mark.parametrize("read", READS.values(), ids=READS)
async def test_who_reads_is_answered(indexes: Any, path: Path, read: Read, writing: bool) -> None:
    """ADR 9: the session is loaded anew, below the lock of one that writes; then all is as ever."""
    await indexes.look(path)
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
    assert await indexes.is_used(path)


async def test_an_entry_that_was_written_is_acknowledged(
    indexes: Any, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D4: damage that is met when it is folded keeps nobody from the answer; the lock is kept."""
    await indexes.look(path)
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
async def test_what_answers_at_once_raises_and_a_refresh_helps(indexes: Any, path: Path, writing: bool) -> None:
    """ADR 9: nothing is written in between."""
    await indexes.look(path)
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
    indexes: Any, path: Path, monkeypatch: pytest.MonkeyPatch, position: int
) -> None:
    """ADR 9: damage that is met by opening it, or by what was appended since."""
    await indexes.look(path)
    with path.open("ab") as file:
        file.write(b'{"type":"custom","id":"new","parentId":"e3","timestamp":"t"}\n' * position)
    data = bytearray(place_in_cache(path).read_bytes())
    data[:200] = bytes(200)
    place_in_cache(path).write_bytes(data)
    async with await SessionManager.open(path) as session:
        assert session.entry_count == 40 + position
        assert session.generation == 0
    assert await indexes.is_used(path)


async def test_a_writer_whose_file_was_rewritten_too_raises(indexes: Any, path: Path) -> None:
    """D5: what was rewritten is not taken for what was there."""
    await indexes.look(path)
    async with await SessionManager.open(path) as session:
        await session.acquire()
        spoil(session)
        path.write_bytes(rewritten(path.read_bytes()))
        with pytest.raises(SessionRewrittenError, match="was rewritten"):
            await session.get_entries()


async def test_an_index_of_before_the_last_load_is_an_error(indexes: Any, path: Path) -> None:
    """ADR 9: who still looks at the old columns is not helped by loading again and again."""
    await indexes.look(path)
    async with await SessionManager.open(path) as session:
        old = session.columns
        spoil(session)
        await session.get_entries()

        async def read() -> int:
            return old.find("e7")

        with pytest.raises(IndexDamagedError):
            await session._log.reading(read)
        assert session.generation == 1
