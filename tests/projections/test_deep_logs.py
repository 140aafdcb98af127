"""Chains of 160,000 entries, in any order of lines: nothing recurses (T-24, T-29, C-05, X-08, X-74)."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest

from sessiontree.eventstore.entries import MessageEntry, TtsrInjectionEntry
from sessiontree.eventstore.envelope import Envelope, MessageEnvelope, envelope_of
from sessiontree.projections.context import build_context, build_session_context, context_window
from sessiontree.projections.path_state import PathState
from sessiontree.projections.session_tree import build_tree
from sessiontree.projections.tree import ROOT, Tree

DEPTH = 160_000
BATCH = 4096
TIME = "2026-01-05T10:00:00.000Z"
USER = MessageEnvelope(role="user")

Pairs = list[tuple[str, str | None]]
Fold = Callable[[Pairs], tuple[Tree, PathState]]


@pytest.fixture(scope="module")
def fold() -> Fold:
    """Folds messages given as (id, parent id)."""

    def make(links: Pairs) -> tuple[Tree, PathState]:
        tree = Tree()
        states = PathState(tree)
        for start in range(0, len(links), BATCH):
            envelopes = [Envelope("message", one, parent, TIME, USER) for one, parent in links[start : start + BATCH]]
            tree.apply_batch(start + 1, envelopes)
            states.apply_batch(start + 1, envelopes)
        return tree, states

    return make


@pytest.fixture(scope="module")
def links() -> Pairs:
    """A chain, the root first."""
    ids = [f"{number:x}" for number in range(DEPTH)]
    return [(ids[0], None), *((child, parent) for parent, child in pairwise(ids))]


@pytest.fixture(scope="module")
def deep(fold: Fold, links: Pairs) -> Iterator[tuple[Tree, PathState]]:
    """The chain, folded."""
    yield fold(links)
    gc.collect()


def test_a_path_and_all_children_of_a_deep_chain(deep: tuple[Tree, PathState]) -> None:
    """T-22, T-24, T-25, X-08."""
    tree, _ = deep
    assert tree.path(DEPTH) == list(range(1, DEPTH + 1))
    assert all(tree.children(seq) == [seq + 1] for seq in range(ROOT, DEPTH))
    assert tree.ordered_children(DEPTH) == []


async def test_the_nodes_of_a_deep_chain_are_made_and_freed(deep: tuple[Tree, PathState]) -> None:
    """T-26, T-29, T-31."""
    tree, _ = deep
    entry = MessageEntry(id="any", message={"role": "user", "content": "q"})
    roots = await build_tree(tree, {f"{DEPTH - 1:x}": "end"}, dict.fromkeys(range(1, DEPTH + 1), entry))
    depth = 0
    nodes = roots
    while nodes:
        assert len(nodes) == 1
        depth, label, nodes = depth + 1, nodes[0].label, nodes[0].children
    assert (depth, label) == (DEPTH, "end")
    del nodes, roots
    gc.collect()


def test_the_context_of_a_deep_chain(deep: tuple[Tree, PathState]) -> None:
    """C-05, C-30, X-74."""
    window = context_window(*deep, DEPTH)
    entry = MessageEntry(id="any", message={"role": "user", "content": "q"})
    context = build_context(window, dict.fromkeys(window.needed, entry))
    assert len(context.messages) == DEPTH
    assert all(message is entry.message for message in context.messages)


def test_the_pure_function_takes_a_deep_chain(links: Pairs) -> None:
    """C-05, X-74."""
    entries = [MessageEntry(id=one, parent_id=parent, message={"role": "user"}) for one, parent in links]
    assert len(build_session_context(entries).messages) == DEPTH


def test_a_deep_chain_that_stands_upside_down(fold: Fold, links: Pairs) -> None:
    """T-24, D3: every parent comes after its child."""
    tree, states = fold(links[::-1])
    assert tree.path(tree.find(links[-1][0])) == list(range(DEPTH, 0, -1))
    assert tree.children(ROOT) == [DEPTH]
    assert len(context_window(tree, states, 1).speaking) == DEPTH


def test_a_deep_ring_is_cut_at_its_first_entry(fold: Fold, links: Pairs) -> None:
    """T-23, T-29."""
    tree, _ = fold([(links[0][0], links[-1][0]), *links[1:]])
    assert tree.path(DEPTH) == list(range(1, DEPTH + 1))
    assert tree.cycles == [(1, links[-1][0])]


def test_an_id_that_stands_again_on_every_line(fold: Fold) -> None:
    """F-87: one entry, at the last line."""
    tree, states = fold([("same", "same")] * DEPTH)
    assert (list(tree.live()), tree.entry_count, len(tree.duplicates)) == ([DEPTH], 1, DEPTH - 1)
    assert tree.path(tree.find("same")) == [DEPTH]
    assert context_window(tree, states, DEPTH).speaking == [DEPTH]


def test_rules_injected_by_every_entry_of_a_deep_chain(links: Pairs) -> None:
    """C-17, T-33: read and freed."""
    tree = Tree()
    states = PathState(tree)
    envelopes = [
        envelope_of(TtsrInjectionEntry(id=one, parent_id=parent, timestamp=TIME, injected_rules=["r", one[-1]]))
        for one, parent in links
    ]
    tree.apply_batch(1, envelopes)
    states.apply_batch(1, envelopes)
    assert states.at(DEPTH).injected_rules() == ["r", *"0123456789abcdef"]
    del states, envelopes
    gc.collect()
