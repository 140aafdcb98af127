"""The tree as nodes (T-26..T-31)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sessiontree import AbortController, AbortError
from sessiontree.projections.session_tree import build_tree

Factory = Callable[..., Any]
USER = {"type": "message", "message": {"role": "user", "content": "q"}}


def bodies(fed: Any) -> Any:
    return fed.bodies(fed.projector.tree.live())


async def test_an_empty_log_has_no_nodes(fed_log: Factory) -> None:
    """T-26, X-09."""
    assert await build_tree(fed_log([]).projector.tree, {}, {}) == []


async def test_a_chain_is_one_root_with_all_nested(fed_log: Factory, chain: Factory) -> None:
    """T-26, X-09: new nodes on every call, the entries are shared."""
    fed = fed_log(chain(USER, USER, USER)).feed()
    entries = bodies(fed)
    [root] = await build_tree(fed.projector.tree, {}, entries)
    [child] = root.children
    [grandchild] = child.children
    assert [root.entry, child.entry, grandchild.entry] == list(entries.values())
    assert root.entry is entries[1]
    assert grandchild.children == []
    [again] = await build_tree(fed.projector.tree, {}, entries)
    assert again is not root
    assert again.entry is root.entry
    root.children.clear()
    assert len(again.children) == 1


async def test_children_are_sorted_by_time_and_roots_are_not(fed_log: Factory, chain: Factory) -> None:
    """T-27, T-28."""
    entries = [
        *chain(USER, first=9),
        *chain(USER, first=5, parent="e9"),
        *chain(USER, first=3, parent="e9"),
        *chain(USER, first=1),
    ]
    fed = fed_log(entries).feed()
    roots = await build_tree(fed.projector.tree, {}, bodies(fed))
    assert [root.entry.id for root in roots] == ["e9", "e1"]
    assert [node.entry.id for node in roots[0].children] == ["e3", "e5"]


async def test_every_entry_stands_once_and_damage_gives_more_roots(fed_log: Factory, chain: Factory) -> None:
    """T-27, T-29, F-87: orphans, own parents, first entries of cycles; a duplicate is one node."""
    entries = [
        *chain(USER, USER),
        *chain(USER, first=3, parent="ghost"),
        *chain(USER, first=4, parent="e4"),
        *chain(USER, first=5, parent="e6"),
        *chain(USER, first=6, parent="e5"),
        *chain(USER, first=2, parent="e3"),
    ]
    fed = fed_log(entries).feed()
    roots = await build_tree(fed.projector.tree, {}, bodies(fed))
    assert [(root.entry.id, [node.entry.id for node in root.children]) for root in roots] == [
        ("e1", []),
        ("e3", ["e2"]),
        ("e4", []),
        ("e5", ["e6"]),
    ]


async def test_a_node_shows_the_current_label_of_its_entry(fed_log: Factory, chain: Factory) -> None:
    """T-31, X-34: none where there is none."""
    fed = fed_log(chain(USER, USER)).feed()
    [root] = await build_tree(fed.projector.tree, {"e2": "here", "ghost": "x"}, bodies(fed))
    assert (root.label, root.children[0].label) == (None, "here")
    [later] = await build_tree(fed.projector.tree, {"e1": "now"}, bodies(fed))
    assert (later.label, later.children[0].label, root.label) == ("now", None, None)


async def test_building_stops_when_the_signal_is_aborted(
    fed_log: Factory, chain: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D8: `AbortError`, looked at whenever a turn ends."""
    monkeypatch.setattr("sessiontree.eventstore.turns._TURN", -1.0)
    fed = fed_log(chain(USER, USER, USER)).feed()
    controller = AbortController()
    controller.abort("enough")
    with pytest.raises(AbortError):
        await build_tree(fed.projector.tree, {}, bodies(fed), controller.signal)
