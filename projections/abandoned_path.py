"""What is left behind when the leaf moves from one entry to another (N-40..N-47)."""

from __future__ import annotations

from msgspec import Struct

from .tree import ROOT, Tree


class AbandonedPath(Struct, frozen=True):
    """`entry_ids`: the entries that are left, in root-to-leaf order, the common ancestor not among them.

    `common_ancestor_id`: the deepest entry on both paths, the target itself counted; None when there is none.
    """

    entry_ids: list[str]
    common_ancestor_id: str | None


def abandoned_path(tree: Tree, old_leaf: int, target: int) -> AbandonedPath:
    """Return what is left on the way from a leaf to a target, by numbers; costs the two ways to where they meet."""
    left: list[int] = []
    meeting = _meeting(tree, old_leaf, target)
    for seq in tree.ancestors(old_leaf):
        if seq == meeting:
            break
        left.append(seq)
    left.reverse()
    return AbandonedPath([tree.ids[seq] for seq in left], tree.ids[meeting] if meeting != ROOT else None)


def _meeting(tree: Tree, one: int, other: int) -> int:
    """Return the deepest entry that is on the paths to both, or `ROOT`."""
    tree.settle()
    if not tree.ordered:
        path = set(tree.ancestors(one))
        return next((seq for seq in tree.ancestors(other) if seq in path), ROOT)
    # Parents stand before their children: of two different entries the later one is no ancestor of the other.
    parents = tree.parents
    while one != other:
        if one > other:
            one = parents[one]
        else:
            other = parents[other]
    return one
