"""Reading the tree of a session: entries, paths, children, nodes, shapes (T-01..T-03, T-20..T-33)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import EntryNotFoundError, SessionManager, SessionTreeNode
from sessiontree.projections.entry_reader import EntryReader

Make = Callable[..., Awaitable[SessionManager]]
WriteFile = Callable[..., Path]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def nested(nodes: list[SessionTreeNode]) -> list[Any]:
    """Small trees as [id, [children]]."""
    return [[node.entry.id, nested(node.children)] for node in nodes]


async def chain(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


async def test_an_empty_session_has_nothing_to_read(session: SessionManager) -> None:
    """X-06, X-07, X-09, X-15, T-03, T-20, T-22, T-26."""
    assert (session.leaf_id, session.entry_count, session.root_ids, session.path_ids()) == (None, 0, [], [])
    assert (await session.get_entries(), await session.get_branch(), await session.get_tree()) == ([], [], [])


async def test_the_leaf_can_be_read_as_an_entry(session: SessionManager) -> None:
    """X-15, T-20."""
    await chain(session, "a", "b")
    assert session.leaf_id is not None
    entry: Any = await session.get_entry(session.leaf_id)
    assert (entry.id, entry.parent_id, entry.type, entry.message) == ("b", "a", "message", user("b"))


async def test_an_unknown_entry_reads_as_none(session: SessionManager) -> None:
    """X-16, T-21, T-25."""
    await chain(session, "a")
    assert await session.get_entry("nope") is None
    assert not session.has_entry("nope")
    assert (session.child_ids("nope"), await session.get_children("nope"), session.get_label("nope")) == ([], [], None)
    with pytest.raises(EntryNotFoundError, match=r"^Entry nope not found$"):
        session.shape("nope")


async def test_entries_are_a_new_list_in_file_order_without_the_header(session: SessionManager) -> None:
    """T-01, T-03: who changes the list changes no session."""
    await chain(session, "a", "b")
    session.branch("a")
    await chain(session, "c")
    entries = await session.get_entries()
    assert [entry.id for entry in entries] == session.entry_ids() == ["a", "b", "c"]
    entries.clear()
    assert len(await session.get_entries()) == session.entry_count == 3
    assert session.header.id == session.session_id


async def test_a_scan_yields_what_a_list_holds_and_keeps_none_of_it(make_file: Make) -> None:
    """T-03, D2: in the order asked for, in slices; an unknown id is an error when its turn comes."""
    session = await make_file(durability="os")
    ids = await session.append_many([{"role": "user", "content": str(number)} for number in range(600)])
    await session.close()
    async with await SessionManager.open(str(session.session_file)) as again:
        scanned = [entry async for entry in again.scan_entries()]
        assert again._log.reader._cached_bytes == 0
        assert scanned == await again.get_entries()
        some = [ids[599], ids[0], ids[300], ids[0]]
        assert [entry.id async for entry in again.scan_entries(some)] == some
        with pytest.raises(EntryNotFoundError):
            [entry async for entry in again.scan_entries(["nope"])]


async def test_a_tree_of_shapes_reads_no_body(make_file: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """T-26..T-31, D2: the same tree, with what is known of each entry in its place."""
    session = await make_file()
    await chain(session, "a", "b")
    session.branch("a")
    await chain(session, "c")
    await session.append_label_change("b", "left")
    await session.close()
    async with await SessionManager.open(str(session.session_file)) as again:
        whole = await again.get_tree()
        monkeypatch.setattr(EntryReader, "read", None)
        shapes = await again.get_tree(bodies=False)
        [root] = shapes
        assert (root.shape, root.label) == (again.shape("a"), None)
        assert [(node.shape.id, node.label) for node in root.children] == [("b", "left"), ("c", None)]
        assert repr(root).endswith("children=[2 nodes], label=None)")
        walked, stack = [], [*zip(whole, shapes, strict=True)]
        while stack:
            node, shape = stack.pop()
            walked.append(node.entry.id)
            assert (node.entry.id, node.entry.type, node.label) == (shape.shape.id, shape.shape.type, shape.label)
            stack += zip(node.children, shape.children, strict=True)
        assert sorted(walked) == sorted(again.entry_ids())


async def test_a_path_leads_from_the_root_to_the_leaf_or_to_any_entry(session: SessionManager) -> None:
    """X-07, X-24, T-22: both ends included, whatever the types."""
    await chain(session, "a")
    assert session.path_ids() == ["a"]
    await session.append_thinking_level_change("high", entry_id="b")
    await chain(session, "c")
    assert session.path_ids() == session.path_ids("c") == ["a", "b", "c"]
    assert [(entry.id, entry.parent_id) for entry in await session.get_branch("b")] == [("a", None), ("b", "a")]


@pytest.mark.parametrize("start", ["nope", ""])
async def test_a_path_to_nowhere_is_empty(session: SessionManager, start: str) -> None:
    """T-22: no fallback to the leaf."""
    await chain(session, "a")
    assert (session.path_ids(start), await session.get_branch(start)) == ([], [])


async def test_a_path_can_be_cut_to_what_is_nearest(session: SessionManager) -> None:
    """Design D2: `limit` bounds the cost."""
    await chain(session, "a", "b", "c")
    assert session.path_ids(limit=2) == ["b", "c"]
    assert session.path_ids("b", limit=1) == ["b"]
    assert (session.path_ids(limit=0), session.path_ids(limit=9)) == ([], ["a", "b", "c"])


async def test_a_deep_chain_is_read_without_recursion(make: Make) -> None:
    """X-08, X-74, T-24, T-29."""
    session = await make(durability="os")
    ids = await session.append_many([user("x")] * 5000)
    assert session.path_ids() == ids
    assert [entry.id for entry in await session.get_branch()] == ids
    depth, nodes = 0, await session.get_tree()
    while nodes:
        [node] = nodes
        depth, nodes = depth + 1, node.children
    assert depth == 5000


async def test_a_chain_is_one_nested_root(session: SessionManager) -> None:
    """X-09, T-26."""
    await chain(session, "a", "b", "c")
    assert nested(await session.get_tree()) == [["a", [["b", [["c", []]]]]]]


async def test_children_are_in_file_order_and_new_lists(session: SessionManager) -> None:
    """T-25."""
    await chain(session, "a", "b")
    for entry_id in ("c", "d"):
        session.branch("a")
        await chain(session, entry_id)
    assert session.child_ids("a") == [entry.id for entry in await session.get_children("a")] == ["b", "c", "d"]
    session.child_ids("a").clear()
    assert session.child_ids("a") == ["b", "c", "d"]
    assert session.child_ids("d") == []


async def test_children_of_the_tree_are_oldest_first_and_roots_in_file_order(make: Make) -> None:
    """T-27, T-28: times are compared as instants; of equal times the first in the file comes first."""
    moment = 1000.0
    session = await make(clock=lambda: moment)
    for parent, entry_id, at in (
        (None, "r1", 900.0),
        (None, "r2", 800.0),
        ("r1", "x", 990.0),
        ("r1", "y", 980.0),
        ("r1", "z", 990.0),
    ):
        moment = at
        if parent is None:
            session.reset_leaf()
        else:
            session.branch(parent)
        await chain(session, entry_id)
    [first, second] = await session.get_tree()
    assert (first.entry.id, second.entry.id) == ("r1", "r2")
    assert [node.entry.id for node in first.children] == session.ordered_child_ids("r1") == ["y", "x", "z"]
    assert session.child_ids("r1") == ["x", "y", "z"]


async def test_times_are_read_as_instants(write_file: WriteFile) -> None:
    """T-28 as settled: offsets, none at all (UTC), and milliseconds; an unreadable one stays by its sibling."""
    times = {
        "a": "2026-01-05T12:00:00+02:00",
        "b": 1_767_607_199_000,
        "c": "2026-01-05T09:59:58",
        "d": "no time",
        "e": "2026-01-05T09:59:57.000Z",
    }
    rows = [{"id": entry_id, "parentId": "r", "timestamp": time} for entry_id, time in times.items()]
    path = write_file([{"id": "r"}, {"id": "first", "parentId": "r", "timestamp": None}, *rows])
    async with await SessionManager.open(path) as session:
        assert session.ordered_child_ids("r") == ["first", "e", "c", "d", "b", "a"]
        [root] = await session.get_tree()
        assert [node.entry.id for node in root.children] == session.ordered_child_ids("r")


async def test_roots_are_null_unknown_and_own_parents(write_file: WriteFile) -> None:
    """T-22, T-27, C-05: in file order; the path of an orphan starts with it."""
    rows = [
        {"id": "a"},
        {"id": "orphan", "parentId": "gone", "timestamp": "2020-01-01T00:00:00.000Z"},
        {"id": "own", "parentId": "own"},
        {"id": "below", "parentId": "own"},
        {"id": "child", "parentId": "orphan"},
    ]
    async with await SessionManager.open(write_file(rows)) as session:
        assert session.root_ids == ["a", "orphan", "own"]
        assert nested(await session.get_tree()) == [["a", []], ["orphan", [["child", []]]], ["own", [["below", []]]]]
        assert session.path_ids() == ["orphan", "child"]
        assert session.path_ids("below") == ["own", "below"]
        assert (session.child_ids("own"), session.shape("own").parent_id) == (["below"], None)
        assert [message["content"] for message in (await session.build_session_context()).messages] == [
            "orphan",
            "child",
        ]


async def test_a_cycle_is_cut_at_its_first_entry(write_file: WriteFile) -> None:
    """X-83, T-23, T-29 as settled: each entry once, and nothing is unreachable."""
    rows = [{"id": "a", "parentId": "b"}, {"id": "b", "parentId": "a"}, {"id": "tail", "parentId": "b"}]
    async with await SessionManager.open(write_file(rows)) as session:
        assert session.root_ids == ["a"]
        assert (session.path_ids("a"), session.path_ids("b"), session.path_ids()) == (
            ["a"],
            ["a", "b"],
            ["a", "b", "tail"],
        )
        assert nested(await session.get_tree()) == [["a", [["b", [["tail", []]]]]]]
        assert len(await session.get_entries()) == 3


async def test_the_leaf_is_the_last_line_whatever_its_type(write_file: WriteFile) -> None:
    """T-02, T-30: a label, a custom entry, a type that nobody knows."""
    for last in ({"type": "label", "targetId": "a", "label": "x"}, {"type": "custom"}, {"type": "from-the-future"}):
        path = write_file([{"id": "a"}, {"id": "b", "parentId": "a"}, {"id": "last", "parentId": "a", **last}])
        async with await SessionManager.open(path) as session:
            assert (session.leaf_id, session.path_ids()) == ("last", ["a", "last"])
            assert session.shape("last").type == last["type"]
    async with await SessionManager.open(write_file([])) as session:
        assert session.leaf_id is None


async def test_indexes_are_built_from_the_lines_in_order(write_file: WriteFile) -> None:
    """T-01, T-02, T-50, T-95: entries by id, the leaf, labels, usage."""
    usage = {"input": 3, "output": 4, "cost": {"total": 0.5}}
    rows = [
        {"id": "a", "message": {"role": "assistant", "content": [], "usage": usage}},
        {"id": "l", "type": "label", "targetId": "a", "label": "mark", "parentId": "a"},
    ]
    async with await SessionManager.open(write_file(rows)) as session:
        assert session.has_entry("a")
        assert (session.labels, session.leaf_id) == ({"a": "mark"}, "l")
        assert (session.usage.input, session.usage.output, session.usage.cost) == (3, 4, 0.5)


async def test_the_newest_model_change_of_the_path_gives_the_role(session: SessionManager) -> None:
    """X-25, T-32."""
    await chain(session, "a")
    assert session.last_model_change_role() is None
    await session.append_model_change("acme/m-1", entry_id="b")
    assert session.last_model_change_role() == "default"
    await session.append_model_change("acme/m-2", "smol")
    await chain(session, "c")
    assert session.last_model_change_role() == "smol"
    session.branch("b")
    assert session.last_model_change_role() == "default"
    session.branch("a")
    assert session.last_model_change_role() is None


async def test_injected_rules_are_those_of_the_path_first_seen_first(session: SessionManager) -> None:
    """T-33, C-17."""
    await session.append_ttsr_injection(["b", "a"], entry_id="x")
    await session.append_ttsr_injection(["elsewhere"])
    session.branch("x")
    await session.append_ttsr_injection(["c", "b"])
    assert (await session.build_session_context()).injected_ttsr_rules == ["b", "a", "c"]


async def test_a_shape_is_known_without_reading_a_body(make_file: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The contract of `shape` and of all that is resident: the disk is not asked."""
    session = await make_file()
    await chain(session, "a")
    await session.append_model_change("acme/m-1", entry_id="b")
    await session.close()
    async with await SessionManager.open(str(session.session_file)) as again:

        def refuse(*_: object) -> None:
            raise AssertionError("a body was read")

        for reader in ("read_lines", "read_lines_now"):
            monkeypatch.setattr(f"sessiontree.eventstore.jsonl_store.JsonlEventStore.{reader}", refuse)
        shape = again.shape("a")
        assert (shape.type, shape.role, shape.parent_id) == ("message", "user", None)
        assert isinstance(shape.timestamp, str)
        shape = again.shape("b")
        assert (shape.type, shape.role, shape.parent_id) == ("model_change", None, "a")
        assert (again.path_ids(), again.child_ids("a"), again.root_ids) == (["a", "b"], ["b"], ["a"])
        assert (again.labels, again.entry_count, again.usage.input, again.report.faults) == ({}, 2, 0, [])
