"""What holds for the rows of any tree, any filter, any text and any width."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from sessiontree.app.cells import clean
from sessiontree.app.tree_order import FlatTree, flatten
from sessiontree.app.tree_rows import BRANCH, LAST, TreeRows, lay_out, render_row, row_prefix
from sessiontree.eventstore.envelope import Envelope, Envelopes
from sessiontree.projections.tree import Tree


@dataclass
class Shape:
    leaf_id: str | None = None
    parent: dict[str, str | None] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)

    def children(self, parent_id: str | None) -> list[str]:
        return [entry_id for entry_id, above in self.parent.items() if above == parent_id]

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
            return [found for one in ordered for found in [one, *below(self.children(one))]]

        return [one for one in below(self.children(None)) if one not in self.hidden]

    def flat(self) -> FlatTree:
        tree = Tree()
        tree.apply_batch(1, Envelopes([Envelope("message", one, above, None) for one, above in self.parent.items()]))
        return flatten(tree, self.leaf_id)

    def rows(self) -> TreeRows:
        flat = self.flat()
        return lay_out(flat, (at for at in range(len(flat.seqs)) if flat.id(at) not in self.hidden))


def parents_of(rows: TreeRows) -> list[int]:
    return [rows.parent(row) for row in range(len(rows))]


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    shape = Shape()
    ids = [f"e{number}" for number in range(draw(st.integers(0, 25)))]
    for number, entry_id in enumerate(ids):
        parent = draw(st.integers(-1, number - 1) | st.integers(max(-1, number - 3), number - 1))
        shape.parent[entry_id] = None if parent < 0 else ids[parent]
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
    marked = {rows.id(row) for row in range(len(rows)) if "• " in render_row(rows, row, "text", None)}
    assert marked == shape.path() - shape.hidden


@given(shapes())
def test_a_row_hangs_on_its_nearest_visible_ancestor(shape: Shape) -> None:
    """U-25 as settled, U-5B: in the layout, and for hidden entries in `nearest`."""
    rows = shape.rows()
    parents = [None if parent < 0 else rows.id(parent) for parent in parents_of(rows)]
    assert parents == [shape.visible_parent(entry_id) for entry_id in rows.ids]
    for position in range(len(rows.flat.seqs)):
        entry_id = rows.flat.id(position)
        nearest = entry_id if entry_id not in shape.hidden else shape.visible_parent(entry_id)
        row = rows.nearest(position)
        assert (rows.id(row) if row >= 0 else None) == nearest


@given(shapes())
def test_a_flat_tree_knows_parents_and_ends_of_subtrees(shape: Shape) -> None:
    """U-10, U-14: what the layout is made from."""
    flat = shape.flat()
    ids = [flat.id(position) for position in range(len(flat.seqs))]
    for position, entry_id in enumerate(ids):
        above = flat.parent(position)
        assert (ids[above] if above >= 0 else None) == shape.parent[entry_id]
        below = {entry_id}
        for one in ids[position + 1 :]:
            if shape.parent[one] in below:
                below.add(one)
        assert set(ids[position : flat.subtree_end(position)]) == below


@given(shapes())
def test_branches_are_gone_through_by_their_heads(shape: Shape) -> None:
    """X-151: upwards on the way to the root, downwards in the list."""
    rows = shape.rows()
    parents = parents_of(rows)
    for row in range(len(rows)):
        assert rows.heads_branch(row) == (parents[row] < 0 or bool(rows.connector(row)))
        above = parents[row]
        while above >= 0 and not rows.heads_branch(above):
            above = parents[above]
        assert rows.branch_above(row) == above
        below = [other for other in range(row + 1, len(rows)) if rows.connector(other)]
        assert rows.connector_below(row) == (below[0] if below else -1)


@given(shapes())
def test_a_group_of_siblings_ends_with_its_only_last_connector(shape: Shape) -> None:
    """U-22, U-25 as settled: none for an only child or a root, `└─` for exactly the last of the others."""
    rows = shape.rows()
    groups: dict[int, list[str]] = {}
    for row, parent in enumerate(parents_of(rows)):
        groups.setdefault(parent, []).append(rows.connector(row))
    for parent, connectors in groups.items():
        if parent < 0 or len(connectors) == 1:
            assert set(connectors) == {""}
        else:
            assert connectors == [BRANCH] * (len(connectors) - 1) + [LAST]


@given(shapes())
def test_depth_follows_the_parent(shape: Shape) -> None:
    """U-20, U-21: one level more below a branching parent or one of several roots, else the parent's."""
    rows = shape.rows()
    parents = parents_of(rows)
    roots = parents.count(-1)
    for row, parent in enumerate(parents):
        if parent < 0:
            assert rows.indent(row) == 0
        else:
            deeper = parents.count(parent) > 1 or (roots > 1 and parents[parent] < 0)
            assert rows.indent(row) == rows.indent(parent) + deeper
        assert len(row_prefix(rows, row)) == 3 * rows.indent(row)


@given(shapes())
def test_lines_of_the_drawing_are_unbroken(shape: Shape) -> None:
    """U-22..U-25: what leaves a cell downwards arrives in the cell below, and the other way round."""
    rows = shape.rows()
    prefixes = [row_prefix(rows, row) for row in range(len(rows))]
    for row, prefix in enumerate(prefixes):
        for column, cell in enumerate(prefix):
            if cell in "│├":
                assert prefixes[row + 1][column] in "│├└"
            if cell in "│└":
                assert prefixes[row - 1][column] in "│├"


@given(shapes(), texts, texts, st.integers(1, 130))
def test_no_row_is_wider_than_the_width_or_holds_a_control_character(
    shape: Shape, text: str, label: str, width: int
) -> None:
    """U-26, U-30, cases 67 and 72: at every width from one cell."""
    rows = shape.rows()
    for row in range(len(rows)):
        line = render_row(rows, row, clean(text), label, width=width)
        assert wcswidth(line) <= width
        assert not any(unicodedata.category(character) == "Cc" for character in line)


@given(shapes(), st.integers(1, 130))
def test_from_40_columns_every_row_shows_the_start_of_its_text(shape: Shape, extra: int) -> None:
    """U-26, cases 72 and 76: whatever its depth and label."""
    rows = shape.rows()
    for row in range(len(rows)):
        assert "user: abcde" in render_row(rows, row, "user: abcdefgh" * 9, "label " * 30, width=39 + extra)


@given(shapes(), texts)
def test_without_a_width_nothing_is_cut(shape: Shape, text: str) -> None:
    """U-30: for piped output."""
    rows = shape.rows()
    for row in range(len(rows)):
        line = render_row(rows, row, clean(text), "label")
        assert line.endswith("[label] " + clean(text))
        assert row_prefix(rows, row) in line
