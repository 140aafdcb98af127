"""Cancelled appends: withdrawn before the writer takes them, carried out after (design D4, D8)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import EntryNotFoundError, SessionManager

Make = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def chain(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


def start(session: SessionManager, entry_id: str) -> asyncio.Future[str]:
    return asyncio.ensure_future(session.append_message(user(entry_id), entry_id=entry_id))


@pytest.fixture
async def locked(make_file: Make) -> tuple[SessionManager, SessionManager]:
    """A session with the entries `a` and `b`, and who holds its lock: until that closes nothing is taken."""
    holder = await make_file()
    await chain(holder, "a", "b")
    return await SessionManager.open(str(holder.session_file), lock_timeout=60), holder


Locked = tuple[SessionManager, SessionManager]


async def test_an_append_that_was_not_taken_is_withdrawn(locked: Locked) -> None:
    """D8: nothing is written, not even a newline, and the leaf falls back."""
    session, holder = locked
    path = Path(str(session.session_file))
    before = path.read_bytes()
    append = start(session, "c")
    await asyncio.sleep(0)
    assert session.leaf_id == "c"
    append.cancel()
    with pytest.raises(asyncio.CancelledError):
        await append
    assert (session.leaf_id, session.has_entry("c"), await session.get_entry("c")) == ("b", False, None)
    await holder.close()
    await session.flush()
    await session.close()
    assert path.read_bytes() == before


async def test_a_new_session_whose_only_append_is_withdrawn_has_no_file(make_file: Make, disk: Any) -> None:
    """D8, F-110: though its file was just being made."""
    session = await make_file()
    disk.hold("open")
    append = start(session, "a")
    await disk.holds()
    append.cancel()
    with pytest.raises(asyncio.CancelledError):
        await append
    disk.go_on.set()
    await session.close()
    assert (session.leaf_id, session.entry_count) == (None, 0)
    assert not Path(str(session.session_file)).exists()


async def test_what_was_queued_behind_a_withdrawn_append_moves_up(locked: Locked, records: Records) -> None:
    """D8: its chain is whole, over any run of withdrawn ones."""
    session, holder = locked
    appends = {entry_id: start(session, entry_id) for entry_id in "cdef"}
    await asyncio.sleep(0)
    appends["c"].cancel()
    appends["e"].cancel()
    await asyncio.sleep(0)
    assert session.leaf_id == "f"
    await holder.close()
    assert (await appends["d"], await appends["f"]) == ("d", "f")
    assert session.path_ids() == ["a", "b", "d", "f"]
    assert [(line["id"], line["parentId"]) for line in records(session)[3:]] == [("d", "b"), ("f", "d")]
    assert [entry.parent_id for entry in await session.get_branch()] == [None, "a", "b", "d"]
    await session.close()


async def test_a_withdrawn_batch_goes_as_a_whole(locked: Locked, records: Records) -> None:
    """D8: of `append_many` too; what hung on its last entry hangs on what it hung on."""
    session, holder = locked
    many = asyncio.ensure_future(session.append_many([user("x"), user("y")]))
    behind = start(session, "c")
    await asyncio.sleep(0)
    many.cancel()
    await asyncio.sleep(0)
    await holder.close()
    await behind
    assert session.path_ids() == ["a", "b", "c"]
    assert len(records(session)) == 4
    await session.close()


async def test_a_summary_behind_a_withdrawn_append_names_where_it_hangs(locked: Locked, records: Records) -> None:
    """T-42, D8: `fromId` moves up with it."""
    session, holder = locked
    append = start(session, "c")
    await asyncio.sleep(0)
    summary = asyncio.ensure_future(session.branch_with_summary("c", "left"))
    await asyncio.sleep(0)
    append.cancel()
    await asyncio.sleep(0)
    await holder.close()
    await summary
    line = records(session)[-1]
    assert (line["parentId"], line["fromId"]) == ("b", "b")
    await session.close()


async def test_every_leaf_on_a_withdrawn_entry_falls_back(locked: Locked) -> None:
    """D4: cursors too; a leaf that was moved away stays where it is."""
    session, holder = locked
    appends = [start(session, "c"), start(session, "d")]
    await asyncio.sleep(0)
    on_c, on_d, on_a = session.cursor("c"), session.cursor("d"), session.cursor("a")
    for append in reversed(appends):
        append.cancel()
    await asyncio.sleep(0)
    assert (session.leaf_id, on_c.leaf_id, on_d.leaf_id, on_a.leaf_id) == ("b", "b", "b", "a")
    await asyncio.gather(*appends, return_exceptions=True)
    await holder.close()
    await session.close()


async def test_a_read_that_waits_for_a_withdrawn_leaf_answers_for_where_it_fell_back(locked: Locked) -> None:
    """D4, T-21, T-22."""
    session, holder = locked
    append = start(session, "c")
    await asyncio.sleep(0)
    reads = asyncio.gather(session.get_branch(), session.build_session_context(), session.get_entry("c"))
    named = asyncio.ensure_future(session.get_branch("c"))
    await asyncio.sleep(0)
    append.cancel()
    branch, context, entry = await reads
    assert ([one.id for one in branch], context.messages, entry) == (["a", "b"], [user("a"), user("b")], None)
    assert await named == []
    await holder.close()
    await session.close()


async def test_an_append_that_was_taken_is_carried_out(make_file: Make, disk: Any, records: Records) -> None:
    """D8: the caller waits, the entry is recorded, the leaf has moved, and one cancellation is raised."""
    session = await make_file()
    await chain(session, "a")
    disk.hold()
    append = start(session, "b")
    await disk.holds()
    for _ in range(3):
        append.cancel()
        await asyncio.sleep(0)
    assert (append.done(), session.leaf_id) == (False, "b")
    disk.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await append
    assert (session.leaf_id, session.path_ids()) == ("b", ["a", "b"])
    assert [line["id"] for line in records(session)[1:]] == ["a", "b"]
    await chain(session, "c")
    assert session.path_ids() == ["a", "b", "c"]


async def test_the_caller_may_go_on_after_one_cancellation(make_file: Make, disk: Any) -> None:
    """D8: it is raised once, wherever the caller catches it."""
    session = await make_file()
    disk.hold()
    seen: list[str] = []

    async def caller() -> None:
        try:
            await session.append_message(user("a"), entry_id="a")
        except asyncio.CancelledError:
            seen.append("cancelled")
        await asyncio.sleep(0)
        seen.append("went on")

    task = asyncio.ensure_future(caller())
    await disk.holds()
    task.cancel()
    await asyncio.sleep(0)
    disk.go_on.set()
    await task
    assert (seen, session.path_ids()) == (["cancelled", "went on"], ["a"])


async def test_what_is_queued_behind_a_taken_append_can_still_be_withdrawn(
    make_file: Make, disk: Any, records: Records
) -> None:
    """D8: and the taken one, cancelled, keeps its place."""
    session = await make_file()
    await chain(session, "a")
    disk.hold()
    taken = start(session, "b")
    await disk.holds()
    queued, last = start(session, "c"), start(session, "d")
    await asyncio.sleep(0)
    taken.cancel()
    queued.cancel()
    await asyncio.sleep(0)
    disk.go_on.set()
    assert await last == "d"
    await asyncio.gather(taken, queued, return_exceptions=True)
    assert (taken.cancelled(), queued.cancelled()) == (True, True)
    assert session.path_ids() == ["a", "b", "d"]
    assert [line["id"] for line in records(session)[1:]] == ["a", "b", "d"]


async def test_a_cancelled_append_that_fails_is_cancelled(make_file: Make, disk: Any) -> None:
    """D8: the cancellation is raised; the leaf falls back as after any failure."""
    session = await make_file()
    await chain(session, "a")
    disk.hold()
    append = start(session, "b")
    await disk.holds()
    append.cancel()
    await asyncio.sleep(0)
    disk.errors.append(OSError(28, "No space left on device"))
    disk.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await append
    assert (session.leaf_id, session.path_ids()) == ("a", ["a"])
    await chain(session, "c")


async def test_in_memory_too_an_append_is_withdrawn_or_recorded() -> None:
    """F-117, D8."""
    async with SessionManager.in_memory() as session:
        await chain(session, "a")
        append = start(session, "b")
        await asyncio.sleep(0)
        append.cancel()
        await asyncio.gather(append, return_exceptions=True)
        recorded = session.has_entry("b")
        assert session.leaf_id == ("b" if recorded else "a")
        assert session.path_ids() == (["a", "b"] if recorded else ["a"])
        await chain(session, "c")
        assert session.path_ids() == (["a", "b", "c"] if recorded else ["a", "c"])


async def test_a_label_on_a_withdrawn_append_goes_with_it(locked: Locked, records: Records) -> None:
    """T-51, D4: its call keeps its place behind the target; without the target there is nothing to label."""
    session, holder = locked
    append = start(session, "c")
    await asyncio.sleep(0)
    label = asyncio.ensure_future(session.append_label_change("c", "mark"))
    later = start(session, "d")
    await asyncio.sleep(0)
    append.cancel()
    await asyncio.sleep(0)
    await holder.close()
    with pytest.raises(EntryNotFoundError):
        await label
    await later
    assert (records(session)[-1]["id"], records(session)[-1]["parentId"]) == ("d", "b")
    assert session.report.faults == []
    await session.close()


async def test_the_path_of_a_leaf_on_its_way_is_its_recorded_part(locked: Locked) -> None:
    """T-22, D4: plain methods do not wait."""
    session, holder = locked
    append = start(session, "c")
    await asyncio.sleep(0)
    assert session.leaf_id == "c"
    assert session.path_ids() == ["a", "b"]
    await holder.close()
    await append
    assert session.path_ids() == ["a", "b", "c"]
    await session.close()


async def test_when_nobody_waits_any_more_the_lock_is_not_waited_for(locked: Locked, records: Records) -> None:
    """D4, D8: a cancelled append is gone; closing and the next append do not inherit its wait."""
    session, holder = locked
    append = start(session, "c")
    await asyncio.sleep(0.05)
    append.cancel()
    async with asyncio.timeout(5):
        await session.close()
    before = len(records(holder))
    await holder.append_message({"role": "user", "content": "still the writer"})
    assert len(records(holder)) == before + 1
    await holder.close()


async def test_an_append_right_after_the_last_one_was_cancelled_is_recorded(locked: Locked, records: Records) -> None:
    """D4: the end of one wait is the beginning of the next."""
    session, holder = locked
    append = start(session, "c")
    await asyncio.sleep(0.05)
    append.cancel()
    await asyncio.sleep(0)
    later = start(session, "d")
    await asyncio.sleep(0.05)
    await holder.close()
    await later
    assert (records(session)[-1]["id"], records(session)[-1]["parentId"]) == ("d", "b")
    await session.close()
