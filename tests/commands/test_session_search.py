"""Searching a whole session: what streams, and what stops it (D2, D5, D6, D8)."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AbortController,
    AbortError,
    SearchHit,
    SessionClosedError,
    SessionManager,
    SessionRewrittenError,
    searched_text,
)
from sessiontree.commands import session_search

Make = Callable[..., Awaitable[SessionManager]]
WriteFile = Callable[..., Path]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def hits(session: SessionManager, query: str) -> list[SearchHit]:
    return [hit async for hit in session.search(query)]


async def ids(session: SessionManager, query: str) -> list[str]:
    return [hit.id for hit in await hits(session, query)]


async def test_hits_come_in_file_order_with_the_place_and_the_text_around(session: SessionManager) -> None:
    first = await session.append_message(user("Where is the Größe defined?"))
    await session.append_message(user("nothing here"))
    second = await session.append_message(user(f"{'x ' * 40}GRÖSSE{' y' * 80}, where?"))
    await session.append_label_change(first, "where")
    assert await ids(session, "größe where") == [first, second]
    [_, hit] = await hits(session, "größe where")
    assert hit.position == 80
    assert hit.excerpt == "x " * 15 + "GRÖSSE" + " y" * 42
    entry = await session.get_entry(second)
    assert entry is not None and searched_text(entry)[hit.position :].startswith("GRÖSSE")


async def test_a_blank_query_and_an_empty_session_give_nothing(session: SessionManager) -> None:
    assert await ids(session, "x") == []
    await session.append_message(user("x"))
    assert await ids(session, " \t") == []
    assert len(await ids(session, "x")) == 1


async def test_the_entries_at_the_beginning_are_searched_not_those_that_come_meanwhile(
    session: SessionManager,
) -> None:
    await session.append_many([user("hit")] * 3)
    found = 0
    async for _ in session.search("hit"):
        found += 1
        await session.append_message(user("hit"))
    assert found == 3


async def test_damaged_lines_are_skipped_and_of_an_id_that_stands_again_the_last_counts(write_file: WriteFile) -> None:
    """F-81..F-87."""
    path = write_file([{"id": "a"}, {"id": "b", "message": user("old hit")}, {"id": "c"}])
    lines = path.read_bytes().splitlines()
    again = json.dumps({"type": "message", "id": "b", "parentId": "a", "message": user("new")}).encode()
    path.write_bytes(
        b"\n".join([*lines, b'{"hit', b"hit", b'{"type":"message","message":"hit"}', again, b'{"torn hit'])
    )
    async with await SessionManager.open(path) as session:
        assert await ids(session, "hit") == []
        assert await ids(session, "new") == ["b"]


@pytest.mark.parametrize("version", [1, 2])
async def test_older_versions_are_searched_as_version_3(write_file: WriteFile, version: int) -> None:
    """F-101..F-103."""
    hook = {"role": "hookMessage", "content": "from a hook"}
    path = write_file([{"id": "a"}, {"id": "b", "message": hook}], version=version)
    if version == 1:
        path.write_bytes(path.read_bytes().replace(b'"id": "a", ', b"").replace(b'"id": "b", ', b""))
    async with await SessionManager.open(path, read_only=True) as session:
        assert await ids(session, "hook FROM") == [session.entry_ids()[1]]


async def test_no_body_is_kept(make_file: Make) -> None:
    """D2: a search of a gigabyte leaves the cache of bodies as it was."""
    session = await make_file()
    await session.append_many([user("hit")] * 3)
    assert len(await ids(session, "hit")) == 3
    assert not session._log.reader._cache


async def test_lines_are_read_in_slices_of_bounded_size(make_file: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """D6: whatever the sizes of the lines, and every line once."""
    monkeypatch.setattr(session_search, "_AT_ONCE", 2000)
    monkeypatch.setattr(session_search, "_LARGE", 5000)
    session = await make_file(durability="os")
    sizes = [*[10] * 50, *[1000] * 5, 20_000, 6_000, *[10] * 50, 9_000, 10]
    await session.append_many([user("hit " + "x" * size) for size in sizes])
    asked: list[range] = []
    store: Any = type(session._log.store)
    read_now = store.read_lines_now

    def read(self: object, seqs: range) -> object:
        asked.append(seqs)
        return read_now(self, seqs)

    monkeypatch.setattr(store, "read_lines_now", read)
    assert await ids(session, "hit") == session.entry_ids()
    assert [seq for seqs in asked for seq in seqs] == list(range(1, len(sizes) + 1))
    assert max(map(len, asked)) <= 32
    assert await ids(session, "x" * 9_000) == [session.entry_ids()[55], session.entry_ids()[-2]]


async def test_where_the_disk_has_to_be_waited_for_it_is(make_file: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """D2."""
    session = await make_file()
    await session.append_many([user("hit")] * 3)
    monkeypatch.setattr(type(session._log.store), "read_lines_now", lambda *_: None)
    assert len(await ids(session, "hit")) == 3


@pytest.mark.parametrize("query", ["hit", "miss"])
async def test_other_tasks_run_between_slices_and_within_a_long_text(
    make: Make, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    """D6: a turn may end after every slice, and in a long text after every part."""
    session = await make()
    await session.append_many([user("hit")] * 20)
    await session.append_message(user("h i " * 50 + "hit"))
    monkeypatch.setattr("sessiontree.eventstore.turns._TURN", -1.0)
    monkeypatch.setattr("sessiontree.projections.search._PART", 10)
    monkeypatch.setattr(session_search, "_AT_ONCE", 300)
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(count_turns())
    assert len(await ids(session, query)) == (21 if query == "hit" else 0)
    task.cancel()
    assert turns >= (30 if query == "hit" else 10)


async def test_a_search_stops_when_it_is_aborted(make: Make) -> None:
    """D8: before it begins, and midway; the session is as good as before."""
    session = await make()
    await session.append_many([user("hit")] * 600)
    controller = AbortController()
    found = 0
    with pytest.raises(AbortError) as caught:
        async for _ in session.search("hit", signal=controller.signal):
            found += 1
            controller.abort("enough")
    assert caught.value.reason == "enough"
    assert found < 600
    with pytest.raises(AbortError):
        await anext(session.search("hit", signal=controller.signal))
    assert len(await ids(session, "hit")) == 600


async def test_a_search_of_a_closed_session_is_refused(session: SessionManager) -> None:
    await session.append_message(user("hit"))
    searching = session.search("hit")
    await session.close()
    with pytest.raises(SessionClosedError):
        await anext(searching)


def rewrite(path: Path, lines: list[bytes]) -> None:
    new = path.with_suffix(".new")
    new.write_bytes(b"".join(lines))
    os.replace(new, path)


async def test_after_a_rewrite_a_reader_goes_on_behind_the_last_entry_that_is_still_there(
    write_file: WriteFile,
) -> None:
    """D5: nothing is found twice, and nothing of what was taken out."""
    names = [f"e{number}" for number in range(20)]
    path = write_file([{"id": name, "message": user("hit")} for name in names])
    async with await SessionManager.open(path, read_only=True) as session:
        searching = session.search("hit")
        assert [(await anext(searching)).id for _ in range(3)] == names[:3]
        header, *lines = path.read_bytes().splitlines(keepends=True)
        new = lines[0].replace(b'"e0"', b'"new"')
        # Shorter by what had been searched, but for the first two; longer at the end.
        rewrite(path, [header, *lines[:2], *lines[10:], new])
        await session.refresh()
        assert [hit.id async for hit in searching] == [*names[10:], "new"]
        assert session.generation == 1


async def test_a_search_ends_when_a_rewrite_left_nothing_behind_what_was_searched(write_file: WriteFile) -> None:
    """D5."""
    path = write_file([{"id": name, "message": user("hit")} for name in ("a", "b", "c")])
    async with await SessionManager.open(path, read_only=True) as session:
        searching = session.search("hit")
        assert (await anext(searching)).id == "a"
        rewrite(path, path.read_bytes().splitlines(keepends=True)[:2])
        await session.refresh()
        assert [hit.id async for hit in searching] == []


async def test_a_rewrite_is_found_by_the_search_itself(write_file: WriteFile) -> None:
    """D5: by the place of a line, or by the entry in it."""
    path = write_file([{"id": name, "message": user("hit")} for name in ("a", "b", "c")])
    async with await SessionManager.open(path, read_only=True) as session:
        path.write_bytes(path.read_bytes().replace(b'"b"', b'"d"'))
        assert await ids(session, "hit") == ["a", "d", "c"]
        header, *lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(header + lines[2])
        assert await ids(session, "hit") == ["c"]
        assert session.generation == 2


async def test_a_writer_whose_file_was_rewritten_is_told(make_file: Make) -> None:
    """D5."""
    session = await make_file()
    await session.append_many([user("hit")] * 3)
    path = Path(str(session.session_file))
    header, first, *_ = path.read_bytes().splitlines(keepends=True)
    rewrite(path, [header, first[:-9] + b"\n"])
    path.write_bytes(header)
    with pytest.raises(SessionRewrittenError):
        await ids(session, "hit")
