"""Which entries a fork keeps and what it changes in them: given a log, when it is forked there, then this plan."""

from __future__ import annotations

import json
from collections.abc import Container
from typing import Any

import pytest

from sessiontree import EntryNotFoundError
from sessiontree.commands.fork import ForkPlan, forked_line, label_lines, plan_fork
from sessiontree.eventstore.header import make_header
from sessiontree.eventstore.memory_store import MemoryEventStore
from sessiontree.eventstore.scanner import scan_chunk
from sessiontree.eventstore.store import EntryBatch
from sessiontree.projections.projector import Projector


class Given:
    """A log, and what a fork of it decides."""

    def __init__(self, *rows: dict[str, Any]) -> None:
        store = MemoryEventStore(make_header("source", "2026-01-05T10:00:00.000Z", "/p"))
        self.lines = [json.dumps({"type": "message", "parentId": None, **row}).encode() for row in rows]
        self.projector = Projector(store)
        if rows:
            data = b"\n".join(self.lines) + b"\n"
            self.projector.apply(EntryBatch(1, scan_chunk(data, 0, 1).envelopes))

    def when_forked_at(self, leaf_id: str) -> ForkPlan:
        return plan_fork(self.projector, leaf_id)

    def fork(self, leaf_id: str) -> list[dict[str, Any]]:
        """The records of the fork."""
        plan = self.when_forked_at(leaf_id)
        lines = [forked_line(plan, seq, self.lines[seq - 1]) for seq in plan.kept]
        numbers = iter(range(100))
        last_id = json.loads(lines[-1])["id"] if lines else None
        lines += label_lines(plan, last_id, "now", lambda taken: f"new{next(numbers)}")
        return [json.loads(line) for line in lines]

    def links(self, leaf_id: str) -> dict[str, str | None]:
        return {record["id"]: record["parentId"] for record in self.fork(leaf_id)}


def entry(entry_id: str, parent_id: str | None = None, **fields: Any) -> dict[str, Any]:
    if fields.get("type", "message") == "message":
        fields.setdefault("message", {"role": "user", "content": entry_id})
    return {"id": entry_id, "parentId": parent_id, **fields}


def label(entry_id: str, parent_id: str | None, target: str, text: str | None = "x") -> dict[str, Any]:
    return entry(entry_id, parent_id, type="label", targetId=target, **({"label": text} if text else {}))


def compaction(entry_id: str, parent_id: str, first_kept: str) -> dict[str, Any]:
    return entry(entry_id, parent_id, type="compaction", summary="s", firstKeptEntryId=first_kept, tokensBefore=1)


@pytest.mark.parametrize("leaf_id", ["nope", ""])
def test_a_fork_at_an_unknown_entry_is_refused(leaf_id: str) -> None:
    """X-18, T-60, T-100."""
    with pytest.raises(EntryNotFoundError, match=f"^Entry {leaf_id} not found$"):
        Given(entry("a")).when_forked_at(leaf_id)
    with pytest.raises(EntryNotFoundError):
        Given().when_forked_at(leaf_id)


def test_the_path_is_kept_root_first_and_nothing_else() -> None:
    """X-20, T-60, T-61."""
    given = Given(entry("a"), entry("b", "a"), entry("c", "a"), entry("d", "c"), entry("e", "d"))
    assert given.when_forked_at("d") == ForkPlan([1, 3, 4], {}, {}, False)
    assert given.fork("d") == [json.loads(given.lines[seq - 1]) for seq in (1, 3, 4)]


def test_what_is_kept_is_kept_byte_for_byte() -> None:
    """T-61, D1: unknown types, unknown fields and odd spacing."""
    given = Given(entry("a", type="from-the-future", odd=[1, None]), entry("b", "a", more={"x": "\u2028"}))
    given.lines[0] = given.lines[0].replace(b": ", b" :  ")
    plan = given.when_forked_at("b")
    assert [forked_line(plan, seq, given.lines[seq - 1]) for seq in plan.kept] == given.lines


def test_what_hung_on_a_label_hangs_on_the_nearest_kept_entry() -> None:
    """T-71: over any run of labels."""
    given = Given(entry("a"), label("l1", "a", "a"), label("l2", "l1", "a"), entry("b", "l2"), entry("c", "b"))
    plan = given.when_forked_at("c")
    assert (plan.kept, plan.changes) == ([1, 4, 5], {4: {"parentId": "a"}})
    assert given.links("c") == {"a": None, "b": "a", "c": "b", "new0": "c"}
    assert given.fork("c")[1]["message"] == {"role": "user", "content": "b"}


def test_what_hung_on_a_label_at_the_root_becomes_the_root() -> None:
    """T-71: null if nothing above is kept."""
    given = Given(label("l1", None, "a"), entry("a", "l1"))
    assert given.when_forked_at("a").changes == {2: {"parentId": None}}
    assert given.links("a") == {"a": None, "new0": "a"}


def test_a_fork_at_a_label_ends_with_what_it_hung_on() -> None:
    """T-61, T-66."""
    given = Given(entry("a"), entry("b", "a"), label("l1", "b", "a"))
    assert given.links("l1") == {"a": None, "b": "a", "new0": "b"}


def test_a_path_of_labels_only_keeps_nothing() -> None:
    """T-72: and is no error."""
    given = Given(label("l1", None, "l2"), label("l2", "l1", "l1"))
    assert given.when_forked_at("l2") == ForkPlan([], {}, {}, False)
    assert given.fork("l2") == []


