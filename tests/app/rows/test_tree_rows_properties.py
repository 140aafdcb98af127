"""What holds for the rows of any tree, any filter, any text and any width."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from sessiontree.app.cells import clean
from sessiontree.app.tree_order import flatten
from sessiontree.app.tree_rows import BRANCH, LAST, TreeRows, lay_out, render_row, row_prefix


@dataclass
class Shape:
    root_ids: list[str] = field(default_factory=list)
    leaf_id: str | None = None
    children: dict[str, list[str]] = field(default_factory=dict)
    parent: dict[str, str | None] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)

    def ordered_child_ids(self, entry_id: str) -> list[str]:
        return self.children.get(entry_id, [])

    def path(self) -> set[str]:
        found: set[str] = set()
        step = self.leaf_id
        while step is not None:
            found.add(step)
            step = self.parent[step]
        return found

    def visible_parent(self, entry_id: str) -> str | None:
        step = self.parent[entry_id]
        while step is not None and step in self.hidden:
            step = self.parent[step]
        return step

    def visible_order(self) -> list[str]:
        """U-11 read literally: what contains the leaf first, at every level."""
        path = self.path()

        def below(siblings: list[str]) -> list[str]:
            ordered = sorted(siblings, key=lambda one: one not in path)
            return [found for one in ordered for found in [one, *below(self.ordered_child_ids(one))]]

        return [one for one in below(self.root_ids) if one not in self.hidden]

    def rows(self) -> TreeRows:
        flat = flatten(self)
        return lay_out(flat, [entry_id not in self.hidden for entry_id in flat.ids])


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    shape = Shape()
    ids = [f"e{number}" for number in range(draw(st.integers(0, 25)))]
    for number, entry_id in enumerate(ids):
        parent = draw(st.integers(-1, number - 1) | st.integers(max(-1, number - 3), number - 1))
        shape.parent[entry_id] = None if parent < 0 else ids[parent]
        siblings = shape.root_ids if parent < 0 else shape.children.setdefault(ids[parent], [])
        siblings.append(entry_id)
    if ids:
        shape.leaf_id = draw(st.none() | st.sampled_from(ids))
        shape.hidden = draw(st.just(set[str]()) | st.sets(st.sampled_from(ids)))
    return shape


texts = st.text(max_size=60) | st.lists(
    st.sampled_from(
        [
            "word ",
            "漢字",
            "👨‍👩‍👧",
            "⚠️",
            "e\u0301",
            "🇩🇪",
            "🇩",
            "\u0bcda",
            "x\u102c",
            "\u200d",
            "👍🏽",
            "\x1b[31m",
            "\n",
        ]
    )
).map("".join)


@given(shapes())
def test_every_visible_entry_is_one_row_in_order(shape: Shape) -> None:
    """U-10, U-11, U-13: each once, depth-first, the active branch first at every level."""
    assert shape.rows().ids == shape.visible_order()


@given(shapes())
def test_exactly_the_active_path_is_marked(shape: Shape) -> None:
    """U-14, U-30."""
    rows = shape.rows()
    marked = {rows.ids[row] for row in range(len(rows.ids)) if "• " in render_row(rows, row, "text", None)}
    assert marked == shape.path() - shape.hidden


@given(shapes())
def test_a_row_hangs_on_its_nearest_visible_ancestor(shape: Shape) -> None:
    """U-25 as settled, U-5B: in the layout, and for hidden entries in `nearest`."""
    rows = shape.rows()
    parents = [None if parent < 0 else rows.ids[parent] for parent in rows.parents]
    assert parents == [shape.visible_parent(entry_id) for entry_id in rows.ids]
    for position, entry_id in enumerate(flatten(shape).ids):
        nearest = entry_id if entry_id not in shape.hidden else shape.visible_parent(entry_id)
        assert (rows.ids[rows.nearest[position]] if rows.nearest[position] >= 0 else None) == nearest


@given(shapes())
def test_a_group_of_siblings_ends_with_its_only_last_connector(shape: Shape) -> None:
    """U-22, U-25 as settled: none for an only child or a root, `└─` for exactly the last of the others."""
    rows = shape.rows()
    groups: dict[int, list[str]] = {}
    for row, parent in enumerate(rows.parents):
        groups.setdefault(parent, []).append(rows.connectors[row])
    for parent, connectors in groups.items():
        if parent < 0 or len(connectors) == 1:
            assert set(connectors) == {""}
        else:
            assert connectors == [BRANCH] * (len(connectors) - 1) + [LAST]


@given(shapes())
def test_depth_follows_the_parent(shape: Shape) -> None:
    """U-20, U-21: one level more below a branching parent or one of several roots, else the parent's."""
    rows = shape.rows()
    roots = rows.parents.count(-1)
    for row, parent in enumerate(rows.parents):
        if parent < 0:
            assert rows.indents[row] == 0
        else:
            deeper = rows.parents.count(parent) > 1 or (roots > 1 and rows.parents[parent] < 0)
            assert rows.indents[row] == rows.indents[parent] + deeper
        assert len(row_prefix(rows, row)) == 3 * rows.indents[row]


@given(shapes())
def test_lines_of_the_drawing_are_unbroken(shape: Shape) -> None:
    """U-22..U-25: what leaves a cell downwards arrives in the cell below, and the other way round."""
    rows = shape.rows()
    prefixes = [row_prefix(rows, row) for row in range(len(rows.ids))]
    for row, prefix in enumerate(prefixes):
        for column, cell in enumerate(prefix):
            if cell in "│├":
                assert prefixes[row + 1][column] in "│├└"
            if cell in "│└":
                assert prefixes[row - 1][column] in "│├"


@given(shapes(), texts, texts, st.integers(1, 130), st.booleans())
def test_no_row_is_wider_than_the_width_or_holds_a_control_character(
    shape: Shape, text: str, label: str, width: int, selected: bool
) -> None:
    """U-26, U-30, cases 67 and 72: at every width from one cell."""
    rows = shape.rows()
    for row in range(len(rows.ids)):
        line = render_row(rows, row, clean(text), label, width=width, selected=selected)
        assert wcswidth(line) <= width
        assert not any(unicodedata.category(character) == "Cc" for character in line)


@given(shapes(), st.integers(1, 130))
def test_from_40_columns_every_row_shows_the_start_of_its_text(shape: Shape, extra: int) -> None:
    """U-26, cases 72 and 76: whatever its depth and label."""
    rows = shape.rows()
    for row in range(len(rows.ids)):
        assert "user: abcde" in render_row(rows, row, "user: abcdefgh" * 9, "label " * 30, width=39 + extra)


@given(shapes(), texts)
def test_without_a_width_nothing_is_cut(shape: Shape, text: str) -> None:
    """U-30: for piped output."""
    rows = shape.rows()
    for row in range(len(rows.ids)):
        line = render_row(rows, row, clean(text), "label")
        assert line.endswith("[label] " + clean(text))
        assert row_prefix(rows, row) in line
