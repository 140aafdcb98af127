"""The tree of a session, as columns by sequence number (T-01..T-31, design D3)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import compress, count, islice
from operator import ne

from msgspec import Struct

from ..eventstore.envelope import Envelopes
from ..eventstore.index.index_file import IndexFile
from ..eventstore.index.index_writer import IndexWriter
from ..eventstore.index.stored_column import Column, StoredColumn, first_items
from .far_children import FarChildren
from .id_index import IdIndex
from .kinds import Kind, KindTable
from .projection import Projection
from .time_column import TimeColumn
from .tree_settling import SettledTree, settle_tree

ROOT = 0
"""The number above all roots. Entries are numbered from 1 in file order."""


class TreeState(Struct, frozen=True):
    """What is small of a tree: see there."""

    kinds: list[Kind]
    ordered: bool
    waiting: dict[str, list[int]]
    replaced: dict[int, int]
    cut: dict[int, int]
    unreadable: list[int]


class Tree(Projection):
    """Parents, children and ids of all recorded entries.

    A parent that comes after its child, a duplicate id or an own parent only marks the tree unsettled; the
    next query settles it in one pass, at a cost linear in the session.
    """

    def __init__(self) -> None:
        self.parents: array[int] | Column = array("I", [ROOT])
        """The parent that counts: `ROOT` for every root, whatever its line says."""
        self.times = TimeColumn()
        self.settled = True
        self.ordered = True
        """Whether every parent stands before its children."""
        self._index = IdIndex()
        self.ids = self._index.ids
        """Ids by number."""
        self._kinds = KindTable()
        self.kind_numbers: array[int] | Column = array("I", [0])
        """Kinds by number of the entry, each as its number in `kinds`."""
        # A child that follows its parent at once needs no place of its own: only the others are listed.
        self._far_children = FarChildren()
        self._waiting: dict[str, list[int]] = {}
        self._replaced: dict[int, int] = {}
        self._cut: dict[int, int] = {}

    @property
    def last_seq(self) -> int:
        """The number of the last recorded entry, 0 for none."""
        return len(self.ids) - 1

    @property
    def last_id(self) -> str | None:
        """The id of the last recorded entry, None for none."""
        return self.ids[-1] if self.last_seq else None

    @property
    def entry_count(self) -> int:
        """The number of entries; lines whose id stands again later are not counted."""
        return self.last_seq - len(self._replaced)

    def _fold_batch(self, first_seq: int, envelopes: Envelopes) -> None:
        ids = [envelope.id for envelope in envelopes]
        named = [envelope.parent_id for envelope in envelopes]
        self.kind_numbers.extend(self._kinds.numbers(envelopes))
        self.times.extend(first_seq, [envelope.timestamp for envelope in envelopes])
        above = [self.ids[-1], *ids[:-1]]
        self._note_duplicates(self._index.add(ids))
        self.parents.extend(range(first_seq - 1, first_seq - 1 + len(ids)))
        if named != above or first_seq == 1:
            self._link(first_seq, named, above)
        if self._waiting and not self._waiting.keys().isdisjoint(ids):
            self.settled = False

    def _link(self, first_seq: int, named: Sequence[str | None], above: Sequence[str]) -> None:
        """Link the entries whose parent is not the one right above them."""
        far = list(compress(range(len(named)), map(ne, named, above)))
        for index in far if first_seq > 1 or 0 in far else [0, *far]:
            seq, parent_id = first_seq + index, named[index]
            parent = self._index.get(parent_id) if parent_id is not None else ROOT
            if parent == ROOT and parent_id is not None:
                self._waiting.setdefault(parent_id, []).append(seq)
            elif parent >= seq:
                self.settled = False
            self.parents[seq] = parent
            if parent != seq - 1:
                self._far_children.add(parent, seq)

    def _note_duplicates(self, pairs: Sequence[tuple[int, int]]) -> None:
        for earlier, later in pairs:
            self._replaced[earlier] = later
            self.settled = False

    def state(self) -> TreeState:
        """Return what is small of a settled tree, as it is now."""
        return TreeState(
            list(self.kinds),
            self.ordered,
            {key: list(seqs) for key, seqs in self._waiting.items()},
            dict(self._replaced),
            dict(self._cut),
            list(self.times.unreadable),
        )

    def restore(self, file: IndexFile) -> None:
        """Begin with what an index holds."""
        state: TreeState = file.state("tree", TreeState)
        self._kinds.restore(state.kinds)
        self.ordered = state.ordered
        self._waiting, self._replaced, self._cut = state.waiting, state.replaced, state.cut
        self.parents = Column(StoredColumn(file, "parents", "I"))
        self.kind_numbers = Column(StoredColumn(file, "kinds", "I"))
        self.times.restore(file, state.unreadable)
        self._index.restore(file, repeats=bool(state.replaced))
        self.ids = self._index.ids
        self._far_children.restore(file)

    async def store(self, writer: IndexWriter, last_seq: int) -> None:
        """Write what is large, of the entries up to one. The tree stays settled meanwhile, or it is not used."""
        await writer.add_column("parents", "I", first_items(self.parents, last_seq + 1))
        await writer.add_column("kinds", "I", first_items(self.kind_numbers, last_seq + 1))
        await self._index.store(writer, last_seq)
        await self.times.store(writer, last_seq)
        await self._far_children.store(writer, last_seq)

    def settle(self) -> None:
        """Make the tree right after damage, at once."""
        for _ in self.settle_in_steps():
            pass

    def settle_in_steps(self) -> Iterator[None]:
        """The same in steps of bounded work; the result of an overtaken run is dropped."""
        while not self.settled:
            last = self.last_seq
            result: SettledTree | None = None
            for step in settle_tree(self._named_parents(), self._replaced):
                result = step
                yield
            if result is not None and not self.settled and last == self.last_seq:
                self._take(result)

    def _named_parents(self) -> array[int]:
        """The parents as the lines name them, for a new start: cuts undone, late parents looked up."""
        parents = self.parents[:]
        for seq, parent in self._cut.items():
            parents[seq] = parent
        for parent_id, children in self._waiting.items():
            parent = self._index.get(parent_id)
            for seq in children:
                parents[seq] = parent
        return parents

    def _take(self, result: SettledTree) -> None:
        self.parents = result.parents
        self._far_children = FarChildren(result.far_children)
        self._cut = result.cut
        self.ordered = result.ordered
        self._waiting = {key: seqs for key, seqs in self._waiting.items() if not self._index.get(key)}
        self.settled = True

    def find(self, entry_id: str) -> int:
        """Return the number of an entry, 0 where the id is not known."""
        self.settle()
        return self._index.get(entry_id)

    @property
    def kinds(self) -> Sequence[Kind]:
        """The kinds that were met."""
        return self._kinds.kinds

    def kind(self, seq: int) -> Kind:
        """Return an entry's type and role."""
        return self._kinds.kinds[self.kind_numbers[seq]]

    def turnings(self) -> list[int]:
        """Return the numbers, in order, of the entries that are not followed at once by their only child.

        Between two of them each entry has one child, the next line.
        """
        self.settle()
        # The first item of the parents is that of `ROOT`.
        turnings = set(compress(range(len(self.parents)), map(ne, islice(self.parents, 1, None), count())))
        return sorted(turnings.union(self._far_children.parents(), (self.last_seq,)) - {ROOT})

    def children(self, seq: int) -> list[int]:
        """Return the children of an entry, or the roots for `ROOT`, in file order (T-25, T-27)."""
        self.settle()
        far = self._far_children.of(seq)
        near = seq + 1
        if near > self.last_seq or self.parents[near] != seq:
            return far
        return [near, *far] if not far or far[0] > near else sorted([near, *far])

    def ordered_children(self, seq: int) -> list[int]:
        """Return the children of an entry, oldest first (T-28), the roots in file order (T-27).

        An unreadable time takes the instant of the nearest earlier sibling that has one, else it comes first.
        """
        children = self.children(seq)
        if seq == ROOT or len(children) < 2:
            return children
        instants = []
        instant = float("-inf")
        for child in children:
            own = self.times.instant(child)
            instant = instant if own is None else own
            instants.append(instant)
        order = sorted(range(len(children)), key=instants.__getitem__)
        return [children[index] for index in order]

    def ancestors(self, seq: int) -> Iterator[int]:
        """Yield an entry and what stands above it, up to its root."""
        self.settle()
        parents = self.parents
        while seq != ROOT:
            yield seq
            seq = parents[seq]

    def path(self, seq: int) -> list[int]:
        """Return the numbers from the root to an entry (T-22); empty for `ROOT`."""
        self.settle()
        parents = self.parents
        path = []
        while seq != ROOT:
            path.append(seq)
            seq = parents[seq]
        path.reverse()
        return path

    def is_replaced(self, seq: int) -> bool:
        """Tell whether the id of this line stands again later, so that the later line counts (F-87)."""
        return seq in self._replaced

    def live(self) -> Iterator[int]:
        """Yield the numbers of all entries in file order."""
        return (seq for seq in range(1, self.last_seq + 1) if seq not in self._replaced)

    @property
    def orphans(self) -> list[tuple[int, str]]:
        """Entries whose parent is not in the file, with the id they name."""
        self.settle()
        waiting = ((seq, parent_id) for parent_id, seqs in self._waiting.items() for seq in seqs)
        return sorted((seq, parent_id) for seq, parent_id in waiting if seq not in self._replaced)

    @property
    def cycles(self) -> list[tuple[int, str]]:
        """Entries at which a cycle was cut, and entries that are their own parent, with the parent they name."""
        self.settle()
        return [(seq, self.ids[parent]) for seq, parent in sorted(self._cut.items())]

    @property
    def duplicates(self) -> list[tuple[int, int]]:
        """Lines whose id stands again later, with the line that counts."""
        return sorted(self._replaced.items())
