"""The children of each entry that do not stand right behind it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from heapq import merge

from ..eventstore.index.index_file import IndexFile
from ..eventstore.index.index_writer import IndexWriter
from ..eventstore.index.stored_column import StoredColumn


class FarChildren:
    """Children by parent, in file order; those of a session that was indexed are in its index."""

    def __init__(self, by_parent: dict[int, list[int]] | None = None) -> None:
        self._by_parent = by_parent if by_parent is not None else {}
        self._stored: tuple[StoredColumn, StoredColumn] | None = None

    def restore(self, file: IndexFile) -> None:
        """Begin with what an index holds."""
        self._stored = StoredColumn(file, "far.parents", "I"), StoredColumn(file, "far.children", "I")

    async def store(self, writer: IndexWriter, last_seq: int) -> None:
        """Write what is known of the entries up to one."""
        # Twice the same pairs: what is added meanwhile are later entries.
        order = sorted(self._by_parent)
        await writer.add_column(
            "far.parents", "I", (parent for parent, child in self._pairs(order) if child <= last_seq)
        )
        await writer.add_column("far.children", "I", (child for _, child in self._pairs(order) if child <= last_seq))

    def add(self, parent: int, child: int) -> None:
        """Add a child behind those that are known."""
        self._by_parent.setdefault(parent, []).append(child)

    def of(self, parent: int) -> list[int]:
        """Return the far children of an entry, or of `ROOT`."""
        return [*self._stored_of(parent), *self._by_parent.get(parent, ())]

    def parents(self) -> Iterable[int]:
        """Return all that have far children, some of them twice."""
        stored = self._stored[0] if self._stored is not None else None
        return [*(stored.slice(0, len(stored)) if stored is not None else ()), *self._by_parent]

    def _stored_of(self, parent: int) -> Iterator[int]:
        if self._stored is not None:
            parents, children = self._stored
            at = bisect_left(parents, parent)
            while at < len(parents) and parents[at] == parent:
                yield children[at]
                at += 1

    def _pairs(self, order: Iterable[int]) -> Iterator[tuple[int, int]]:
        """The parent and child of each; `order`: the parents in memory, rising."""
        added = ((parent, child) for parent in order for child in self._by_parent[parent])
        if self._stored is None:
            return added
        parents, children = self._stored
        known = ((parents[at], children[at]) for at in range(len(parents)))
        return merge(known, added)
