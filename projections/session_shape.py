"""What is known of an entry without reading its body."""

from __future__ import annotations

from msgspec import Struct

from .time_column import Timestamp
from .tree import ROOT, Tree


class SessionShape(Struct, frozen=True):
    """An entry without its body. `parent_id`: the parent in the tree, None for a root."""

    id: str
    type: str
    role: str | None
    parent_id: str | None
    timestamp: Timestamp


def shape_of(tree: Tree, seq: int) -> SessionShape:
    """Return the shape of an entry by its number."""
    kind, parent = tree.kind(seq), tree.parents[seq]
    parent_id = tree.ids[parent] if parent != ROOT else None
    return SessionShape(tree.ids[seq], kind.type, kind.role, parent_id, tree.times.stored(seq))
