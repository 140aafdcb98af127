"""The tree flattened into one list, the active branch first (U-10..U-14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol


class TreeShape(Protocol):
    """The tree by ids: each entry is a root or a child exactly once, and there is no cycle (T-29)."""

    @property
    def root_ids(self) -> Sequence[str]:
        """The roots in file order."""
        ...

    @property
    def leaf_id(self) -> str | None: ...

    def ordered_child_ids(self, entry_id: str, /) -> Sequence[str]:
        """The children of an entry, oldest first (T-28)."""
        ...


@dataclass(frozen=True, slots=True)
class FlatTree:
    """Every entry once, parents before children, each subtree in one piece.

    `ids[p]` and `parents[p]` (a position, -1 for a root) belong to position `p`. The active path, root
    to leaf, is the first `path_length` positions (U-11, U-14); 0 if there is no leaf.
    """

    ids: list[str]
    parents: list[int]
    path_length: int


def flatten(shape: TreeShape) -> FlatTree:
    """U-10..U-12: flatten depth-first; at every level what contains the leaf comes first."""
    ids: list[str] = []
    parents: list[int] = []
    pending = [(root, -1) for root in reversed(shape.root_ids)]
    while pending:
        entry_id, parent = pending.pop()
        position = len(ids)
        ids.append(entry_id)
        parents.append(parent)
        pending.extend((child, position) for child in reversed(shape.ordered_child_ids(entry_id)))
    path = _path(ids, parents, shape.leaf_id)
    if not path:
        return FlatTree(ids, parents, 0)
    order = _active_first(path, parents)
    moved_to = [0] * len(order)
    for position, before in enumerate(order):
        moved_to[before] = position
    moved_parents = [-1 if parents[before] < 0 else moved_to[parents[before]] for before in order]
    return FlatTree([ids[before] for before in order], moved_parents, len(path))


def _path(ids: list[str], parents: list[int], leaf_id: str | None) -> list[int]:
    """The positions from the root to the leaf; none for a leaf that is null or unknown."""
    if leaf_id is None or leaf_id not in ids:
        return []
    path = [ids.index(leaf_id)]
    while (parent := parents[path[-1]]) >= 0:
        path.append(parent)
    path.reverse()
    return path


def _active_first(path: list[int], parents: list[int]) -> list[int]:
    """The old positions in the new order.

    In pre-order a subtree is one run of positions, so moving each entry of the path in front of its
    siblings gives: the path, what is below the leaf, then for each entry of the path, from the leaf up,
    the siblings before it and those after it.
    """
    sizes = [1] * len(parents)
    for position in range(len(parents) - 1, -1, -1):
        if parents[position] >= 0:
            sizes[parents[position]] += sizes[position]
    ends = [start + sizes[start] for start in path]
    runs = [path, range(path[-1] + 1, ends[-1])]
    for above in range(len(path) - 2, -1, -1):
        runs += [range(path[above] + 1, path[above + 1]), range(ends[above + 1], ends[above])]
    runs += [range(path[0]), range(ends[0], len(parents))]
    return list(chain.from_iterable(runs))
