"""Logs whose ids and parents are wrong: settled, reported, nothing lost (T-23, T-27, T-29, F-87, design D3)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from sessiontree.projections.tree import ROOT

Factory = Callable[..., Any]
Links = list[tuple[str, str | None]]


@pytest.fixture
def linked(fed_log: Factory) -> Callable[[Links], Any]:
    """Makes a log of (id, parent id); nothing of it is folded yet."""

    def make(links: Links) -> Any:
        return fed_log(
            {
                "type": "custom",
                "customType": "c",
                "id": entry_id,
                "parentId": parent,
                "timestamp": "2026-01-05T10:00:00.000Z",
            }
            for entry_id, parent in links
        )

    return make


def faults(fed: Any) -> list[tuple[int, str, str]]:
    """(Number of the entry, kind, id): the first stands on line 2."""
    return [(fault.line - 1, fault.kind, fault.id) for fault in fed.projector.report().faults]


def path(fed: Any, entry_id: str) -> list[str]:
    found: list[str] = fed.ids(fed.projector.tree.path(fed.seq(entry_id)))
    return found


def below(fed: Any, entry_id: str | None) -> list[str]:
    found: list[str] = fed.ids(fed.projector.tree.children(fed.seq(entry_id)))
    return found


def check_whole(fed: Any) -> None:
    """Each entry hangs below the roots once, and its path leads to a root."""
    tree = fed.projector.tree
    seen, waiting = [], [ROOT]
    while waiting:
        children = tree.children(waiting.pop())
        seen += children
        waiting += children
    assert sorted(seen) == list(tree.live())
    for seq in tree.live():
        steps = tree.path(seq)
        assert len(set(steps)) == len(steps)
        assert tree.parents[steps[0]] == ROOT


def test_an_entry_whose_parent_is_missing_is_a_root_and_reported(linked: Callable[[Links], Any]) -> None:
    """T-22, T-27: its path starts with it, in file order among the roots; the empty id is unknown too."""
    fed = linked([("a", None), ("b", "ghost"), ("c", "b"), ("d", ""), ("e", "a")]).feed()
    assert below(fed, None) == ["a", "b", "d"]
    assert path(fed, "c") == ["b", "c"]
    assert faults(fed) == [(2, "orphan", "b"), (4, "orphan", "d")]
    assert fed.projector.report().orphans == ["b", "d"]
    assert "ghost" in fed.projector.report().faults[0].detail


@pytest.mark.parametrize("asked_between", [False, True])
def test_a_parent_that_comes_late_is_a_parent(linked: Callable[[Links], Any], asked_between: bool) -> None:
    """T-22, D3: until it is there the child is an orphan; then there is no fault."""
    fed = linked([("c", "b"), ("b", "a"), ("x", None), ("a", "x"), ("d", "c")])
    fed.feed(3)
    if asked_between:
        assert below(fed, None) == ["b", "x"]
        assert faults(fed) == [(2, "orphan", "b")]
    fed.feed()
    assert path(fed, "d") == ["x", "a", "b", "c", "d"]
    assert below(fed, None) == ["x"]
    assert faults(fed) == []
    check_whole(fed)


def test_children_before_and_behind_a_parent_stand_in_file_order(linked: Callable[[Links], Any]) -> None:
    """T-25."""
    fed = linked([("one", "p"), ("two", "p"), ("p", None), ("three", "p"), ("four", "three"), ("five", "p")]).feed()
    assert below(fed, "p") == ["one", "two", "three", "five"]


def test_an_entry_that_is_its_own_parent_is_a_root(linked: Callable[[Links], Any]) -> None:
    """T-23, T-27, T-29: not among its own children (as settled), reported as a cycle, and its children hang on it."""
    fed = linked([("a", None), ("b", "b"), ("c", "b")]).feed()
    assert below(fed, None) == ["a", "b"]
    assert below(fed, "b") == ["c"]
    assert path(fed, "c") == ["b", "c"]
    assert faults(fed) == [(2, "cycle", "b")]
    assert "its own parent" in fed.projector.report().faults[0].detail


@pytest.mark.parametrize("order", list(permutations("ABC")), ids="".join)
def test_a_cycle_is_cut_at_its_first_entry_in_file_order(
    linked: Callable[[Links], Any], order: tuple[str, ...]
) -> None:
    """T-23, T-29, X-83: A below C below B below A; the first is a root for the tree and for paths alike."""
    named = {"A": "C", "C": "B", "B": "A"}
    fed = linked([("top", None), *((entry_id, named[entry_id]) for entry_id in order), ("leaf", order[0])]).feed()
    first = order[0]
    children = {parent: child for child, parent in named.items()}
    ring = [first, children[first], children[children[first]]]
    assert below(fed, None) == ["top", first]
    assert [path(fed, entry_id) for entry_id in ring] == [ring[:1], ring[:2], ring]
    assert path(fed, "leaf") == [first, "leaf"]
    assert faults(fed) == [(2, "cycle", first)]
    assert f"{named[first]} is below it" in fed.projector.report().faults[0].detail
    check_whole(fed)


def test_two_entries_that_name_each_other_give_the_later_below_the_first(linked: Callable[[Links], Any]) -> None:
    """T-23, C-05, X-83: as settled the leaf A of A, B has the path [A], B has [A, B]; each once."""
    fed = linked([("A", "B"), ("B", "A")]).feed()
    assert (path(fed, "A"), path(fed, "B")) == (["A"], ["A", "B"])


def test_what_hangs_on_a_cycle_and_several_cycles_are_reachable(linked: Callable[[Links], Any]) -> None:
    """T-29: nothing in the log is unreachable."""
    links: Links = [("tail", "b"), ("a", "b"), ("b", "a"), ("x", "y"), ("own", "own"), ("y", "z"), ("z", "x")]
    fed = linked(links).feed()
    assert below(fed, None) == ["a", "x", "own"]
    assert path(fed, "tail") == ["a", "b", "tail"]
    assert [kind for _, kind, _ in faults(fed)] == ["cycle"] * 3
    check_whole(fed)


def test_an_id_that_stands_again_is_one_entry_at_its_last_line(linked: Callable[[Links], Any]) -> None:
    """F-87: the last line's parent counts; what hung on the first hangs on the last."""
    fed = linked([("a", None), ("twice", "a"), ("c", "twice"), ("twice", None), ("d", "a")]).feed()
    tree = fed.projector.tree
    assert fed.ids(tree.live()) == ["a", "c", "twice", "d"]
    assert (tree.entry_count, tree.find("twice")) == (4, 4)
    assert below(fed, None) == ["a", "twice"]
    assert (below(fed, "a"), below(fed, "twice")) == (["d"], ["c"])
    assert path(fed, "c") == ["twice", "c"]
    assert faults(fed) == [(2, "duplicate-id", "twice")]
    check_whole(fed)


