"""The tree as nodes (T-26..T-31), built in slices and without recursion."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import perf_counter

from msgspec import Struct, field

from ..eventstore.abort import AbortSignal
from ..eventstore.entries import SessionEntry
from .tree import ROOT, Tree

_TURN = 0.001


class SessionTreeNode(Struct, frozen=True, eq=False, gc=False):
    """An entry, its children oldest first, and its label. Deep: do not walk it by recursion."""

    entry: SessionEntry
    children: list[SessionTreeNode] = field(default_factory=list)
    label: str | None = None

    def __repr__(self) -> str:
        # A deep tree must be printable: one level, not all.
        return f"SessionTreeNode(entry={self.entry!r}, children=[{len(self.children)} nodes], label={self.label!r})"


async def build_tree(
    tree: Tree, labels: Mapping[str, str], entries: Mapping[int, SessionEntry], signal: AbortSignal | None = None
) -> list[SessionTreeNode]:
    """Return the roots in file order, with all that hangs on them. Raises `AbortError`."""
    roots: list[SessionTreeNode] = []
    stack = [(ROOT, roots)]
    turn_ends = perf_counter() + _TURN
    while stack:
        seq, nodes = stack.pop()
        for child in tree.ordered_children(seq):
            node = SessionTreeNode(entries[child], [], labels.get(tree.ids[child]))
            nodes.append(node)
            stack.append((child, node.children))
        if perf_counter() > turn_ends:
            if signal is not None:
                signal.raise_if_aborted()
            await asyncio.sleep(0)
            turn_ends = perf_counter() + _TURN
    return roots
