"""Folding a branch, and going from branch point to branch point (X-151)."""

from __future__ import annotations

from typing import Any

import pytest

from sessiontree.app.selector.tree_model import TreeModel
from sessiontree.app.tree_filter import FilterMode

TREE = ("u1 a1 u2 a2", "u1 a1 u3 a3 u4", "u1 a1 u3 a3 u5", "u1 a1 u6")


@pytest.fixture
def model(make_model: Any) -> TreeModel:
    """Below `a1` three branches, the second of which branches again."""
    made: TreeModel = make_model(*TREE, leaf="a2")
    return made


def select(model: TreeModel, entry_id: str) -> None:
    model.select_row(model.rows.ids.index(entry_id))


@pytest.mark.parametrize(
    ("head", "left"),
    [
        ("u1", "u1"),
        ("u2", "u1 a1 u2 u3 a3 u4 u5 u6"),
        ("u3", "u1 a1 u2 a2 u3 u6"),
    ],
)
def test_the_head_of_a_branch_folds_what_hangs_below_it(head: str, left: str, model: TreeModel) -> None:
    before = model.rows
    select(model, head)
    model.fold_or_go_up()
    assert (model.rows.ids, model.selected_id) == (left.split(), head)
    assert [entry_id for row, entry_id in enumerate(model.rows.ids) if model.is_folded(row)] == [head]
    model.unfold_or_go_down()
    assert (model.rows, model.selected_id) == (before, head)
    assert not any(map(model.is_folded, range(len(before.ids))))


@pytest.mark.parametrize(
    ("start", "above"),
    [("a1", "u1"), ("a2", "u2"), ("a3", "u3"), ("u4", "u3"), ("u6", "u1")],
)
def test_a_row_that_folds_nothing_goes_to_the_branch_above(start: str, above: str, model: TreeModel) -> None:
    """A row within a branch, and a head with nothing below it."""
    select(model, start)
    model.fold_or_go_up()
    assert (model.selected_id, len(model.rows.ids)) == (above, 9)


def test_a_folded_branch_goes_up_and_a_folded_root_stays(model: TreeModel) -> None:
    select(model, "u3")
    seen = []
    for _ in range(4):
        model.fold_or_go_up()
        seen.append((model.selected_id, len(model.rows.ids)))
    assert seen == [("u3", 6), ("u1", 6), ("u1", 1), ("u1", 1)]
    model.unfold_or_go_down()
    assert model.rows.ids == ["u1", "a1", "u2", "a2", "u3", "u6"], "what was folded below stays folded"


def test_an_open_row_goes_to_the_next_branch_below_and_the_last_stays(model: TreeModel) -> None:
    select(model, "u1")
    seen = []
    for _ in range(6):
        model.unfold_or_go_down()
        seen.append(model.selected_id)
    assert seen == ["u2", "u3", "u4", "u5", "u6", "u6"]


def test_every_root_is_the_head_of_a_branch(make_model: Any) -> None:
    """U-13: with several roots too."""
    model = make_model("u1 a1", "u2 a2", leaf="a1")
    select(model, "u2")
    model.fold_or_go_up()
    assert model.rows.ids == ["u1", "a1", "u2"]


def test_a_search_finds_what_is_folded_away(model: TreeModel) -> None:
    """U-58, U-69, X-151: a search or a filter opens the folds."""
    select(model, "u3")
    model.fold_or_go_up()
    model.set_query("u5")
    assert model.rows.ids == ["u5"]


def test_a_filter_hides_nothing_below_a_fold_that_is_not_shown(make_model: Any) -> None:
    """U-52, X-151: a search or a filter opens the folds."""
    model = make_model("u1 a1 u2", "u1 u3", leaf="u3")
    select(model, "a1")
    model.fold_or_go_up()
    model.set_mode(FilterMode.USER_ONLY)
    assert model.rows.ids == ["u1", "u3", "u2"]


def test_a_row_with_nothing_shown_below_it_has_nothing_to_fold(make_model: Any) -> None:
    model = make_model("u1 u2 m1", "u1 u3", leaf="u3")
    select(model, "u2")
    model.fold_or_go_up()
    assert model.selected_id == "u1"
    assert not model.is_folded(model.rows.ids.index("u2"))