def test_of_three_lines_with_one_id_the_last_counts(linked: Callable[[Links], Any]) -> None:
    """F-87: both others are reported, with the line that counts."""
    fed = linked([("a", None), ("x", "a"), ("x", "a"), ("b", "x"), ("x", None)]).feed()
    report = fed.projector.report()
    assert faults(fed) == [(2, "duplicate-id", "x"), (3, "duplicate-id", "x")]
    assert all("line 6" in fault.detail for fault in report.faults)
    assert report.duplicates == ["x"]
    assert path(fed, "b") == ["x", "b"]


def test_a_duplicate_that_closes_a_loop_is_cut_where_the_entry_now_stands(linked: Callable[[Links], Any]) -> None:
    """F-87, T-23: b below a, then a again below b."""
    fed = linked([("a", None), ("b", "a"), ("a", "b")]).feed()
    assert below(fed, None) == ["b"]
    assert path(fed, "a") == ["b", "a"]
    assert faults(fed) == [(1, "duplicate-id", "a"), (2, "cycle", "b")]
    check_whole(fed)


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([("a", None), ("a", "a")], [(1, "duplicate-id", "a"), (2, "cycle", "a")]),
        ([("a", "a"), ("a", None)], [(1, "duplicate-id", "a")]),
        ([("a", "ghost"), ("a", None)], [(1, "duplicate-id", "a")]),
        ([("a", "a"), ("a", "a")], [(1, "duplicate-id", "a"), (2, "cycle", "a")]),
        ([("a", "b"), ("b", "a"), ("a", None)], [(1, "duplicate-id", "a")]),
        ([("a", "ghost"), ("b", "a"), ("ghost", "b")], [(1, "cycle", "a")]),
    ],
)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_faults_are_those_of_the_lines_that_count_however_they_came(
    linked: Callable[[Links], Any], links: Links, expected: list[tuple[int, str, str]], count: int
) -> None:
    """F-87, T-23, D1: a line whose id stands again has no fault in its parent; batches change nothing."""
    fed = linked(links)
    for _ in range(0, len(links), count):
        fed.feed(count)
    assert faults(fed) == expected
    check_whole(fed)


def test_damage_that_is_repaired_later_leaves_no_fault(linked: Callable[[Links], Any]) -> None:
    """T-23, D3: a cut cycle is whole again when a later line takes one of its entries out."""
    fed = linked([("a", "c"), ("b", "a"), ("c", "b"), ("b", None)])
    fed.feed(3)
    assert faults(fed) == [(1, "cycle", "a")]
    fed.feed()
    assert path(fed, "a") == ["b", "c", "a"]
    assert faults(fed) == [(2, "duplicate-id", "b")]
    check_whole(fed)


def test_settling_takes_steps_and_an_overtaken_run_is_dropped(linked: Callable[[Links], Any]) -> None:
    """D3, D6: what came meanwhile is in the result."""
    size = 5000
    fed = linked([("e0", "late"), *((f"e{number}", f"e{number - 1}") for number in range(1, size)), ("late", None)])
    fed.feed()
    tree = fed.projector.tree
    steps = tree.settle_in_steps()
    next(steps)
    fed.add({"type": "custom", "customType": "c", "id": "e0", "parentId": None, "timestamp": 0})
    assert sum(1 for _ in steps) > 2
    assert (tree.settled, below(fed, None), below(fed, "late")) == (True, ["late", "e0"], [])
    assert len(path(fed, f"e{size - 1}")) == size
