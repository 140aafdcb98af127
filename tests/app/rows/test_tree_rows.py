"""Order, indentation, connectors and gutters of the rows (U-10..U-14, U-20..U-31)."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from wcwidth import wcswidth

from sessiontree.app.tree_filter import FilterMode
from sessiontree.app.tree_rows import max_levels, render_row, row_prefix


def picture(text: str) -> list[str]:
    return textwrap.dedent(text).strip("\n").split("\n")


def drawn(tree: Any, **options: Any) -> list[str]:
    """The rows without the cursor column."""
    return [line.removeprefix("  ") for line in tree.lines(**options)]


def assistant(make_entry: Any, entry_id: str, text: str) -> Any:
    return make_entry(entry_id, role="assistant", content=[{"type": "text", "text": text}])


def test_the_example_with_one_root(make_tree: Any, make_entry: Any) -> None:
    """U-20..U-24, U-30: the first layout of the specification, with its cursor column."""
    tree = make_tree(
        {"root": None, "reply": "root", "A": "reply", "A reply": "A", "B": "reply", "B reply": "B"},
        "B reply",
        *(assistant(make_entry, text, text) for text in ("reply", "A reply", "B reply")),
    )
    assert tree.lines() == [
        "  • user: root",
        "  • assistant: reply",
        "  ├─ • user: B",
        "  │  • assistant: B reply",
        "  └─ user: A",
        "     assistant: A reply",
    ]


def test_the_example_with_two_roots(make_tree: Any) -> None:
    """U-13, U-20, U-21, X-144: roots share column 0, their descendants nest one level; the active root is first."""
    tree = make_tree(
        {
            "root one head": None,
            "root one reply": "root one head",
            "root one follow": "root one reply",
            "root two head": None,
            "root two reply": "root two head",
        },
        "root two reply",
    )
    assert [line.replace("user: ", "") for line in tree.lines()] == [
        "  • root two head",
        "     • root two reply",
        "  root one head",
        "     root one reply",
        "     root one follow",
    ]


def test_what_contains_the_leaf_comes_first_at_every_level(make_tree: Any) -> None:
    """U-11: the rest keeps its order, before and after the active one alike."""
    tree = make_tree(
        {"r1": None, "r2": None, "r3": None, "a": "r2", "b": "r2", "c": "r2", "b1": "b", "b2": "b", "b3": "b"}
        | {"x": "b2", "y": "x"},
        "x",
    )
    flat = tree.flat()
    ids = [flat.id(position) for position in range(len(flat.seqs))]
    assert ids == ["r2", "b", "b2", "x", "y", "b1", "b3", "a", "c", "r1", "r3"]
    assert flat.path_length == 4
    assert [flat.positions[seq] for seq in flat.seqs] == list(range(11))


@pytest.mark.parametrize("leaf", [None, "unknown"])
def test_without_a_known_leaf_the_order_is_plain_and_nothing_is_marked(leaf: str | None, make_tree: Any) -> None:
    """U-12."""
    tree = make_tree({"r1": None, "a": "r1", "b": "r1", "r2": None}, leaf)
    assert tree.row_ids() == ["r1", "a", "b", "r2"]
    assert not any("•" in line for line in tree.lines())


def test_the_active_path_is_the_leaf_and_all_its_ancestors(make_tree: Any) -> None:
    """U-14, U-31: no other marker stands for the leaf."""
    tree = make_tree({"a": None, "b": "a", "c": "b", "d": "c", "e": "a"}, "c")
    assert [line.split()[-1] for line in tree.lines() if "•" in line] == ["a", "b", "c"]


def test_a_tree_without_entries_has_no_rows(make_tree: Any) -> None:
    """U-10, U-68."""
    assert make_tree({}).lines() == []


def test_linear_descendants_align_with_their_branch_head(make_tree: Any) -> None:
    """X-141, U-20, U-24: also below the last sibling, where no `│` stands."""
    tree = make_tree({"u": None, "a": "u", "a1": "a", "a2": "a1", "b": "u", "b1": "b", "b2": "b1"}, "a2")
    assert drawn(tree) == picture("""
        • user: u
        ├─ • user: a
        │  • user: a1
        │  • user: a2
        └─ user: b
           user: b1
           user: b2
    """)


def test_grandchildren_have_connectors_of_their_own(make_tree: Any) -> None:
    """X-142, U-22, U-23: a branch in the last sibling, the gutter of its inner one at column 5, text at 8."""
    tree = make_tree(
        {"u": None, "a": "u", "b": "u", "b1": "b", "b1x": "b1", "b2": "b", "b2x": "b2"},
        "a",
    )
    assert drawn(tree) == picture("""
        • user: u
        ├─ • user: a
        └─ user: b
           ├─ user: b1
           │  user: b1x
           └─ user: b2
              user: b2x
    """)
    assert tree.lines()[-3][5] == "│"
    assert tree.lines()[-1].index("user") == 8


def test_a_deeper_branch_keeps_the_gutters_of_the_outer_one(make_tree: Any) -> None:
    """X-143, U-22, U-23: connectors at columns 2 and 5 after the cursor, `└─` for the third sibling."""
    tree = make_tree(
        {"u": None, "a": "u", "a1": "a", "a1x": "a1", "a2": "a", "a2x": "a2", "b": "u", "c": "u", "c1": "c"},
        "a1x",
    )
    assert tree.lines() == [
        "  • user: u",
        "  ├─ • user: a",
        "  │  ├─ • user: a1",
        "  │  │  • user: a1x",
        "  │  └─ user: a2",
        "  │     user: a2x",
        "  ├─ user: b",
        "  └─ user: c",
        "     user: c1",
    ]


def test_branches_below_several_roots(make_tree: Any) -> None:
    """U-20..U-22, X-144: roots have no connector, a branch below one stands at column 0."""
    tree = make_tree({"r": None, "a": "r", "b": "r", "b1": "b", "b2": "b", "s": None, "t": "s", "t1": "t", "t2": "t"})
    assert drawn(tree) == picture("""
        user: r
        ├─ user: a
        └─ user: b
           ├─ user: b1
           └─ user: b2
        user: s
           user: t
           ├─ user: t1
           └─ user: t2
    """)


@pytest.mark.parametrize("hidden", ["model_change", "label"])
def test_a_filter_lays_out_what_it_shows(hidden: str, make_tree: Any, make_entry: Any) -> None:
    """U-25 as settled: no connector for a hidden sibling; descendants of a hidden entry are their ancestor's."""
    tree = make_tree(
        {"u": None, "m": "u", "x": "m", "x1": "x", "y": "m", "h": "u", "z": "u"},
        "x1",
        make_entry("m", hidden),
        make_entry("h", hidden),
    )
    assert drawn(tree) == picture("""
        • user: u
        ├─ • user: x
        │  • user: x1
        ├─ user: y
        └─ user: z
    """)
    lone = make_tree({"u": None, "a": "u", "h": "u"}, "a", make_entry("h", hidden))
    assert drawn(lone) == ["• user: u", "• user: a"]


