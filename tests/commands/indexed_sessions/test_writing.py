"""What happens while an index is written (ADR 9)."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionManager
from sessiontree.eventstore.index.places import place_in_cache
from sessiontree.projections import session_index

WriteFile = Callable[..., Path]
USER = {"role": "user", "content": "new"}


def chain(count: int) -> list[dict[str, Any]]:
    return [{"id": f"e{number}", "parentId": f"e{number - 1}" if number else None} for number in range(count)]


def rewritten(data: bytes) -> bytes:
    """The same size with an entry of another id."""
    return data.replace(b'"e20"', b'"X20"')


async def test_cancelled_wherever_it_is_it_leaves_nothing_half_written(
    indexes: Any, path: Path, walk: Callable[..., Awaitable[tuple[Any, bool]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 9: at every step of the writing."""
    monkeypatch.setattr("sessiontree.eventstore.turns._TURN", -1)
    monkeypatch.setattr(session_index, "PAYS_FROM", 1 << 30)
    async with await SessionManager.open(path) as session:
        index = session._log._index
        assert index is not None
        for step in range(1000):
            outcome, reached = await walk(index.write(beside=False), step, lambda task: task.cancel())
            assert indexes.leftovers(path.parent.parent) == []
            if not reached:
                break
            assert isinstance(outcome, asyncio.CancelledError)
        assert not reached
        assert step > 40
    assert await indexes.is_used(path)


async def test_a_cancelled_writing_is_nobodys_error(path: Path) -> None:
    """F-115: the session closes as ever."""
    session = await SessionManager.open(path)
    indexing = session._log._indexing
    assert indexing is not None
    indexing.cancel()
    await session.close()
    assert indexing.cancelled()


async def test_appends_go_on_while_an_index_is_written(indexes: Any, path: Path) -> None:
    """D4: nobody waits for it."""
    async with await SessionManager.open(path) as session:
        for _ in range(5):
            await session.append_message(USER)
        session.branch("e3")
        await session.append_message(USER)
        expected = session.entry_ids()
    async with await SessionManager.open(path) as session:
        assert session.entry_ids() == expected
        assert indexes.covered(session) == path.stat().st_size


async def test_two_that_index_the_same_session_do_not_disturb_each_other(indexes: Any, path: Path) -> None:
    """ADR 9: each writes a file of its own, and the last one counts."""
    sessions = await asyncio.gather(*(SessionManager.open(path) for _ in range(4)))
    await asyncio.gather(*(session.close() for session in sessions))
    assert await indexes.is_used(path)
    assert indexes.leftovers(path.parent.parent) == []


async def test_two_processes_that_index_the_same_session_do_not_disturb_each_other(indexes: Any, path: Path) -> None:
    """ADR 9: the same between processes."""
    script = (
        "import asyncio, sys\n"
        "from sessiontree import SessionManager\n"
        "from sessiontree.projections import session_index\n"
        "session_index.PAYS_FROM = 1\n"
        "async def look():\n"
        "    await (await SessionManager.open(sys.argv[1])).close()\n"
        "asyncio.run(look())\n"
    )
    running = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", script, str(path), stderr=asyncio.subprocess.PIPE)
        for _ in range(2)
    ]
    for process in running:
        _, errors = await process.communicate()
        assert (process.returncode, errors) == (0, b"")
    assert await indexes.is_used(path)
    assert indexes.leftovers(path.parent.parent) == []


@pytest.mark.parametrize("step", range(0, 60, 6))
async def test_a_rewrite_while_an_index_is_written_gives_no_wrong_answer(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """ADR 9, D5: the session loads the new file, and no index of the old one stands for it."""
    monkeypatch.setattr("sessiontree.eventstore.turns._TURN", -1)
    async with await SessionManager.open(path) as session:
        for _ in range(step):
            await asyncio.sleep(0)
        path.write_bytes(rewritten(path.read_bytes()))
        os.utime(path)
        session.branch("e5")
        assert await session.refresh()
        assert session.leaf_id == "e5"
        assert session.has_entry("X20")
    async with await SessionManager.open(path) as session:
        assert session.has_entry("X20")
        assert not session.has_entry("e20")


async def test_others_get_their_turn_all_along(
    indexes: Any, write_file: WriteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D6: no part is made of a thousand items at once, the far children and the records neither."""
    entries = chain(3000)
    for number in range(2, 3000):
        entries[number]["parentId"] = f"e{number - 2}"
        entries[number]["message"] = {"role": "assistant", "provider": "p", "model": f"m{number}", "content": []}
    path = write_file(entries)
    monkeypatch.setattr(session_index, "PAYS_FROM", 1 << 30)
    async with await SessionManager.open(path) as session:
        index = session._log._index
        assert index is not None
        monkeypatch.setattr("sessiontree.eventstore.turns._TURN", -1)
        turns = 0
        writing = asyncio.ensure_future(index.write(beside=False))
        while not writing.done():
            await asyncio.sleep(0)
            turns += 1
    # Twice for the hash of each id, once for its text and for each record, and for each slice of the columns.
    assert turns > 4 * 3000
    assert await indexes.is_used(path)


async def test_an_index_that_was_removed_or_replaced_is_read_on(indexes: Any, path: Path) -> None:
    """ADR 9: deleting it is always safe."""
    await indexes.look(path)
    async with await SessionManager.open(path) as session:
        place_in_cache(path).unlink()
        assert session.path_ids() == [f"e{number}" for number in range(40)]
        assert session.child_ids("e5") == ["e6"]
