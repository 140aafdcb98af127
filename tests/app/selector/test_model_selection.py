"""Which row is selected: at the start, after a change of what is shown, and by moving."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sessiontree.app.selector.tree_model import TreeModel
from sessiontree.app.tree_filter import FilterMode

DEFAULT, NO_TOOLS, USER_ONLY, LABELED_ONLY, ALL = FilterMode


@pytest.mark.parametrize(
    ("paths", "leaf", "selected"),
    [
        (["u1 a1", "u1 u2 a2"], "a1", "a1"),
        (["u1 a1 m1 h1", "u1 u2 a2"], "h1", "a1"),  # not the last row
        (["m1", "u1 a1"], "m1", "a1"),
        (["u1 a1", "u1 u2"], None, "u2"),
        (["u1 a1", "u1 u2"], "gone", "u2"),
        (["u1"], None, "u1"),
        ([], None, None),
        (["m1"], "m1", None),
    ],
)
def test_the_leaf_or_its_nearest_visible_ancestor_or_the_last_row_is_selected_first(
    paths: list[str], leaf: str | None, selected: str | None, make_model: Any
) -> None:
    """U-5B, X-148."""
    assert make_model(*paths, leaf=leaf).selected_id == selected


def test_a_filter_that_hides_the_selection_leaves_it_on_the_ancestor_it_moved_to(make_model: Any) -> None:
    """U-5C, X-149: the selection stays at the user message when the filter is taken back."""
    model = make_model("u1 a1", "u1 u2 a2", leaf="a1")
    model.set_mode(USER_ONLY)
    assert model.selected_id == "u1"
    model.set_mode(DEFAULT)
    assert model.selected_id == "u1"


@pytest.mark.parametrize("selected", ["a1", "u2"])
def test_the_selection_survives_an_empty_result_again_and_again(selected: str, make_model: Any) -> None:
    """U-5C, X-150: through a filter and through a search that leave nothing."""
    model = make_model("u1 a1", "u1 u2 a2", leaf="a1")
    model.select_row(model.rows.ids.index(selected))
    for _ in range(3):
        model.set_mode(LABELED_ONLY)
        assert (model.selected_id, model.row, model.rows.ids) == (None, -1, [])
        model.set_mode(DEFAULT)
        assert model.selected_id == selected
        model.set_query("nowhere")
        assert (model.selected_id, model.row) == (None, -1)
        model.set_query("")
        assert model.selected_id == selected


def test_with_no_ancestor_shown_the_last_row_is_selected(make_model: Any) -> None:
    """U-5C."""
    model = make_model("u1 a1", "u1 u2 a2", leaf="u1", a1="one", u2="two")
    model.set_mode(LABELED_ONLY)
    assert (model.rows.ids, model.selected_id) == (["a1", "u2"], "u2")


def test_a_search_keeps_the_selection_where_it_is_found(make_model: Any) -> None:
    """U-5C."""
    model = make_model("u1 a1", "u1 u2 a2", leaf="a2")
    model.set_query("2")
    assert model.selected_id == "a2"
    model.set_query("u")
    assert model.selected_id == "u2"


def test_up_and_down_go_around_the_ends(make_model: Any) -> None:
    """U-60."""
    model = make_model("u1 a1 u2", leaf="a1")
    seen = []
    for steps in (1, 1, 1, -1, -1):
        model.move(steps)
        seen.append(model.selected_id)
    assert seen == ["u2", "u1", "a1", "u1", "u2"]


@pytest.mark.parametrize(("row", "selected"), [(-7, "u1"), (0, "u1"), (1, "a1"), (2, "u2"), (99, "u2")])
def test_a_row_beyond_an_end_is_the_end(row: int, selected: str, make_model: Any) -> None:
    """U-60: pages are clamped."""
    model = make_model("u1 a1 u2", leaf="a1")
    model.select_row(row)
    assert model.selected_id == selected


def test_turn_by_turn_goes_over_all_rows_but_user_and_assistant_and_stays_at_the_ends(make_model: Any) -> None:
    """U-60: no wrap."""
    model = make_model("b1 u1 k1 a1 r1 x1 a2 s1", leaf="s1", mode=ALL)
    seen = []
    for direction in (-1, -1, -1, -1, 1, 1, 1):
        model.move_to_turn(direction)
        seen.append(model.selected_id)
    assert seen == ["a2", "a1", "u1", "u1", "a1", "a2", "a2"]


@pytest.mark.parametrize(
    "do",
    [
        lambda model: model.move(1),
        lambda model: model.move(-1),
        lambda model: model.move_to_turn(1),
        lambda model: model.move_to_turn(-1),
        lambda model: model.select_row(0),
        lambda model: model.select_row(5),
        lambda model: model.select_row(-5),
        lambda model: model.fold_or_go_up(),
        lambda model: model.unfold_or_go_down(),
        lambda model: model.refresh(),
    ],
)
def test_on_an_empty_list_nothing_happens(do: Callable[[TreeModel], None], make_model: Any) -> None:
    """U-67: and the selection is there when rows are."""
    empty = make_model()
    hidden = make_model("u1 a1 u2", leaf="a1", mode=LABELED_ONLY)
    for model in (empty, hidden):
        do(model)
        assert (model.row, model.selected_id, model.stands_for_leaf()) == (-1, None, False)
    hidden.set_mode(DEFAULT)
    assert (hidden.selected_id, hidden.rows.ids) == ("a1", ["u1", "a1", "u2"])


@pytest.mark.parametrize(
    ("path", "mode", "selected", "stands"),
    [
        ("u1 a1", DEFAULT, "a1", True),
        ("u1 a1", DEFAULT, "u1", False),
        ("u1 a1 l1", DEFAULT, "a1", True),
        ("u1 a1 c1", DEFAULT, "a1", True),
        ("u1 a1 m1", DEFAULT, "a1", True),
        ("u1 a1 h1", DEFAULT, "a1", True),
        ("u1 a1 l1 c1 m1 h1", DEFAULT, "a1", True),
        ("u1 a1 l1 c1 m1 h1", DEFAULT, "u1", False),
        ("u1 l1", DEFAULT, "u1", True),
        ("u1 a1 m1", ALL, "a1", False),
        ("u1 a1 m1", ALL, "m1", True),
        ("u1 a1 r1", NO_TOOLS, "a1", False),
        ("u1 a1 r1 m1", NO_TOOLS, "a1", False),
        ("u1 a1", USER_ONLY, "u1", False),
        ("u1 a1 l1", USER_ONLY, "u1", False),
        ("u1 l1 m1", USER_ONLY, "u1", True),
    ],
)
def test_a_row_stands_for_a_hidden_leaf_over_entries_that_say_nothing_only(
    path: str, mode: FilterMode, selected: str, stands: bool, make_model: Any
) -> None:
    """U-70 as settled, J's visible leaf: label, custom, model and thinking entries, and no other, are passed over."""
    model = make_model(path, f"{path.split()[0]} u9", leaf=path.split()[-1], mode=mode)
    model.select_row(model.rows.ids.index(selected))
    assert model.stands_for_leaf() is stands


@pytest.mark.parametrize("leaf", [None, "gone", "m1"])
def test_no_row_stands_for_a_leaf_that_hangs_below_none(leaf: str | None, make_model: Any) -> None:
    """U-70 as settled: no leaf, an unknown one, and one with no visible ancestor (the last row is selected)."""
    model = make_model("m1", "u1 a1", leaf=leaf)
    assert (model.selected_id, model.stands_for_leaf()) == ("a1", False)


def test_a_silent_turn_between_row_and_leaf_is_a_turn(make_model: Any) -> None:
    """U-55, U-70 as settled."""
    model = make_model("u1 a1 m1", leaf="m1", silent="a1")
    assert (model.selected_id, model.stands_for_leaf()) == ("u1", False)


def test_a_leaf_hidden_by_a_fold_is_stood_for_by_the_same_rule(make_model: Any) -> None:
    """U-70 as settled."""
    for path, stands in (("u1 a1", False), ("u1 m1", True)):
        model = make_model(path, leaf=path.split()[-1], mode=ALL)
        model.select_row(0)
        model.fold_or_go_up()
        assert (model.rows.ids, model.stands_for_leaf()) == (["u1"], stands)
