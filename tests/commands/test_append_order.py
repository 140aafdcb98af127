"""Who appends when: call order makes the chain, cursors have leaves of their own (design D4)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import ConcurrencyError, EntryNotFoundError, SessionManager

Make = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def chain(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


async def test_concurrent_appends_are_a_chain_in_call_order(make: Make) -> None:
    """D4: of one kind and of many, however many callers there are."""
    session = await make()
    ids = await asyncio.gather(*(session.append_message(user(str(number))) for number in range(200)))
    assert session.path_ids() == ids
    more = await asyncio.gather(
        session.append_message(user("a")),
        session.append_thinking_level_change("high"),
        session.append_many([user("b"), user("c")]),
        session.append_label_change(ids[0], "mark"),
        session.append_custom_entry("note"),
    )
    flat = [more[0], more[1], *more[2], more[3], more[4]]
    assert session.path_ids() == session.entry_ids() == [*ids, *flat]


async def test_a_concurrent_chain_is_the_same_on_the_disk(make_file: Make, records: Records) -> None:
    """D4: in the order of the lines too."""
    session = await make_file()
    ids = await asyncio.gather(*(session.append_message(user(str(number))) for number in range(50)))
    _, *lines = records(session)
    assert [line["id"] for line in lines] == ids
    assert [line["parentId"] for line in lines] == [None, *ids[:-1]]


async def test_parent_and_leaf_are_decided_at_the_call(make: Make) -> None:
    """D4: the leaf moves before anything is recorded, and only what is recorded is in the tree."""
    session = await make()
    await chain(session, "a")
    append = asyncio.ensure_future(session.append_message(user("b"), entry_id="b"))
    await asyncio.sleep(0)
    assert (session.leaf_id, session.has_entry("b"), session.entry_count) == ("b", False, 1)
    session.branch("a")
    other = asyncio.ensure_future(session.append_message(user("c"), entry_id="c"))
    assert (await append, await other) == ("b", "c")
    assert session.child_ids("a") == ["b", "c"]


async def test_a_later_move_wins(make: Make) -> None:
    """D4: what was handed over before keeps its place, and does not take the leaf back."""
    session = await make()
    await chain(session, "a")
    append = asyncio.ensure_future(session.append_message(user("b"), entry_id="b"))
    await asyncio.sleep(0)
    session.branch("a")
    await append
    assert (session.leaf_id, session.shape("b").parent_id) == ("a", "a")
    append = asyncio.ensure_future(session.append_message(user("c"), entry_id="c"))
    await asyncio.sleep(0)
    session.reset_leaf()
    await append
    leaf = session.leaf_id
    assert leaf is None


async def test_an_entry_on_its_way_can_be_branched_from_and_labelled(make: Make) -> None:
    """T-40, T-51, D4."""
    session = await make()
    await chain(session, "a")
    appends = [asyncio.ensure_future(session.append_message(user(name), entry_id=name)) for name in "bc"]
    await asyncio.sleep(0)
    session.branch("b")
    label = await session.append_label_change("c", "mark")
    assert session.shape(label).parent_id == "b"
    assert session.labels == {"c": "mark"}
    summary = await session.branch_with_summary("c", "left")
    assert session.path_ids() == ["a", "b", "c", summary]
    await asyncio.gather(*appends)


async def test_who_reads_an_entry_on_its_way_waits_for_it(make: Make) -> None:
    """D4."""
    session = await make()
    await chain(session, "a")
    append = asyncio.ensure_future(session.append_message(user("b"), entry_id="b"))
    await asyncio.sleep(0)
    assert not append.done()
    [entry, branch, context] = await asyncio.gather(
        session.get_entry("b"), session.get_branch(), session.build_session_context()
    )
    assert entry is not None
    assert ([one.id for one in branch], context.messages) == (["a", "b"], [user("a"), user("b")])
    append = asyncio.ensure_future(session.append_message(user("c"), entry_id="c"))
    await asyncio.sleep(0)
    assert [one.id for one in await session.get_branch("c")] == ["a", "b", "c"]
    await append


async def test_a_read_of_the_leaf_means_the_leaf_at_the_call(make: Make) -> None:
    """D4: appends that come after it are none of its business."""
    session = await make()
    await chain(session, "a")
    appends = [asyncio.ensure_future(session.append_message(user("b"), entry_id="b"))]
    await asyncio.sleep(0)
    branch = asyncio.ensure_future(session.get_branch())
    context = asyncio.ensure_future(session.build_session_context())
    await asyncio.sleep(0)
    appends.append(asyncio.ensure_future(session.append_message(user("c"), entry_id="c")))
    assert [entry.id for entry in await branch] == ["a", "b"]
    assert (await context).messages == [user("a"), user("b")]
    await asyncio.gather(*appends)


async def test_an_append_can_name_the_leaf_that_it_expects(make: Make) -> None:
    """D5: with another leaf nothing is written and nothing moves."""
    session = await make()
    await chain(session, "a", "b")
    calls: list[Awaitable[object]] = [
        session.append_message(user("x"), expected_leaf="a"),
        session.append_many([user("x")], expected_leaf="a"),
        session.append_thinking_level_change("high", expected_leaf="a"),
        session.append_model_change("acme/m", expected_leaf="a"),
        session.append_mode_change("plan", expected_leaf="a"),
        session.append_ttsr_injection(["r"], expected_leaf="a"),
        session.append_service_tier_change(None, expected_leaf="a"),
        session.append_custom_entry("note", expected_leaf="a"),
        session.append_custom_message_entry("note", "x", True, expected_leaf="a"),
        session.append_compaction("s", "a", 1, expected_leaf="a"),
        session.append_label_change("a", "x", expected_leaf="a"),
        session.set_session_name("x", expected_leaf="a"),
        session.branch_with_summary("a", "s", expected_leaf="a"),
        session.append_message(user("x"), expected_leaf=None),
    ]
    for call in calls:
        with pytest.raises(ConcurrencyError) as caught:
            await call
        assert (caught.value.expected, caught.value.actual) in {("a", "b"), (None, "b")}
    assert (session.leaf_id, session.entry_count) == ("b", 2)
    assert await session.append_message(user("c"), expected_leaf="b", entry_id="c") == "c"
    session.reset_leaf()
    assert await session.append_message(user("d"), expected_leaf=None, entry_id="d") == "d"


async def test_of_two_appends_that_expect_one_leaf_the_first_wins(make: Make) -> None:
    """D5: though it is not yet recorded when the second is called."""
    session = await make()
    await chain(session, "a")
    first, second = await asyncio.gather(
        session.append_message(user("b"), expected_leaf="a"),
        session.append_message(user("c"), expected_leaf="a"),
        return_exceptions=True,
    )
    assert isinstance(second, ConcurrencyError)
    assert (second.expected, second.actual) == ("a", first)
    assert session.path_ids() == ["a", first]


async def test_a_cursor_has_a_leaf_of_its_own(make: Make) -> None:
    """The contract of `cursor`: two agents on two branches of one session and one writer."""
    session = await make()
    await chain(session, "a", "b")
    cursor = session.cursor("a")
    assert (cursor.leaf_id, session.leaf_id) == ("a", "b")
    new = await cursor.append_message(user("c"))
    assert (cursor.leaf_id, session.leaf_id) == (new, "b")
    assert (session.shape(new).parent_id, session.child_ids("a")) == ("a", ["b", new])
    await chain(session, "d")
    assert (cursor.path_ids(), session.path_ids()) == (["a", new], ["a", "b", "d"])
    assert [entry.id for entry in await cursor.get_branch()] == ["a", new]
    assert (await cursor.build_session_context()).messages == [user("a"), user("c")]
    assert (await session.build_session_context()).messages == [user("a"), user("b"), user("d")]


async def test_a_cursor_moves_and_appends_as_a_session_does(make: Make) -> None:
    session = await make()
    await chain(session, "a", "b")
    cursor = session.cursor(None)
    root = await cursor.append_message(user("root"), expected_leaf=None)
    assert session.root_ids == ["a", root]
    cursor.branch("b")
    many = await cursor.append_many([user("x"), user("y")])
    label = await cursor.append_label_change("a", "mark")
    assert cursor.path_ids() == ["a", "b", *many, label]
    summary = await cursor.branch_with_summary("a", "left")
    assert cursor.path_ids(limit=1) == [summary]
    cursor.reset_leaf()
    assert (cursor.leaf_id, session.leaf_id, session.get_label("a")) == (None, "b", "mark")
    for move in (cursor.branch, session.cursor):
        with pytest.raises(EntryNotFoundError, match=r"^Entry nope not found$"):
            move("nope")


async def test_two_agents_at_once_keep_their_branches_apart(make: Make) -> None:
    """D4: each chain is whole, in whatever order the lines come."""
    session = await make(durability="os")
    await chain(session, "a")

    async def agent(name: str) -> list[str]:
        cursor = session.cursor("a")
        return [await cursor.append_message(user(f"{name}{number}")) for number in range(40)]

    left, right = await asyncio.gather(agent("l"), agent("r"))
    assert session.path_ids(left[-1]) == ["a", *left]
    assert session.path_ids(right[-1]) == ["a", *right]
    assert session.leaf_id == "a"
