"""The tree as nodes (T-26..T-31), built in slices and without recursion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from msgspec import Struct, field

from ..eventstore.abort import AbortSignal
from ..eventstore.entries import SessionEntry
from ..eventstore.turns import Turns
from .session_shape import SessionShape, shape_of
from .tree import ROOT, Tree


class SessionTreeNode(Struct, frozen=True, eq=False, gc=False):
    """An entry, its children oldest first, and its label. Deep: do not walk it by recursion."""

    entry: SessionEntry
    children: list[SessionTreeNode] = field(default_factory=list)
    label: str | None = None

    def __repr__(self) -> str:
        # A deep tree must be printable: one level, not all.
        return f"SessionTreeNode(entry={self.entry!r}, children=[{len(self.children)} nodes], label={self.label!r})"


class SessionShapeNode(Struct, frozen=True, eq=False, gc=False):
    """The same for an entry whose body was not read."""

    shape: SessionShape
    children: list[SessionShapeNode] = field(default_factory=list)
    label: str | None = None

    def __repr__(self) -> str:
        return f"SessionShapeNode(shape={self.shape!r}, children=[{len(self.children)} nodes], label={self.label!r})"


class _Node(Protocol):
    @property
    def children(self) -> list[Any]: ...


N = TypeVar("N", bound=_Node)


async def build_tree(
    tree: Tree, labels: Mapping[str, str], entries: Mapping[int, SessionEntry], signal: AbortSignal | None = None
) -> list[SessionTreeNode]:
    """Return the roots in file order, with all that hangs on them. Raises `AbortError`."""
    return await _build(tree, lambda seq: SessionTreeNode(entries[seq], [], labels.get(tree.ids[seq])), signal)


async def build_shape_tree(
    tree: Tree, labels: Mapping[str, str], signal: AbortSignal | None = None
) -> list[SessionShapeNode]:
    """The same without bodies."""
    return await _build(tree, lambda seq: SessionShapeNode(shape_of(tree, seq), [], labels.get(tree.ids[seq])), signal)


async def _build(tree: Tree, node_of: Callable[[int], N], signal: AbortSignal | None) -> list[N]:
    roots: list[N] = []
    stack = [(ROOT, roots)]
    turns = Turns(signal)
    while stack:
        seq, nodes = stack.pop()
        for child in tree.ordered_children(seq):
            node = node_of(child)
            nodes.append(node)
            stack.append((child, node.children))
        if turns.over:
            await turns.next()
    return roots
