"""What is left behind on the way from a leaf to a target (N-40..N-47)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AbandonedPath,
    AbortController,
    AbortError,
    CollectedEntries,
    SessionManager,
    collect_entries_for_branch_summary,
)

WriteFile = Callable[..., Path]
Links = list[tuple[str, Any]]

FORKED: Links = [
    ("r", None),
    ("a", "r"),
    ("b", "a"),
    ("c", "b"),
    ("x", "a"),
    ("y", "x"),
    ("other", None),
    ("z", "other"),
]


async def left(path: Path, old_leaf_id: str | None, target_id: str) -> tuple[list[str], str | None]:
    """The ids of the entries that are left, and the common ancestor; bodies or not, they are the same."""
    async with await SessionManager.open(path) as session:
        ids = session.abandoned_path(old_leaf_id, target_id)
        collected = await collect_entries_for_branch_summary(session, old_leaf_id, target_id)
        assert collected.entries == await session.get_entries(ids.entry_ids)
        assert collected.common_ancestor_id == ids.common_ancestor_id
        return ids.entry_ids, ids.common_ancestor_id


@pytest.fixture
def linked(write_file: WriteFile) -> Callable[[Links], Path]:
    """Writes a session of (id, parent id)."""
    return lambda links: write_file({"id": entry_id, "parentId": parent} for entry_id, parent in links)


@pytest.mark.parametrize(
    ("old_leaf", "target", "entries", "ancestor"),
    [
        pytest.param(None, "c", [], None, id="N-40 from above all roots"),
        pytest.param("c", "y", ["b", "c"], "a", id="N-41 to another branch"),
        pytest.param("y", "b", ["x", "y"], "a", id="N-41 to the middle of another branch"),
        pytest.param("c", "z", ["r", "a", "b", "c"], None, id="N-41 to another root's branch"),
        pytest.param("z", "r", ["other", "z"], None, id="N-41 to another root"),
        pytest.param("c", "a", ["b", "c"], "a", id="N-44 up"),
        pytest.param("c", "r", ["a", "b", "c"], "r", id="N-44 up to the root"),
        pytest.param("a", "c", [], "a", id="N-45 down"),
        pytest.param("c", "c", [], "c", id="N-45 nowhere"),
        pytest.param("nope", "c", [], None, id="N-47 from an unknown leaf"),
        pytest.param("", "c", [], None, id="N-47 from the empty id"),
        pytest.param("b", "nope", ["r", "a", "b"], None, id="to an unknown target"),
    ],
)
async def test_left_is_what_is_below_the_deepest_entry_on_both_paths(
    linked: Callable[[Links], Path], old_leaf: str | None, target: str, entries: list[str], ancestor: str | None
) -> None:
    """N-40..N-45, N-47, in root-to-leaf order; the target counts, not its parent."""
    assert await left(linked(FORKED), old_leaf, target) == (entries, ancestor)


@pytest.mark.parametrize(
    ("links", "old_leaf", "target", "entries", "ancestor"),
    [
        pytest.param(
            [("r", None), ("o", "ghost"), ("p", "o"), ("q", "o")], "p", "q", ["p"], "o", id="two below an orphan"
        ),
        pytest.param([("r", None), ("o", "ghost"), ("p", "o")], "p", "r", ["o", "p"], None, id="from an orphan's"),
        pytest.param([("r", None), ("o", "ghost"), ("p", "o")], "r", "p", ["r"], None, id="to an orphan's"),
        pytest.param([("o", "ghost"), ("p", "ghost")], "o", "p", ["o"], None, id="two of one missing parent"),
        pytest.param([("s", "s"), ("t", "s"), ("u", "s")], "t", "u", ["t"], "s", id="below its own parent"),
        pytest.param([("s", "s"), ("t", "s")], "t", "s", ["t"], "s", id="to its own parent"),
        pytest.param([("a", "c"), ("b", "a"), ("c", "b")], "c", "a", ["b", "c"], "a", id="up a cycle"),
        pytest.param([("a", "c"), ("b", "a"), ("c", "b")], "a", "c", [], "a", id="down a cycle"),
        pytest.param([("b", "a"), ("c", "b"), ("a", "c")], "a", "b", ["c", "a"], "b", id="up a cycle cut elsewhere"),
        pytest.param(
            [("a", "b"), ("b", "a"), ("x", "y"), ("y", "x")], "b", "y", ["a", "b"], None, id="between two cycles"
        ),
        pytest.param([("t", "b"), ("a", "b"), ("b", "a"), ("v", "a")], "t", "v", ["b", "t"], "a", id="off a cycle"),
        pytest.param(
            [("k", "p"), ("m", "p"), ("p", "r"), ("r", None)], "k", "m", ["k"], "p", id="children before a parent"
        ),
        pytest.param([("k", "p"), ("p", "r"), ("r", None)], "k", "r", ["p", "k"], "r", id="up before its parents"),
        pytest.param([("k", "p"), ("p", "r"), ("r", None)], "r", "k", [], "r", id="down before its parents"),
        pytest.param(
            [("r", None), ("d", "r"), ("e", "d"), ("d", None), ("f", "r")], "e", "f", ["d", "e"], None, id="duplicate"
        ),
    ],
)
async def test_of_a_damaged_tree_the_parents_in_the_tree_count(
    linked: Callable[[Links], Path],
    links: Links,
    old_leaf: str,
    target: str,
    entries: list[str],
    ancestor: str | None,
) -> None:
    """N-46, T-23, T-27: a missing parent ends the way up, a cycle is cut at its first entry, each comes once."""
    assert await left(linked(links), old_leaf, target) == (entries, ancestor)


async def test_entries_of_all_types_are_left_and_a_compaction_ends_nothing(write_file: WriteFile) -> None:
    """N-42, N-43: what of them is summarized is decided later; those of unknown types too."""
    bodies: list[dict[str, Any]] = [
        {"message": {"role": "assistant", "content": []}},
        {"type": "compaction", "summary": "s", "firstKeptEntryId": "e0", "tokensBefore": 1},
        {"type": "label", "targetId": "e0", "label": "x"},
        {"type": "model_change", "model": "p/m"},
        {"type": "branch_summary", "summary": "s", "fromId": "e0"},
        {"type": "custom", "customType": "c"},
        {"type": "custom_message", "customType": "c", "content": "n", "display": True},
        {"type": "reset_boundary"},
        {"type": "from_the_future"},
        {"type": "compaction", "summary": 5},
    ]
    records = [{"id": f"e{number}", "parentId": f"e{number - 1}", **body} for number, body in enumerate(bodies, 1)]
    path = write_file([{"id": "e0"}, *records])
    async with await SessionManager.open(path) as session:
        assert session.leaf_id is not None
        collected = await collect_entries_for_branch_summary(session, session.leaf_id, "e0")
        assert collected == CollectedEntries(await session.get_entries(record["id"] for record in records), "e0")
        assert [entry.type for entry in collected.entries] == [record.get("type", "message") for record in records]


async def test_of_a_new_session_nothing_is_left(session: SessionManager) -> None:
    """N-40, N-47."""
    for old_leaf in (None, "nope"):
        assert session.abandoned_path(old_leaf, "a") == AbandonedPath([], None)
        assert session.abandoned_path(old_leaf, None) == AbandonedPath([], None)
    assert await collect_entries_for_branch_summary(session, None, "a") == CollectedEntries([], None)


async def test_to_above_all_roots_the_whole_path_is_left(session: SessionManager) -> None:
    """N-41: nothing stands on both ways."""
    ids = await session.append_many([{"role": "user", "content": "q"}] * 2)
    assert session.abandoned_path(session.leaf_id, None) == AbandonedPath(ids, None)


async def test_collecting_moves_nothing_and_can_be_aborted(session: SessionManager) -> None:
    """D8: the entries are read, so it takes a signal."""
    first, second = await session.append_many([{"role": "user", "content": "q"}] * 2)
    controller = AbortController()
    assert (await collect_entries_for_branch_summary(session, second, first, signal=controller.signal)).entries
    controller.abort()
    with pytest.raises(AbortError):
        await collect_entries_for_branch_summary(session, second, first, signal=controller.signal)
    assert session.leaf_id == second


@pytest.fixture
async def long(session: SessionManager) -> tuple[SessionManager, list[str]]:
    """A path of 30,000 entries, with a branch of one entry at its middle."""
    ids: list[str] = []
    for _ in range(30):
        ids += await session.append_many({"role": "user", "content": ""} for _ in range(1000))
    session.branch(ids[15_000])
    await session.append_custom_entry("side", entry_id="side")
    return session, ids


async def test_a_deep_branch_is_left_as_a_whole(long: tuple[SessionManager, list[str]]) -> None:
    """N-42, T-24: nothing recurses, nothing is put in front one by one."""
    session, ids = long
    assert session.abandoned_path(ids[-1], "side") == AbandonedPath(ids[15_001:], ids[15_000])
    assert session.abandoned_path("side", ids[-1]) == AbandonedPath(["side"], ids[15_000])
