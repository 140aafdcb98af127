"""The tree of a sound log: parents, children, paths (T-20..T-33)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sessiontree import SessionManager
from sessiontree.projections.tree import ROOT

Factory = Callable[..., Any]


def said(text: str = "q") -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": text}}


@pytest.fixture
def forked(fed_log: Factory, chain: Factory) -> Any:
    """e1 - e2 - e3 - e4, and below e2 also e5 - e6 and e7."""
    trunk = chain(said(), said(), said(), said())
    return fed_log([*trunk, *chain(said(), said(), first=5, parent="e2"), *chain(said(), first=7, parent="e2")]).feed()


def test_an_empty_log_has_no_entries_roots_or_paths(fed_log: Factory) -> None:
    """T-22, T-26, T-30, X-07, X-09."""
    tree = fed_log([]).projector.tree
    assert (tree.last_seq, tree.entry_count, list(tree.live())) == (0, 0, [])
    assert tree.children(ROOT) == tree.ordered_children(ROOT) == tree.path(ROOT) == []


def test_a_path_runs_from_the_root_to_the_entry_itself(forked: Any) -> None:
    """T-22, X-07, X-24: every type, each parent is the one before."""
    tree = forked.projector.tree
    assert forked.ids(tree.path(tree.find("e1"))) == ["e1"]
    assert forked.ids(tree.path(tree.find("e4"))) == ["e1", "e2", "e3", "e4"]
    path = tree.path(tree.find("e6"))
    assert forked.ids(path) == ["e1", "e2", "e5", "e6"]
    assert [tree.parents[seq] for seq in path] == [ROOT, *path[:-1]]
    assert list(tree.ancestors(path[-1])) == path[::-1]


@pytest.mark.parametrize("unknown", ["nowhere", "", "E1"])
def test_an_unknown_id_is_nothing_and_has_no_path(forked: Any, unknown: str) -> None:
    """T-21, T-22."""
    tree = forked.projector.tree
    assert tree.find(unknown) == ROOT
    assert tree.path(tree.find(unknown)) == []


def test_children_stand_in_file_order_and_the_list_is_the_callers(forked: Any) -> None:
    """T-25, X-11: a copy; a leaf has none."""
    tree = forked.projector.tree
    two = tree.find("e2")
    children = tree.children(two)
    assert forked.ids(children) == ["e3", "e5", "e7"]
    children.clear()
    assert forked.ids(tree.children(two)) == ["e3", "e5", "e7"]
    ordered = tree.ordered_children(two)
    ordered.clear()
    assert forked.ids(tree.ordered_children(two)) == ["e3", "e5", "e7"]
    assert tree.children(tree.find("e7")) == []


def test_roots_stand_in_file_order_whatever_their_times(fed_log: Factory, chain: Factory) -> None:
    """T-27: not sorted."""
    late, early = chain(said(), first=50), chain(said(), first=1)
    fed = fed_log([*late, *early]).feed()
    assert fed.ids(fed.projector.tree.children(ROOT)) == ["e50", "e1"]
    assert fed.ids(fed.projector.tree.ordered_children(ROOT)) == ["e50", "e1"]


def test_the_header_is_no_entry_and_entries_keep_their_order(forked: Any) -> None:
    """T-01, T-03."""
    tree = forked.projector.tree
    assert forked.ids(tree.live()) == [f"e{number}" for number in range(1, 8)]
    assert (tree.entry_count, tree.last_seq) == (7, 7)


def test_the_kind_of_an_entry_is_its_type_and_a_messages_role(fed_log: Factory, chain: Factory) -> None:
    """F-56: an unknown type is one like others; only a message has a role."""
    fed = fed_log(
        chain(
            said(),
            {"type": "message", "message": {"role": "assistant", "content": []}},
            {"type": "message", "message": {"content": "no role"}},
            {"type": "custom", "customType": "c", "message": {"role": "user"}},
            {"type": "from_the_future"},
        )
    ).feed()
    kinds = [fed.projector.tree.kind(seq) for seq in fed.projector.tree.live()]
    assert [(kind.type, kind.role) for kind in kinds] == [
        ("message", "user"),
        ("message", "assistant"),
        ("message", None),
        ("custom", None),
        ("from_the_future", None),
    ]


def test_the_newest_model_change_on_the_path_names_the_role(fed_log: Factory, chain: Factory) -> None:
    """T-32, X-25: without a role it is `default`; a change on another branch does not count."""
    slow = {"type": "model_change", "model": "p/m", "role": "slow"}
    pi = {"type": "model_change", "provider": "p", "modelId": "m"}
    fed = fed_log([*chain(said(), slow, said(), pi, said()), *chain(said(), first=6, parent="e3")]).feed()
    states = fed.projector.states
    roles = [states.last_model_change_role(fed.seq(f"e{number}")) for number in range(1, 7)]
    assert roles == [None, "slow", "slow", "default", "default", "slow"]
    assert states.last_model_change_role(ROOT) is None


def test_injected_rules_are_those_of_the_path_first_seen_first(fed_log: Factory, chain: Factory) -> None:
    """T-33, C-17: unique; those of another branch do not count."""
    rules = [{"type": "ttsr_injection", "injectedRules": names} for names in (["b", "a"], ["a", "c", "c"], ["d"])]
    fed = fed_log([*chain(said(), rules[0], rules[1]), *chain(rules[2], first=4, parent="e1")]).feed()
    found = [fed.projector.states.at(fed.seq(f"e{number}")).injected_rules() for number in range(1, 5)]
    assert found == [[], ["b", "a"], ["b", "a", "c"], ["d"]]


async def test_branches_give_siblings_at_every_depth() -> None:
    """T-26, X-10, X-11, X-12, T-44: two, three and nested branches have the right numbers of children."""
    async with SessionManager.in_memory() as session:
        root, first = await session.append_many([said()["message"], said()["message"]])
        for _ in range(2):
            session.branch(root)
            await session.append_message(said()["message"])
        nested = session.leaf_id
        assert nested is not None
        for _ in range(2):
            session.branch(nested)
            await session.append_message(said()["message"])
        [top] = await session.get_tree()
        assert [len(node.children) for node in (top, *top.children)] == [3, 0, 0, 2]
        assert top.children[0].entry.id == first
        assert session.child_ids(root) == [node.entry.id for node in top.children]
