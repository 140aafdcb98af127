"""The tree flattened into one list, the active branch first (U-10..U-14)."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ..projections.tree import ROOT, Tree


@dataclass(frozen=True, slots=True)
class FlatTree:
    """Every entry once, parents before children, each subtree in one piece. An entry's place is its position.

    The list is made of segments: in one, each entry but the first is the only child of the entry before it. So what
    hangs together costs what its segments cost, however long they are.
    """

    ids: Sequence[str]
    """The ids of the entries, by number."""
    seqs: array[int]
    """The numbers of the entries, by position."""
    positions: array[int]
    """The positions, by number; -1 for a line that does not count."""
    starts: list[int]
    """The position at which each segment begins."""
    parents: list[int]
    """The segment on whose last entry each hangs, -1 for a root."""
    ends: list[int]
    """The position behind all that hangs on each segment, itself included."""
    path_length: int
    """How many entries the active path has: root to leaf, the first ones of the list (U-11, U-14)."""

    def id(self, position: int) -> str:
        """Return the id of the entry at a position."""
        return self.ids[self.seqs[position]]

    def segment(self, position: int) -> int:
        """Return the segment that holds a position."""
        return bisect_right(self.starts, position) - 1

    def segment_end(self, segment: int) -> int:
        """Return the position behind the last entry of a segment."""
        return self.starts[segment + 1] if segment + 1 < len(self.starts) else len(self.seqs)

    def subtree_end(self, position: int) -> int:
        """Return the position behind all that hangs below an entry."""
        return self.ends[self.segment(position)]

    def parent(self, position: int) -> int:
        """Return the position of an entry's parent, -1 for a root."""
        segment = self.segment(position)
        if position > self.starts[segment]:
            return position - 1
        above = self.parents[segment]
        return self.segment_end(above) - 1 if above >= 0 else -1


def flatten(tree: Tree, leaf_id: str | None) -> FlatTree:
    """U-10..U-12: flatten depth-first; at every level what contains the leaf comes first."""
    leaf = tree.find(leaf_id) if leaf_id is not None else ROOT
    active = set(tree.path(leaf))
    turnings = tree.turnings()
    seqs = array("I")
    starts: list[int] = []
    parents: list[int] = []
    pending = [(root, -1) for root in _last_first(tree, ROOT, active)]
    while pending:
        seq, above = pending.pop()
        segment = len(starts)
        starts.append(len(seqs))
        parents.append(above)
        while True:
            turning = turnings[bisect_left(turnings, seq)]
            seqs.extend(range(seq, turning + 1))
            children = _last_first(tree, turning, active)
            if len(children) != 1:
                break
            [seq] = children
        pending.extend((child, segment) for child in children)
    positions = array("i", [-1]) * len(tree.ids)
    for position, seq in enumerate(seqs):
        positions[seq] = position
    return FlatTree(tree.ids, seqs, positions, starts, parents, _ends(starts, parents, len(seqs)), len(active))


def _last_first(tree: Tree, seq: int, active: set[int]) -> list[int]:
    """The children of an entry in the reverse of their order on the screen."""
    children = tree.ordered_children(seq)
    if len(children) > 1:
        children.sort(key=lambda child: child not in active)
        children.reverse()
    return children


def _ends(starts: list[int], parents: list[int], size: int) -> list[int]:
    ends = [*starts[1:], size]
    for segment in range(len(starts) - 1, -1, -1):
        above = parents[segment]
        if above >= 0 and ends[above] < ends[segment]:
            ends[above] = ends[segment]
    return ends
