"""Moves of the leaf: nothing is written, and the next append goes there (T-40..T-44)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import EntryNotFoundError, SessionManager

Make = Callable[..., Awaitable[SessionManager]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def chain(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


async def texts(session: SessionManager) -> list[Any]:
    context = await session.build_session_context()
    return [message.get("content", message.get("summary")) for message in context.messages]


async def test_the_next_append_after_a_move_is_a_sibling_of_the_older_children(session: SessionManager) -> None:
    """X-10, X-13, T-40, T-44."""
    await chain(session, "a", "b")
    session.branch("a")
    assert session.leaf_id == "a"
    await chain(session, "c")
    assert session.shape("c").parent_id == "a"
    assert session.child_ids("a") == ["b", "c"]
    [root] = await session.get_tree()
    assert [node.entry.id for node in root.children] == ["b", "c"]


async def test_three_branches_at_one_point_are_three_children(session: SessionManager) -> None:
    """X-11, T-44."""
    await chain(session, "a")
    for entry_id in ("b", "c", "d"):
        session.branch("a")
        await chain(session, entry_id)
    assert session.child_ids("a") == ["b", "c", "d"]


async def test_branches_nest(session: SessionManager) -> None:
    """X-12, T-26."""
    await chain(session, "a", "b", "c")
    session.branch("b")
    await chain(session, "d")
    session.branch("a")
    await chain(session, "e", "f")
    session.branch("e")
    await chain(session, "g")
    counts = {entry_id: len(session.child_ids(entry_id)) for entry_id in "abcdefg"}
    assert counts == {"a": 2, "b": 2, "c": 0, "d": 0, "e": 2, "f": 0, "g": 0}


@pytest.mark.parametrize("target", ["nope", "", None])
async def test_a_move_to_an_unknown_entry_is_refused_and_changes_nothing(session: SessionManager, target: Any) -> None:
    """X-13, T-40, T-100: null is no target of `branch`."""
    await chain(session, "a", "b")
    with pytest.raises(EntryNotFoundError) as caught:
        session.branch(target)
    assert str(caught.value) == f"Entry {target} not found"
    assert caught.value.entry_id == target
    assert (session.leaf_id, session.entry_count) == ("b", 2)


async def test_a_move_to_the_leaf_changes_nothing(session: SessionManager) -> None:
    """T-40."""
    await chain(session, "a", "b")
    session.branch("b")
    await chain(session, "c")
    assert session.path_ids() == ["a", "b", "c"]


async def test_every_type_of_entry_can_be_a_target(session: SessionManager) -> None:
    """T-40."""
    await chain(session, "a")
    label = await session.append_label_change("a", "mark")
    custom = await session.append_custom_entry("note")
    compaction = await session.append_compaction("so far", "a", 1)
    for target in (label, custom, compaction):
        session.branch(target)
        assert session.leaf_id == target


async def test_a_move_writes_nothing_and_is_lost_on_reopening(make_file: Make) -> None:
    """F-04, T-40, T-41."""
    session = await make_file()
    await chain(session, "a", "b")
    path = Path(str(session.session_file))
    before, time = path.read_bytes(), path.stat().st_mtime_ns
    session.branch("a")
    session.reset_leaf()
    session.branch("a")
    await session.close()
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, time)
    async with await SessionManager.open(path) as again:
        assert again.leaf_id == "b"


async def test_after_a_reset_the_next_append_is_a_new_root(session: SessionManager) -> None:
    """T-41: what was there stays."""
    await chain(session, "a", "b")
    session.reset_leaf()
    assert (session.leaf_id, session.path_ids(), await session.get_branch()) == (None, [], [])
    assert session.path_ids("b") == ["a", "b"]
    await chain(session, "c")
    assert (session.root_ids, session.path_ids()) == (["a", "c"], ["c"])
    assert session.shape("c").parent_id is None


async def test_the_context_follows_the_leaf(session: SessionManager) -> None:
    """X-17, C-01, C-05: only the current branch; of None, nothing."""
    await chain(session, "a", "b")
    session.branch("a")
    await chain(session, "c")
    assert await texts(session) == ["a", "c"]
    session.branch("b")
    assert await texts(session) == ["a", "b"]
    session.reset_leaf()
    context = await session.build_session_context()
    assert (context.messages, context.thinking_level, context.models, context.mode) == ([], "off", {}, "none")


async def test_the_context_of_another_leaf_moves_none(session: SessionManager) -> None:
    """C-01..C-03 as settled: None is the empty position, an unknown id an error."""
    await chain(session, "a", "b")
    assert len((await session.build_session_context("a")).messages) == 1
    assert (await session.build_session_context(None)).messages == []
    assert (await session.build_session_context(leaf_id=None)).messages == []
    with pytest.raises(EntryNotFoundError, match="nope"):
        await session.build_session_context("nope")
    assert session.leaf_id == "b"


async def test_a_branch_summary_hangs_on_the_new_position(session: SessionManager) -> None:
    """X-14, T-42: never on the branch that was left; the leaf becomes the summary."""
    await chain(session, "a", "b", "c")
    summary = await session.branch_with_summary("a", "left b and c", {"readFiles": []})
    assert (session.leaf_id, session.path_ids()) == (summary, ["a", summary])
    entry: Any = await session.get_entry(summary)
    assert (entry.type, entry.from_id, entry.summary) == ("branch_summary", "a", "left b and c")
    assert (entry.details, entry.from_extension) == ({"readFiles": []}, None)
    assert session.child_ids("c") == []
    assert await texts(session) == ["a", "left b and c"]


async def test_a_branch_summary_above_all_roots_is_a_root(session: SessionManager) -> None:
    """T-42: null is a target here, written as `root`."""
    await chain(session, "a")
    summary = await session.branch_with_summary(None, "left everything")
    assert session.root_ids == ["a", summary]
    entry: Any = await session.get_entry(summary)
    assert (entry.parent_id, entry.from_id) == (None, "root")


async def test_an_empty_summary_is_accepted(session: SessionManager) -> None:
    """T-43, C-22: it adds nothing to the context."""
    await chain(session, "a")
    await session.branch_with_summary("a", "")
    assert await texts(session) == ["a"]


async def test_a_summary_at_an_unknown_entry_is_refused_and_changes_nothing(session: SessionManager) -> None:
    """X-14, T-42, T-100."""
    await chain(session, "a", "b")
    session.branch("a")
    with pytest.raises(EntryNotFoundError, match=r"^Entry nope not found$"):
        await session.branch_with_summary("nope", "left")
    assert (session.leaf_id, session.entry_count) == ("a", 2)
