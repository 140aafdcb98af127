"""What holds for the model of any tree, whatever is done with it: a state machine against the rules read literally."""

from __future__ import annotations

import string
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from wcwidth import wcswidth

from sessiontree.app.selector.tree_model import TreeModel
from sessiontree.app.tree_filter import FilterMode
from sessiontree.app.tree_rows import render_row
from sessiontree.eventstore.envelope import Envelope, MessageEnvelope
from sessiontree.projections.tree import Tree

SETTINGS = ("label", "custom", "model_change", "thinking_level_change")
KINDS = [
    *(("message", role) for role in ("user", "assistant", "toolResult", "bashExecution")),
    *((name, None) for name in (*SETTINGS, "compaction", "custom_message", "mode_change")),
]
WORDS = ("red", "green", "blue", "漢字")


class Kind(NamedTuple):
    type: str
    role: str | None


@dataclass
class SampleTree:
    """A source, and what its rows have to be by the rules, each worked out anew from the entries."""

    leaf_id: str | None = None
    parent: dict[str, str | None] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)

    @property
    def columns(self) -> Tree:
        tree = Tree()
        for seq, (entry_id, (entry_type, role)) in enumerate(self.kinds.items(), start=1):
            message = MessageEnvelope(role) if role is not None else None
            tree.apply(seq, Envelope(entry_type, entry_id, self.parent[entry_id], None, message))
        return tree

    def children(self, parent_id: str | None) -> list[str]:
        return [entry_id for entry_id, above in self.parent.items() if above == parent_id]

    def upwards(self, entry_id: str | None) -> list[str]:
        found = []
        while entry_id is not None:
            found.append(entry_id)
            entry_id = self.parent[entry_id]
        return found

    def passes(self, mode: FilterMode, entry_id: str) -> bool:
        """U-50..U-55 as settled."""
        kind = self.kinds[entry_id]
        if mode is not FilterMode.ALL and entry_id in self.silent and entry_id != self.leaf_id:
            return False
        return {
            FilterMode.DEFAULT: kind.type not in SETTINGS,
            FilterMode.NO_TOOLS: kind.type not in SETTINGS and kind.role != "toolResult",
            FilterMode.USER_ONLY: kind.role == "user",
            FilterMode.LABELED_ONLY: entry_id in self.labels,
            FilterMode.ALL: True,
        }[mode]

    def shown(self, mode: FilterMode, query: str) -> list[str]:
        """U-11, U-58: depth-first, what contains the leaf first; every word of the query in label or text."""
        path = set(self.upwards(self.leaf_id))

        def below(siblings: list[str]) -> list[str]:
            ordered = sorted(siblings, key=lambda one: one not in path)
            return [found for one in ordered for found in [one, *below(self.children(one))]]

        def is_found(entry_id: str) -> bool:
            return all(word in f"{self.labels.get(entry_id)} {self.texts[entry_id]}" for word in query.split())

        return [one for one in below(self.children(None)) if self.passes(mode, one) and is_found(one)]


@st.composite
def trees(draw: st.DrawFn) -> SampleTree:
    tree = SampleTree()
    ids = list(string.ascii_lowercase[: draw(st.integers(0, 14))])
    for number, entry_id in enumerate(ids):
        above = draw(st.integers(-1, number - 1) | st.integers(max(-1, number - 2), number - 1))
        tree.parent[entry_id] = None if above < 0 else ids[above]
        tree.kinds[entry_id] = Kind(*draw(st.sampled_from(KINDS)))
        tree.texts[entry_id] = " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=3)))
        if tree.kinds[entry_id].role == "assistant" and draw(st.booleans()):
            tree.silent.add(entry_id)
    if ids:
        tree.leaf_id = draw(st.none() | st.sampled_from([*ids, ids[-1]]))
        tree.labels = draw(st.dictionaries(st.sampled_from(ids), st.sampled_from(WORDS), max_size=3))
    return tree


steps = st.lists(
    st.tuples(st.just("set_mode"), st.sampled_from(FilterMode))
    | st.tuples(st.just("set_query"), st.sampled_from(["", "", "red", "red green", "漢", "nowhere"]))
    | st.tuples(st.just("select_row"), st.integers(-1, 14))
    | st.tuples(st.just("move"), st.integers(-3, 3))
    | st.tuples(st.just("move_to_turn"), st.sampled_from([-1, 1])),
    max_size=12,
)


def model_of(tree: SampleTree) -> TreeModel:
    model = TreeModel(tree)
    for entry_id, text in tree.texts.items():
        model.take(model.position(entry_id), text, text, silent=entry_id in tree.silent)
    model.refresh()
    return model


def kept(tree: SampleTree, shown: list[str], selected: str | None) -> str | None:
    """U-5B, U-5C: the selection, or its nearest ancestor that is shown, or the last row."""
    return next((one for one in tree.upwards(selected) if one in shown), shown[-1] if shown else selected)


