"""What happens in the sessions of a service is told, in order, with the session and the file that it happened in."""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AgentSession,
    AppendError,
    EntriesAppended,
    LeafMoved,
    SessionClosed,
    SessionEvent,
    SessionManager,
    SessionService,
)

Store = Callable[..., Awaitable[Path]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def append(session: Any, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


def appended(events: list[SessionEvent]) -> list[list[str]]:
    """The ids of each batch."""
    return [event.entry_ids for event in events if isinstance(event, EntriesAppended)]


def moves(events: list[SessionEvent]) -> list[tuple[str | None, str | None]]:
    return [(event.old_leaf_id, event.new_leaf_id) for event in events if isinstance(event, LeafMoved)]


async def test_what_happens_is_told_in_order(service: SessionService, path: Path, heard: Any) -> None:
    """Opened, appended, moved, switched, closed: each with the ids and the file of its moment."""
    session = await service.open(path)
    old_id, old_file = session.session_id, session.session_file
    await append(session, "b")
    many = await session.append_many([user("c"), user("d")])
    session.branch("a")
    new_file = await session.new_session()
    await append(session, "x")
    await session.close()
    await service.close()
    told = await heard.rest()
    assert [(type(event).__name__, event.session_id, event.session_file) for event in told] == [
        ("SessionOpened", old_id, old_file),
        ("EntriesAppended", old_id, old_file),
        ("EntriesAppended", old_id, old_file),
        ("LeafMoved", old_id, old_file),
        ("SessionSwitched", session.session_id, new_file),
        ("SessionClosed", old_id, old_file),
        ("EntriesAppended", session.session_id, new_file),
        ("SessionClosed", session.session_id, new_file),
    ]
    assert appended(told) == [["b"], many, ["x"]]
    assert (moves(told), told[4].previous_session_file) == ([(many[1], "a")], old_file)


async def test_appended_entries_are_told_as_they_are_on_the_disk(
    service: SessionService, path: Path, heard: Any
) -> None:
    """T-16: the lines of the file, and decoded when asked for."""
    session = await service.open(path)
    await append(session, "b")
    await session.append_label_change("b", "mark", entry_id="c")
    await session.append_many([user("x"), user("\u2028 \u00e9")])
    await service.close()
    told = [event for event in await heard.rest() if isinstance(event, EntriesAppended)]
    assert b"".join(line + b"\n" for event in told for line in event.lines) in path.read_bytes()
    assert [entry.id for event in told for entry in event.entries] == [i for ids in appended([*told]) for i in ids]
    assert [entry.type for event in told for entry in event.entries] == ["message", "label", "message", "message"]
    assert [entry.parent_id for entry in told[-1].entries] == ["c", told[-1].entry_ids[0]]


async def test_the_appends_of_all_cursors_are_told_in_the_order_of_the_file(
    service: SessionService, path: Path, heard: Any
) -> None:
    """D4: each entry once, concurrent ones too."""
    session = await service.open(path)
    cursors = [session, *(session.cursor("a") for _ in range(4))]
    await asyncio.gather(
        *(
            append(cursor, *(f"{name}{number}" for number in range(10)))
            for name, cursor in zip("vwxyz", cursors, strict=True)
        )
    )
    await service.close()
    lines = path.read_text(encoding="utf-8").splitlines()[2:]
    told = await heard.rest()
    assert [i for ids in appended(told) for i in ids] == [json.loads(line)["id"] for line in lines]
    assert len(lines) == 50


async def test_a_created_session_is_told_before_it_has_a_file(
    service: SessionService, heard: Any, sessions_dir: Path
) -> None:
    """F-110: and nothing of what was never recorded."""
    session = await service.create(cwd="/proj/demo")
    await service.close()
    told = await heard.rest()
    assert [type(event).__name__ for event in told] == ["SessionOpened", "SessionClosed"]
    assert {(event.session_id, event.session_file) for event in told} == {(session.session_id, session.session_file)}


async def test_bare_leaf_moves_of_the_session_are_told(service: SessionService, path: Path, heard: Any) -> None:
    """T-40, T-41: not where nothing moves, and no cursor's."""
    session = await service.open(path)
    await append(session, "b")
    for entry_id in ("b", "a", "a", None, None, "b"):
        session.branch(entry_id) if entry_id is not None else session.reset_leaf()
    cursor = session.cursor("a")
    cursor.reset_leaf()
    cursor.branch("b")
    await service.close()
    assert moves(await heard.rest()) == [("b", "a"), ("a", None), (None, "b")]


async def test_a_navigation_is_told_as_a_leaf_move(service: SessionService, path: Path, heard: Any) -> None:
    """N-21, N-25: to where the leaf goes, the parent of a user message."""
    session = await service.open(path)
    await append(session, "b", "c")
    await AgentSession(session).navigate_tree("b")
    await service.close()
    assert moves(await heard.rest()) == [("c", "a")]


async def test_what_appends_do_to_the_leaf_is_not_told(service: SessionService, path: Path, heard: Any) -> None:
    """T-42: the entries tell it themselves."""
    session = await service.open(path)
    await append(session, "b")
    summary = await session.branch_with_summary("a", "what was left")
    await service.close()
    told = await heard.rest()
    assert (moves(told), appended(told)) == ([], [["b"], [summary]])


async def test_what_other_programs_append_is_not_told(service: SessionService, path: Path, heard: Any) -> None:
    """D4: and does not shift what is."""
    session = await service.open(path)
    async with await SessionManager.open(path) as other:
        await append(other, "foreign")
    await append(session, "b")
    assert session.entry_ids() == ["a", "foreign", "b"]
    await service.close()
    assert appended(await heard.rest()) == [["b"]]


async def test_lines_that_slip_in_before_ours_are_not_told_for_them(
    service: SessionService, path: Path, heard: Any, disk: Any
) -> None:
    """D4: a program that takes no lock writes between our look and our write."""
    session = await service.open(path)
    await append(session, "b")
    disk.hold()
    late = asyncio.ensure_future(append(session, "c"))
    await disk.holds()
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[1].replace(b'"a"', b'"z"'))
    disk.go_on.set()
    await late
    assert session.entry_ids() == ["a", "b", "z", "c"]
    await service.close()
    assert appended(await heard.rest()) == [["b"], ["c"]]


async def test_of_a_batch_that_failed_what_is_recorded_is_told(
    service: SessionService, path: Path, heard: Any, disk: Any
) -> None:
    """D4: whole lines stay; the rest never happened."""
    session = await service.open(path)
    await append(session, "b")
    [line] = [event.lines[0] for event in await heard.until(EntriesAppended) if isinstance(event, EntriesAppended)]
    disk.left = len(line) + len(line) // 2
    with pytest.raises(AppendError) as caught:
        await session.append_many([user("c"), user("d"), user("e")])
    assert caught.value.recorded == 1
    disk.left = 1 << 60
    await append(session, "f")
    await service.close()
    recorded = [json.loads(line)["id"] for line in path.read_text(encoding="utf-8").splitlines()[3:]]
    assert appended(await heard.rest()) == [[recorded[0]], ["f"]]
    assert len(recorded) == 2


@pytest.mark.parametrize("failure", ["full", "sync"])
async def test_an_append_that_was_not_acknowledged_is_not_told(
    service: SessionService, path: Path, heard: Any, disk: Any, failure: str
) -> None:
    """D4: neither one that is not on the disk, nor one of which nobody knows."""
    session = await service.open(path)
    if failure == "full":
        disk.left = 0
    else:
        disk.sync_error = OSError(errno.EIO, "Input/output error")
    with pytest.raises(AppendError):
        await append(session, "b")
    disk.left, disk.sync_error = 1 << 60, None
    await service.close()
    assert [type(event).__name__ for event in await heard.rest()] == ["SessionOpened", "SessionClosed"]


async def test_an_entry_that_was_answered_from_the_log_is_told_once(
    service: SessionService, path: Path, heard: Any
) -> None:
    """D4: the same id with the same content is not recorded twice."""
    session = await service.open(path)
    for _ in range(3):
        await append(session, "a", "b")
    await service.close()
    assert appended(await heard.rest()) == [["b"]]


async def test_the_sessions_of_a_service_are_told_apart(service: SessionService, store: Store, heard: Any) -> None:
    """Each event names its session; within one the order is that of its file."""
    paths = [await store() for _ in range(5)]
    sessions = [await service.open(path) for path in paths]
    ids = [f"e{number}" for number in range(10)]
    await asyncio.gather(*(append(session, *ids) for session in sessions))
    await service.close()
    told = await heard.rest()
    for path in paths:
        of_it = [event for event in told if event.session_file == str(path)]
        assert [entry_id for batch in appended(of_it) for entry_id in batch] == ids
        assert isinstance(of_it[-1], SessionClosed)
