"""Sessions that broke other programs, drawn as rows (cases 30, 32, 36, 62, 67, 72, 76)."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from wcwidth import wcswidth

from sessiontree.app.tree_filter import FilterMode
from sessiontree.app.tree_rows import render_row


def test_children_with_unreadable_times_are_all_drawn_in_their_order(load_case: Any) -> None:
    """Case 36, T-28: the active one first, then as the tree orders them."""
    assert load_case(36).lines() == [
        "  • user: root",
        "  ├─ • assistant: reply p6",
        "  ├─ assistant: reply p5",
        "  ├─ assistant: reply p1",
        "  ├─ assistant: reply p2",
        "  ├─ assistant: reply p3",
        "  └─ assistant: reply p4",
    ]


def test_labels_as_resolved_choose_the_labelled_rows(load_case: Any) -> None:
    """Case 62, U-50, U-53: labelled-only shows u1 and r1; the default filter shows no label rows."""
    tree = load_case(62)
    assert tree.lines(mode=FilterMode.LABELED_ONLY) == [
        "  • [beta] user: q1",
        "  [final] [bash: true]",
    ]
    assert tree.row_ids() == ["u1", "r1", "a2"]


@pytest.mark.parametrize("mode", list(FilterMode))
def test_escape_sequences_in_the_data_do_not_reach_the_terminal(mode: FilterMode, width: int, load_case: Any) -> None:
    """Case 67: one row for each node, no control character, width counted after cleaning."""
    tree = load_case(67)
    lines = tree.lines(mode=mode, width=width)
    assert len(lines) == len(tree.row_ids(mode=mode))
    assert all(wcswidth(line) <= width for line in lines)
    for line in lines + tree.lines(mode=mode):
        assert not any(unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") for character in line)


def test_what_is_visible_of_an_escape_sequence_stays(load_case: Any) -> None:
    """Case 67."""
    assert load_case(67).lines(mode=FilterMode.ALL) == [
        "  • user: look [31mred[0m and ]0;title and tab next",
        "  • [label 2] assistant: [?1049h[2Jwiped31m",
        "  • [session_info]",
        "  • [label: label 2]",
    ]


@pytest.mark.parametrize("mode", list(FilterMode))
def test_wide_and_joined_characters_fit_every_width(width: int, mode: FilterMode, load_case: Any) -> None:
    """Case 72: no row wider than the terminal, no half of a joined emoji, text from 40 columns on."""
    tree = load_case(72)
    lines = tree.lines(mode=mode, width=width)
    full = tree.lines(mode=mode)
    for line, whole in zip(lines, full, strict=True):
        assert wcswidth(line) <= width
        assert not line.removesuffix("…").endswith(("\u200d", "👨", "👩"))
        if width >= 40:
            text = next(one for one in ("user: ", "assistant: ", "[label: ") if one in whole)
            assert whole[: whole.index(text) + len(text) + 2] in line


def test_rows_of_wide_characters_at_40_columns(load_case: Any) -> None:
    """Case 72: a row that is cut ends at its last whole character that leaves room for `…`."""
    assert load_case(72).lines(width=40) == [
        "  • user: 请把这个文件里的所有函数都重…",
        "  • assistant: 한국어 답변 with latin a…",
        "  ├─ • user: こんにちは",
        "  └─ [标签一] user: 👨‍👩‍👧 👨‍👩‍👧 👨‍👩‍👧 👨‍👩‍👧 👨‍👩‍👧 👨‍👩‍👧 …",
        "     assistant: xxxxxxxxxxxxxxxxxxxxxxx…",
    ]


@pytest.mark.parametrize("width", [120, 80, 40])
def test_eighty_branch_points_in_a_row_leave_room_for_the_text(width: int, load_case: Any) -> None:
    """Case 76, X-145, U-26: 162 rows, each fits and shows its text."""
    tree = load_case(76)
    rows = tree.laid_out()
    assert len(rows) == 162
    for row, entry_id in enumerate(rows.ids):
        text = "user: " + tree.entries[entry_id].message["content"]
        line = render_row(rows, row, text, None, width=width)
        assert text in line
        assert wcswidth(line) <= width


def test_a_chain_of_any_depth_is_drawn_and_searched(make_tree: Any) -> None:
    """Case 30, D15: 160,000 entries deep, no recursion, no memory by depth."""
    depth = 160_000
    tree = make_tree({f"n{n}": f"n{n - 1}" if n else None for n in range(depth)}, f"n{depth - 1}")
    rows = tree.laid_out()
    assert rows.flat.path_length == rows.active == depth
    assert (len(rows.heads), len(rows.flat.starts)) == (1, 1)
    assert render_row(rows, depth - 1, "user: end", None, width=40) == "  • user: end"
    assert tree.row_ids(query="n159999") == ["n159999"]


def test_branch_points_of_any_depth_cost_no_memory_by_depth(make_tree: Any) -> None:
    """Case 76's kind: 80,000 nested branches; a row draws as many levels as it shows."""
    parents: dict[str, str | None] = {"p0": None}
    for depth in range(1, 80_000):
        parents[f"q{depth}"] = parents[f"p{depth}"] = f"p{depth - 1}"
    rows = make_tree(parents, "q79999").laid_out()
    deepest = rows.active - 1
    assert (rows.id(deepest), rows.indent(deepest)) == ("q79999", 79_999)
    assert render_row(rows, deepest, "user: end", None, width=40) == "  …  │  │  ├─ • user: end"


def test_many_tips_on_one_trunk(make_tree: Any) -> None:
    """Case 32: 1500 shared entries under 800 tips; the active tip first, one last connector."""
    parents = {f"n{n}": f"n{n - 1}" if n else None for n in range(1500)}
    tree = make_tree(parents | {f"t{n}": "n1499" for n in range(800)}, "t799")
    lines = tree.lines()
    assert len(lines) == 2300
    assert lines[1500] == "  ├─ • user: t799"
    assert sum("├─" in line for line in lines) == 799
    assert lines[-1] == "  └─ user: t798"
