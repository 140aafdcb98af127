"""Labels: entries at the leaf, a map that is global to the file (T-50..T-53)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import EntryNotFoundError, SessionManager

Make = Callable[..., Awaitable[SessionManager]]
WriteFile = Callable[..., Path]


async def chain(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message({"role": "user", "content": entry_id}, entry_id=entry_id)


async def test_a_label_is_an_entry_at_the_leaf_and_counts_at_once(session: SessionManager) -> None:
    """X-31, T-51, T-53: whatever its target is."""
    await chain(session, "a", "b")
    label = await session.append_label_change("a", "start")
    assert (session.get_label("a"), session.get_label("b")) == ("start", None)
    assert (session.leaf_id, session.path_ids()) == (label, ["a", "b", label])
    entry: Any = await session.get_entry(label)
    assert (entry.type, entry.target_id, entry.label) == ("label", "a", "start")


@pytest.mark.parametrize("text", [None, ""])
async def test_a_label_without_text_clears(session: SessionManager, text: str | None) -> None:
    """X-32, T-50."""
    await chain(session, "a")
    await session.append_label_change("a", "start")
    await session.append_label_change("a", text)
    assert (session.get_label("a"), session.labels) == (None, {})


async def test_the_last_label_wins_on_whatever_branch(session: SessionManager) -> None:
    """X-33, T-50: labels are global, and follow no leaf."""
    await chain(session, "a", "b")
    await session.append_label_change("b", "one")
    session.branch("a")
    await session.append_label_change("b", "two")
    assert session.labels == {"b": "two"}
    session.branch("b")
    assert session.get_label("b") == "two"


async def test_labels_keep_the_order_in_which_they_were_first_set(session: SessionManager) -> None:
    """T-62: deleting and setting again moves to the end."""
    await chain(session, "a", "b", "c")
    for target, text in (("a", "1"), ("b", "2"), ("c", "3"), ("a", None), ("b", "4"), ("a", "5")):
        await session.append_label_change(target, text)
    assert list(session.labels.items()) == [("b", "4"), ("c", "3"), ("a", "5")]


async def test_nodes_of_the_tree_show_current_labels(session: SessionManager) -> None:
    """X-34, T-31."""
    await chain(session, "a", "b")
    await session.append_label_change("a", "start")
    await session.append_label_change("b", "gone")
    await session.append_label_change("b", None)
    [root] = await session.get_tree()
    assert (root.label, root.children[0].label) == ("start", None)


async def test_labels_are_no_part_of_the_context(session: SessionManager) -> None:
    """X-37, T-52."""
    await chain(session, "a")
    before = await session.build_session_context()
    await session.append_label_change("a", "start")
    assert await session.build_session_context() == before


async def test_a_label_can_have_a_label(session: SessionManager) -> None:
    """T-52."""
    await chain(session, "a")
    label = await session.append_label_change("a", "start")
    await session.append_label_change(label, "meta")
    assert session.labels == {"a": "start", label: "meta"}


async def test_labelling_an_unknown_entry_is_refused(session: SessionManager) -> None:
    """X-38, T-51, T-100: nothing is appended."""
    await chain(session, "a")
    for text in ("x", None):
        with pytest.raises(EntryNotFoundError, match=r"^Entry nope not found$"):
            await session.append_label_change("nope", text)
    assert (session.leaf_id, session.entry_count, session.labels) == ("a", 1, {})


async def test_a_label_is_not_trimmed(session: SessionManager) -> None:
    """T-53: what shows labels may do so."""
    await chain(session, "a")
    await session.append_label_change("a", "  x ")
    assert session.get_label("a") == "  x "


async def test_labels_are_a_snapshot(session: SessionManager) -> None:
    await chain(session, "a")
    await session.append_label_change("a", "start")
    session.labels.clear()
    assert session.labels == {"a": "start"}


async def test_labels_of_a_file_are_folded_line_by_line(write_file: WriteFile) -> None:
    """T-02, T-50 as settled: an unknown target is kept in the file, reported, and shows nowhere."""

    def label(entry_id: str, target: str, **text: str) -> dict[str, Any]:
        return {"id": entry_id, "type": "label", "parentId": "a", "targetId": target, **text}

    path = write_file(
        [
            label("l1", "b", label="before its target"),
            {"id": "a"},
            {"id": "b", "parentId": "a"},
            label("l2", "a", label="one"),
            label("l3", "gone", label="x"),
            label("l4", "a", label="two"),
            label("l5", "b"),
            label("l6", "b", label="again"),
        ]
    )
    async with await SessionManager.open(path) as session:
        assert list(session.labels.items()) == [("a", "two"), ("b", "again")]
        assert session.get_label("gone") is None
        assert [(fault.kind, fault.id) for fault in session.report.faults] == [("label-target", "l3")]
        assert session.leaf_id == "l6"


async def test_labels_are_there_again_after_reopening(make_file: Make) -> None:
    session = await make_file()
    await chain(session, "a", "b")
    await session.append_label_change("b", "end")
    await session.close()
    async with await SessionManager.open(str(session.session_file)) as again:
        assert again.labels == {"b": "end"}