@settings(max_examples=200)
@given(trees(), steps)
def test_rows_and_selection_follow_the_rules_through_every_step(
    tree: SampleTree, steps: list[tuple[str, Any]]
) -> None:
    """U-10, U-50..U-5C, U-60, U-67: each visible entry once, in order; the selection kept, moved, clamped."""
    model = model_of(tree)
    shown = tree.shown(FilterMode.DEFAULT, "")
    # A silent turn is a row until it was read: only then its ancestor is selected.
    unread = [one for one in tree.shown(FilterMode.ALL, "") if tree.kinds[one].type not in SETTINGS]
    selected = kept(tree, shown, kept(tree, unread, tree.leaf_id))
    mode, query = FilterMode.DEFAULT, ""
    for name, value in [("move", 0), *steps]:
        getattr(model, name)(value)
        if name in ("set_mode", "set_query"):
            mode, query = (value, query) if name == "set_mode" else (mode, value)
            shown = tree.shown(mode, query)
            selected = kept(tree, shown, selected)
        elif shown:
            row = shown.index(selected or "")
            if name == "move":
                row = (row + value) % len(shown)
            elif name == "select_row":
                row = min(max(value, 0), len(shown) - 1)
            else:
                turns = [n for n, one in enumerate(shown) if tree.kinds[one].role in ("user", "assistant")]
                beyond = [n for n in turns if (n - row) * value > 0]
                row = min(beyond, key=lambda n: abs(n - row), default=row)
            selected = shown[row]
        assert model.rows.ids == shown
        assert model.passed_filter == len(tree.shown(mode, ""))
        assert model.selected_id == (selected if shown else None)
        assert model.row == (shown.index(selected or "") if shown else -1)
        assert [model.text_of(row) for row in range(len(shown))] == [tree.texts[one] for one in shown]


@given(trees(), st.sampled_from(FilterMode))
def test_the_marked_rows_are_the_shown_part_of_the_active_path(tree: SampleTree, mode: FilterMode) -> None:
    """U-14, U-30, U-31."""
    model = model_of(tree)
    model.set_mode(mode)
    path = tree.upwards(tree.leaf_id)[::-1]
    assert model.rows.ids[: model.rows.active] == [one for one in path if one in model.rows.ids]


@given(trees(), st.sampled_from(FilterMode), st.integers(1, 60))
def test_depth_and_connectors_fit_together_and_no_row_is_wider(tree: SampleTree, mode: FilterMode, width: int) -> None:
    """U-20..U-26 on the visible rows."""
    model = model_of(tree)
    model.set_mode(mode)
    rows = model.rows
    parents = [rows.parent(row) for row in range(len(rows))]
    roots = parents.count(-1)
    for row, above in enumerate(parents):
        siblings = [other for other, parent in enumerate(parents) if parent == above]
        branches = above >= 0 and len(siblings) > 1
        deeper = branches or (roots > 1 and above >= 0 and parents[above] < 0)
        assert rows.indent(row) == (rows.indent(above) + deeper if above >= 0 else 0)
        assert rows.connector(row) == (("└─ " if row == siblings[-1] else "├─ ") if branches else "")
        label = model.labels.get(rows.id(row))
        assert wcswidth(render_row(rows, row, model.text_of(row) or "", label, width=width)) <= width


@given(trees(), st.data())
def test_folding_hides_exactly_what_hangs_below_and_unfolding_brings_it_back(
    tree: SampleTree, data: st.DataObject
) -> None:
    model = model_of(tree)
    model.set_mode(FilterMode.ALL)
    before = model.rows
    if not before.ids:
        return
    start = data.draw(st.integers(0, len(before.ids) - 1))
    model.select_row(start)
    folded = model.selected_id
    model.fold_or_go_up()
    if model.selected_id != folded or len(model.rows.ids) == len(before.ids):
        assert model.rows == before
        assert model.selected_id in tree.upwards(folded)
        return
    assert model.rows.ids == [one for one in before.ids if one == folded or folded not in tree.upwards(one)]
    assert model.is_folded(model.row)
    model.unfold_or_go_down()
    assert (model.rows, model.selected_id) == (before, folded)


@given(trees())
def test_what_stands_for_the_leaf_is_separated_from_it_by_settings_only(tree: SampleTree) -> None:
    """U-70 as settled, for every row and filter."""
    model = model_of(tree)
    for mode in FilterMode:
        model.set_mode(mode)
        path = tree.upwards(tree.leaf_id)
        nearest = next((one for one in path if one in model.rows.ids), None)
        passed = path[: path.index(nearest)] if nearest else []
        harmless = all(tree.kinds[one].type in SETTINGS for one in passed)
        for row, entry_id in enumerate(model.rows.ids):
            model.select_row(row)
            assert model.stands_for_leaf() is (entry_id == nearest and harmless)
