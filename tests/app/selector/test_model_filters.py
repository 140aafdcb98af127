"""What is shown: filters, searches, labels, and texts that come later."""

from __future__ import annotations

from typing import Any

import pytest

from sessiontree.app.tree_filter import FilterMode
from sessiontree.eventstore.envelope import Envelope

DEFAULT, NO_TOOLS, USER_ONLY, LABELED_ONLY, ALL = FilterMode


@pytest.mark.parametrize(
    ("mode", "shown"),
    [
        (DEFAULT, "u1 a2 r1 b1 k1 s1 x1 u2 a3"),
        (NO_TOOLS, "u1 a2 b1 k1 s1 x1 u2 a3"),
        (USER_ONLY, "u1 u2"),
        (LABELED_ONLY, "r1 m1"),
        (ALL, "u1 a1 a2 r1 b1 l1 m1 h1 c1 k1 s1 x1 u2 a3"),
    ],
)
def test_a_filter_shows_its_kinds(mode: FilterMode, shown: str, make_model: Any) -> None:
    """U-50..U-55 as settled: silent turns in `all` only, but the leaf in every filter that shows its kind."""
    path = "u1 a1 a2 r1 b1 l1 m1 h1 c1 k1 s1 x1 u2 a3"
    labels = {"a1": "hidden", "r1": "tool", "m1": "setting"}
    model = make_model(path, leaf="a3", mode=mode, silent="a1 a3", **labels)
    assert model.rows.ids == shown.split()
    assert model.passed_filter == len(shown.split())


def test_the_filters_go_around_in_their_order(make_model: Any) -> None:
    """U-50, U-62: forward and back."""
    model = make_model("u1", leaf="u1")
    seen = []
    for steps in (1, 1, 1, 1, 1, -1, -1):
        model.next_mode(steps)
        seen.append(model.mode)
    assert seen == [NO_TOOLS, USER_ONLY, LABELED_ONLY, ALL, DEFAULT, ALL, LABELED_ONLY]


def test_rows_are_laid_out_on_what_is_shown(make_model: Any) -> None:
    """U-25 as settled: no gutter without its row, one last child."""
    model = make_model("u1 a1 u2", "u1 a2 u3", "u1 u4", leaf="u2")
    assert list(map(model.rows.connector, range(6))) == ["", "├─ ", "", "├─ ", "", "└─ "]
    model.set_mode(USER_ONLY)
    assert model.rows.ids == ["u1", "u2", "u3", "u4"]
    assert list(map(model.rows.connector, range(4))) == ["", "├─ ", "├─ ", "└─ "]
    model.set_query("u1 OR u2")
    assert model.rows.ids == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("alpha", "u1 a1"),
        ("ALPHA", "u1 a1"),
        ("beta alpha", "a1"),
        ("alpha  beta ", "a1"),
        ("alpha nowhere", ""),
        ("  ", "u1 a1 u2 r1"),
        ("", "u1 a1 u2 r1"),
        ("Marked", "u2"),
        ("[marked", "u2"),
        ("gma", "u2"),
        ("alha", "u1 a1"),
        ("tail", "r1"),
    ],
)
def test_every_word_of_a_query_has_to_be_found(query: str, found: str, make_model: Any) -> None:
    """U-58, U-59, U-5A as settled: in the label and in the whole text, in the order of the rows."""
    said = {"u1": "alpha", "a1": "beta Alpha", "u2": "gamma", "r1": "long text, its tail"}
    model = make_model("u1 a1 u2 r1", leaf="r1", said=said, u2="Marked")
    model.set_query(query)
    assert model.rows.ids == found.split()


def test_a_search_and_a_filter_both_apply(make_model: Any) -> None:
    """U-58: the filter alone is counted in `passed_filter`."""
    model = make_model("u1 a1 u2", leaf="u2", said=dict.fromkeys(("u1", "a1"), "word"))
    model.set_query("word")
    assert model.rows.ids == ["u1", "a1"]
    model.set_mode(USER_ONLY)
    assert (model.rows.ids, model.passed_filter) == (["u1"], 2)


def test_a_row_without_its_text_is_shown_but_not_found(make_model: Any) -> None:
    """Texts come in while the tree is shown."""
    model = make_model("u1 a1", leaf="a1", read=False)
    assert (model.rows.ids, model.text_of(0)) == (["u1", "a1"], None)
    model.take(0, "short", "short and long", silent=False)
    assert model.text_of(0) == "short"
    model.set_query("long")
    assert model.rows.ids == ["u1"]


def test_a_text_that_is_only_shown_is_not_found(make_model: Any) -> None:
    """U-43: what a result is named until its call was read."""
    model = make_model("u1 r1", leaf="r1", read=False)
    model.show(1, "[bash]")
    model.set_query("bash")
    assert (model.rows.ids, model.text_of(0) if len(model.rows) else None) == ([], None)
    model.take(1, "[bash: make]", "[bash: make]", silent=False)
    model.refresh()
    assert (model.rows.ids, model.text_of(0)) == (["r1"], "[bash: make]")


def test_an_entry_that_is_appended_meanwhile_has_no_position(make_model: Any) -> None:
    model = make_model("u1 a1", leaf="a1")
    model._tree.apply_batch(3, [Envelope("message", "u9", "a1", None)])
    assert [model.position(entry_id) for entry_id in ("u1", "a1", "u9", "gone", None)] == [0, 1, -1, -1, -1]


def test_a_silent_turn_that_was_selected_gives_way_to_its_ancestor(make_model: Any) -> None:
    """U-55, U-5C: when its text comes."""
    model = make_model("u1 a1 m1", leaf="m1", read=False)
    assert model.selected_id == "a1"
    model.take(1, "assistant: (no content)", "", silent=True)
    model.refresh()
    assert (model.rows.ids, model.selected_id) == (["u1"], "u1")


def test_a_label_counts_for_the_filter_at_once(make_model: Any) -> None:
    """U-53, U-64; U-5C: a label that is cleared takes its row with it."""
    model = make_model("u1 a1 u2", leaf="u2", mode=LABELED_ONLY, u1="one")
    model.set_label("a1", "two")
    assert (model.rows.ids, model.labels) == (["u1", "a1"], {"u1": "one", "a1": "two"})
    model.set_label("u1", None)
    model.set_label("u2", None)
    assert (model.rows.ids, model.labels) == (["a1"], {"a1": "two"})


def test_a_search_looks_in_the_label_that_is_shown(make_model: Any) -> None:
    """U-5A, U-64: a new label is found, the old one is not."""
    model = make_model("u1 a1", leaf="a1", u1="before")
    model.set_label("u1", "after")
    found = []
    for query in ("after", "before", "u1"):
        model.set_query(query)
        found.append(model.rows.ids)
    assert found == [["u1"], [], ["u1"]]