def test_labels_of_what_stays_are_set_anew_in_map_order() -> None:
    """X-35, X-36, T-62, T-65: from the whole file's map, as a chain below the last kept entry."""
    given = Given(
        entry("a"),
        entry("b", "a"),
        entry("side", "a"),
        label("l1", "side", "b", "second"),
        label("l2", "l1", "a", "old"),
        label("l3", "l2", "side", "lost"),
        label("l4", "l3", "a", None),
        label("l5", "l4", "a", "first set last"),
        label("l6", "l5", "l1", "on a label"),
    )
    plan = given.when_forked_at("b")
    assert list(plan.labels.items()) == [("b", "second"), ("a", "first set last")]
    assert given.fork("b")[2:] == [
        {"type": "label", "id": "new0", "parentId": "b", "timestamp": "now", "targetId": "b", "label": "second"},
        {
            "type": "label",
            "id": "new1",
            "parentId": "new0",
            "timestamp": "now",
            "targetId": "a",
            "label": "first set last",
        },
    ]


def test_fresh_label_ids_differ_from_each_other() -> None:
    """T-65: who makes them is told which are taken."""
    plan = ForkPlan([1], {}, {"a": "1", "b": "2"}, False)

    def new_id(taken: Container[str]) -> str:
        return "y" if "x" in taken else "x"

    lines = [json.loads(line) for line in label_lines(plan, None, "now", new_id)]
    assert [(line["id"], line["parentId"]) for line in lines] == [("x", None), ("y", "x")]


@pytest.mark.parametrize(
    ("rows", "first_kept"),
    [
        ([entry("b", "l1")], "b"),
        ([label("l2", "l1", "a"), entry("b", "l2")], "b"),
        ([entry("b", "l1"), entry("c", "b")], "b"),
        ([], "k"),
    ],
)
def test_a_compaction_that_kept_from_a_label_keeps_from_the_next_entry(
    rows: list[dict[str, Any]], first_kept: str
) -> None:
    """T-61, T-71 as settled: with nothing kept in between that is the compaction itself, which keeps nothing."""
    last = rows[-1]["id"] if rows else "l1"
    given = Given(entry("a"), label("l1", "a", "a"), *rows, compaction("k", last, "l1"), entry("z", "k"))
    record = next(record for record in given.fork("z") if record["id"] == "k")
    assert record["firstKeptEntryId"] == first_kept
    assert record["parentId"] in ("a", "b", "c")


def test_each_of_two_compactions_gets_its_own_first_kept_entry() -> None:
    """T-71: and one that names an entry that stays is not touched."""
    given = Given(
        entry("a"),
        label("l1", "a", "a"),
        entry("b", "l1"),
        compaction("k1", "b", "l1"),
        label("l2", "k1", "a"),
        entry("c", "l2"),
        compaction("k2", "c", "l2"),
        compaction("k3", "k2", "b"),
    )
    kept = {record["id"]: record.get("firstKeptEntryId") for record in given.fork("k3")}
    assert (kept["k1"], kept["k2"], kept["k3"]) == ("b", "c", "b")
    assert 8 not in given.when_forked_at("k3").changes


@pytest.mark.parametrize("first_kept", ["gone", "side", "later", "k"])
def test_a_first_kept_entry_that_is_not_above_is_left_as_it_is(first_kept: str) -> None:
    """K-81, C-32: unknown, on another branch, a label below, the compaction itself."""
    given = Given(entry("a"), label("side", "a", "a"), compaction("k", "a", first_kept), label("later", "k", "a"))
    assert given.when_forked_at("later").changes == {}


def test_an_orphan_stays_an_orphan() -> None:
    """T-22, T-61: it keeps the parent that it names."""
    given = Given(entry("a"), entry("b", "gone"), entry("c", "b"))
    assert given.links("c") == {"b": "gone", "c": "b"}


def test_an_orphaned_label_leaves_a_root() -> None:
    """T-71."""
    given = Given(label("l1", "gone", "b"), entry("b", "l1"))
    assert given.links("b") == {"b": None, "new0": "b"}


def test_a_duplicate_is_kept_once_where_it_stands_last() -> None:
    """F-87."""
    given = Given(entry("a"), entry("b", "a", note=1), entry("c", "b"), entry("b", "a", note=2))
    assert [record.get("note") for record in given.fork("c")] == [None, 2, None]
    assert given.when_forked_at("c").kept == [1, 4, 3]


def test_a_cycle_is_kept_from_where_it_is_cut() -> None:
    """T-23, T-61: the fork reads as the same path."""
    given = Given(entry("a", "c"), entry("b", "a"), entry("c", "b"), entry("d", "c"))
    plan = given.when_forked_at("d")
    assert (plan.kept, plan.changes) == ([1, 2, 3, 4], {})
    again = Given(*given.fork("d"))
    tree = again.projector.tree
    assert [tree.ids[seq] for seq in tree.path(tree.find("d"))] == ["a", "b", "c", "d"]


def test_a_label_within_a_cycle_is_left_out_of_it() -> None:
    """T-23, T-71."""
    given = Given(label("l1", "c", "c"), entry("b", "l1"), entry("c", "b"))
    assert given.links("c") == {"b": None, "c": "b", "new0": "c"}


def test_an_own_parent_is_a_root_of_the_fork() -> None:
    """T-27, T-61."""
    given = Given(entry("a", "a"), label("l1", "a", "a"), entry("b", "l1"))
    assert given.links("b") == {"a": "a", "b": "a", "new0": "b"}


def test_a_plan_knows_whether_the_name_is_on_the_path() -> None:
    """F-55 as settled: an empty name is none."""
    given = Given(
        entry("a"),
        entry("n0", "a", type="session_info", name="  "),
        entry("n1", "n0", type="session_info", name="one"),
        entry("t", "a", type="title_change", title="two", source="user"),
    )
    named = {leaf_id: given.when_forked_at(leaf_id).has_name for leaf_id in ("a", "n0", "n1", "t")}
    assert named == {"a": False, "n0": False, "n1": True, "t": True}
