"""`follow` and `refresh`: what others append, as it comes (the contract, design D5)."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import AbortController, AbortError, EntryNotFoundError, SessionClosedError, SessionManager

Make = Callable[..., Awaitable[SessionManager]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def chain(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


async def take(session: SessionManager, count: int, after: str | None = None) -> list[str]:
    """The ids of the next entries that a follower sees."""
    found: list[str] = []
    controller = AbortController()
    with pytest.raises(AbortError):
        async with asyncio.timeout(20):
            async for entry in session.follow(after, signal=controller.signal):
                found.append(entry.id)
                if len(found) == count:
                    controller.abort()
    return found


@pytest.fixture
async def writer(make_file: Make) -> SessionManager:
    """A session with the entries `a` and `b`."""
    writer = await make_file()
    await chain(writer, "a", "b")
    return writer


@pytest.fixture
async def reader(writer: SessionManager) -> Any:
    """The same session, opened by another to read."""
    async with await SessionManager.open(str(writer.session_file)) as reader:
        yield reader


FOREIGN = b'{"type":"custom","customType":"x","id":"foreign","parentId":"a","timestamp":"2026-01-05T10:00:00.000Z"}\n'


def append_bytes(session: SessionManager, data: bytes) -> None:
    """Another program appends, and takes no lock."""
    with Path(str(session.session_file)).open("ab") as file:
        file.write(data)


def rewrite(session: SessionManager, rows: list[dict[str, Any]]) -> None:
    """Another program replaces the file."""
    path = Path(str(session.session_file))
    header = path.read_bytes().splitlines(keepends=True)[0]
    base = {"type": "message", "parentId": None, "timestamp": "2026-01-05T10:00:00.000Z"}
    lines = [json.dumps({**base, "message": user(row["id"]), **row}).encode() + b"\n" for row in rows]
    new = path.with_suffix(".new")
    new.write_bytes(header + b"".join(lines))
    os.replace(new, path)


async def test_a_follower_sees_what_others_append_from_now_on(writer: SessionManager, reader: SessionManager) -> None:
    """The contract of `follow`: whole entries, and no leaf moves."""
    cursor = reader.cursor("a")
    following = asyncio.ensure_future(take(reader, 3))
    await asyncio.sleep(0)
    await chain(writer, "c")
    await writer.append_thinking_level_change("high", entry_id="d")
    await chain(writer, "e")
    assert await following == ["c", "d", "e"]
    assert (reader.leaf_id, cursor.leaf_id) == ("b", "a")
    assert reader.path_ids("e") == ["a", "b", "c", "d", "e"]


async def test_a_follower_resumes_behind_the_last_entry_that_it_knows(
    writer: SessionManager, reader: SessionManager
) -> None:
    """The contract of `after`: an id as it was yielded."""
    assert await take(reader, 1, after="a") == ["b"]
    await chain(writer, "c", "d")
    assert await take(reader, 3, after="a") == ["b", "c", "d"]
    assert await take(reader, 1, after="c") == ["d"]


async def test_following_from_an_unknown_entry_is_refused(reader: SessionManager) -> None:
    with pytest.raises(EntryNotFoundError, match="nope"):
        await anext(reader.follow("nope"))


async def test_a_follower_does_not_see_what_is_appended_through_the_same_session(
    make_file: Make, writer: SessionManager
) -> None:
    """The contract: neither by the manager nor by its cursors."""
    path = str(writer.session_file)
    await writer.close()
    async with await SessionManager.open(path) as session:
        cursor = session.cursor("a")
        following = asyncio.ensure_future(take(session, 2, after="a"))
        await asyncio.sleep(0)
        await chain(session, "own")
        await cursor.append_message(user("own too"))
        append_bytes(session, FOREIGN)
        assert await following == ["b", "foreign"]
        assert session.leaf_id == "own"


async def test_a_follower_stops_when_it_is_aborted(reader: SessionManager) -> None:
    """D8: while it waits, with the reason; and at once where it is aborted already."""
    controller = AbortController()
    following = asyncio.ensure_future(anext(reader.follow(signal=controller.signal)))
    await asyncio.sleep(0.05)
    controller.abort("enough")
    for pending in (following, anext(reader.follow(signal=controller.signal))):
        with pytest.raises(AbortError) as caught:
            await pending
        assert caught.value.reason == "enough"


async def test_a_follower_hears_that_the_session_was_closed(reader: SessionManager) -> None:
    following = asyncio.ensure_future(anext(reader.follow()))
    await asyncio.sleep(0.05)
    await reader.close()
    with pytest.raises(SessionClosedError):
        await following


async def test_in_memory_nobody_else_appends() -> None:
    """F-117."""
    async with SessionManager.in_memory() as session:
        controller = AbortController()
        following = asyncio.ensure_future(anext(session.follow(signal=controller.signal)))
        await chain(session, "a", "b")
        await asyncio.sleep(0.05)
        assert not following.done()
        controller.abort()
        with pytest.raises(AbortError):
            await following


async def test_a_refresh_takes_in_what_others_appended_and_moves_no_leaf(
    writer: SessionManager, reader: SessionManager
) -> None:
    """D5."""
    assert not await reader.refresh()
    await chain(writer, "c")
    await writer.append_label_change("a", "mark")
    assert (reader.has_entry("c"), reader.labels) == (False, {})
    assert await reader.refresh()
    assert (reader.entry_count, reader.labels, reader.leaf_id, reader.generation) == (4, {"a": "mark"}, "b", 0)
    assert not await reader.refresh()


async def test_a_line_that_is_not_whole_yet_is_waited_for(writer: SessionManager, reader: SessionManager) -> None:
    """F-81: a torn tail is no entry until it is."""
    append_bytes(writer, FOREIGN[:30])
    await reader.refresh()
    assert not reader.has_entry("foreign")
    append_bytes(writer, FOREIGN[30:])
    assert await reader.refresh()
    assert (reader.path_ids("foreign"), reader.report.faults) == (["a", "foreign"], [])


async def test_a_writer_takes_in_what_was_appended_before_its_own(writer: SessionManager) -> None:
    """D4, D5: the lock keeps only those out who take it."""
    append_bytes(writer, FOREIGN)
    await chain(writer, "c")
    assert writer.entry_ids() == ["a", "b", "foreign", "c"]
    assert (writer.path_ids(), writer.generation) == (["a", "b", "c"], 0)


async def test_a_follower_goes_on_after_a_rewrite(writer: SessionManager, reader: SessionManager) -> None:
    """D5: behind the last entry that is still there; all of the new file where none is."""
    await writer.close()
    seen: list[str] = []
    async with asyncio.timeout(20):
        follower = reader.follow("b")
        rewrite(reader, [{"id": "x"}, {"id": "a"}, {"id": "c", "parentId": "a"}])
        seen.append((await anext(follower)).id)
        rewrite(reader, [{"id": "y"}, {"id": "z", "parentId": "y"}])
        seen += [(await anext(follower)).id, (await anext(follower)).id]
    assert seen == ["c", "y", "z"]
    assert (reader.generation, reader.leaf_id) == (2, "z")


async def test_following_from_a_number_of_entries(make_file: Make) -> None:
    """The contract of `follow`: from the start, where there is no entry to name yet."""
    writer = await make_file()
    for text in ("a", "b", "c"):
        await writer.append_message({"role": "user", "content": text})
    reader = await SessionManager.open(str(writer.session_file), read_only=True)
    for after, expected in ((0, ["a", "b", "c"]), (2, ["c"])):
        controller = AbortController()
        seen = []
        with pytest.raises(AbortError):
            async for entry in reader.follow(after, signal=controller.signal):
                seen.append(entry.message["content"])  # type: ignore[attr-defined]
                if len(seen) == len(expected):
                    controller.abort()
        assert seen == expected
    await reader.close()
    await writer.close()