def test_children_of_a_hidden_root_are_several_roots(make_tree: Any, make_entry: Any) -> None:
    """U-13, U-25 as settled: roots are the rows without a visible ancestor."""
    tree = make_tree({"h": None, "a": "h", "a1": "a", "b": "h"}, "a1", make_entry("h", "custom", customType="x"))
    assert drawn(tree) == ["• user: a", "   • user: a1", "user: b"]
    assert drawn(tree, mode=FilterMode.ALL)[0] == "• [custom: x]"


def test_a_hidden_entry_knows_its_nearest_visible_ancestor(load_case: Any) -> None:
    """Case 75, X-148: the leaf is a hidden thinking change; a1 stands for it, and the path is marked on u1 and a1."""
    tree = load_case(75)
    assert drawn(tree) == picture("""
        • user: q1
        ├─ • assistant: r1
        └─ user: side
           assistant: side reply
    """)
    leaf = tree.flat().positions[tree.columns.find("h1")]
    settings = [entry_id for entry_id in tree.entries if entry_id not in ("u1", "a1", "u2", "a2")]
    for hidden, nearest in ((settings, "a1"), ([*settings, "a1", "a2"], "u1")):
        rows = tree.laid_out(*hidden)
        assert rows.id(rows.nearest(leaf)) == nearest
    assert tree.laid_out(*tree.entries).nearest(leaf) == -1
    assert tree.lines(mode=FilterMode.LABELED_ONLY) == []


@pytest.mark.parametrize(
    ("width", "levels"), [(120, 18), (80, 12), (79, 12), (40, 4), (31, 1), (20, 1), (7, 1), (1, 1), (200, 32)]
)
def test_levels_leave_half_of_the_row_to_the_text(width: int, levels: int) -> None:
    """U-26."""
    assert max_levels(width) == levels


def test_deeper_prefixes_keep_the_innermost_levels(make_tree: Any) -> None:
    """U-26: the first cell says that there are more."""
    parents: dict[str, str | None] = {"p0": None}
    for depth in range(1, 6):
        parents |= {f"q{depth}": f"p{depth - 1}", f"p{depth}": f"p{depth - 1}"}
    tree = make_tree(parents, "q3")
    rows = tree.laid_out()
    deepest = rows.ids.index("q5")
    assert row_prefix(rows, deepest) == "│  │        ├─ "
    assert row_prefix(rows, deepest, 5) == row_prefix(rows, deepest)
    assert row_prefix(rows, deepest, 4) == "…        ├─ "
    assert row_prefix(rows, deepest, 1) == "…─ "
    assert row_prefix(rows, rows.ids.index("q3"), 2) == "│  ├─ ".replace("│", "…")
    assert row_prefix(rows, rows.ids.index("p0"), 1) == ""


def test_a_row_leaves_room_for_the_cursor(make_tree: Any) -> None:
    """U-30: then prefix, bullet, label, text."""
    rows = make_tree({"a": None, "b": "a", "c": "a"}, "b").laid_out()
    assert render_row(rows, 1, "user: b", "la\x07bel\n2") == "  ├─ • [label 2] user: b"
    assert render_row(rows, 2, "user: c", None, width=13) == "  └─ user: c"
    assert render_row(rows, 2, "user: c", None, width=11) == "  └─ user:…"
    assert [wcswidth(render_row(rows, 1, "user: b", None, width=width)) for width in (1, 2, 3)] == [
        1,
        2,
        3,
    ]


def test_a_long_label_leaves_half_of_the_room_to_the_text(make_tree: Any) -> None:
    """U-30, case 72: labels are counted, and the text still begins."""
    rows = make_tree({"a": None}, "a").laid_out()
    line = render_row(rows, 0, "user: what is it", "标签" * 40, width=40)
    assert line == "  • [标签标签标签标…] user: what is it"
    assert wcswidth(line) <= 40
