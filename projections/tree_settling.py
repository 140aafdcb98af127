"""Settles a damaged log into a tree: duplicates, own parents, late parents, cycles (T-23, T-27, F-87, design D3)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping

from msgspec import Struct

_ROOT = 0
_STEP = 2000
_UNKNOWN, _REACHED, _ON_WALK = 0, 1, 2


class SettledTree(Struct, frozen=True):
    """A tree without cycles: the parent that counts for every entry, and what follows from it."""

    parents: array[int]
    far_children: dict[int, list[int]]
    """Children by parent, but for a child that stands right behind its parent."""
    cut: dict[int, int]
    """Entries at which a cycle was cut, own parents too, with the parent that their line names."""
    ordered: bool


def settle_tree(parents: array[int], replaced: Mapping[int, int]) -> Iterator[SettledTree | None]:
    """Yield None after each step of bounded work, and the result last.

    `parents`: the parent that each line names, 0 for none, and is changed; `replaced`: entries whose id stands
    again later, with that later entry, which takes their place. A cycle is cut at its first entry; an entry that
    is its own parent is a cycle of one.
    """
    stands_for: dict[int, int] = {}
    for seq in sorted(replaced, reverse=True):
        later = replaced[seq]
        stands_for[seq] = stands_for.get(later, later)
    cut: dict[int, int] = {}
    state = bytearray(len(parents))
    state[_ROOT] = _REACHED
    for seq in range(1, len(parents)):
        if seq % _STEP == 0:
            yield None
        if seq in stands_for:
            # Nobody's child, and no longer anybody's parent.
            parents[seq] = seq
            state[seq] = _REACHED
            continue
        walk = []
        while state[seq] == _UNKNOWN:
            state[seq] = _ON_WALK
            walk.append(seq)
            if len(walk) % _STEP == 0:
                yield None
            named = parents[seq]
            parents[seq] = seq = stands_for.get(named, named)
        if state[seq] == _ON_WALK:
            cycle = walk[walk.index(seq) :]
            first = min(cycle)
            cut[first] = parents[first]
            parents[first] = _ROOT
        for seq in walk:
            state[seq] = _REACHED
    far_children: dict[int, list[int]] = {}
    ordered = True
    for seq in range(1, len(parents)):
        if seq % _STEP == 0:
            yield None
        if seq in stands_for:
            continue
        parent = parents[seq]
        if parent != seq - 1:
            far_children.setdefault(parent, []).append(seq)
            ordered = ordered and parent < seq
    yield SettledTree(parents, far_children, cut, ordered)
