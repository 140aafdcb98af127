"""The tree as nodes (T-26..T-31), built in slices and without recursion."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from ..eventstore.abort import AbortSignal
from ..eventstore.entries import SessionEntry
from ..eventstore.turns import Turns
from .tree import ROOT, Tree


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
    turns = Turns(signal)
    while stack:
        seq, nodes = stack.pop()
        for child in tree.ordered_children(seq):
            node = SessionTreeNode(entries[child], [], labels.get(tree.ids[child]))
            nodes.append(node)
            stack.append((child, node.children))
        if turns.over:
            await turns.next()
    return roots
