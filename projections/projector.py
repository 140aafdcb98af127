"""Folds recorded entries into all projections of one session, and catches up with its store."""

from __future__ import annotations

from collections.abc import Iterator

from ..eventstore.abort import AbortSignal
from ..eventstore.envelope import Envelopes
from ..eventstore.index.index_file import IndexFile
from ..eventstore.index.index_writer import IndexWriter
from ..eventstore.report import Fault, Report
from ..eventstore.store import EntryBatch, EventStore
from ..eventstore.turns import Turns
from .labels import Labels
from .path_state import PathState
from .projection import Projection
from .session_name import SessionName
from .tree import Tree
from .usage import UsageTotals


class Projector:
    """What the recorded entries of one store amount to. `position`: how many were folded."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self.position = 0
        self.tree = Tree()
        self.states = PathState(self.tree)
        self.labels = Labels()
        self.usage = UsageTotals()
        self.name = SessionName(store.header)
        self._projections: tuple[Projection, ...] = (self.tree, self.states, self.labels, self.usage, self.name)

    def apply(self, batch: EntryBatch) -> None:
        """Fold the next batch; what was folded before is passed over."""
        known = self.position + 1 - batch.first_seq
        if known < 0:
            raise ValueError(f"entries {self.position + 1} to {batch.first_seq - 1} are missing")
        envelopes = Envelopes(batch.envelopes[known:]) if known > 0 else batch.envelopes
        if not envelopes:
            return
        for projection in self._projections:
            projection.apply_batch(self.position + 1, envelopes)
        self.position += len(envelopes)

    async def catch_up(self, signal: AbortSignal | None = None, *, source: EventStore | None = None) -> None:
        """Fold everything that the store holds by now. Raises `AbortError`, and what reading raises.

        `source`: another store of the same file, to read from.
        """
        async for batch in (source or self._store).read(self.position, signal=signal):
            self.apply(batch)
        turns = Turns(signal)
        for settling in (self.tree.settle_in_steps, self.states.settle_in_steps):
            for _ in settling():
                if turns.over:
                    await turns.next()

    @property
    def can_be_stored(self) -> bool:
        """Whether an index can be made of what was folded: a damaged log is settled first."""
        return self.states.settled

    def state(self) -> dict[str, object]:
        """Return what is small of all projections, as it is now."""
        return {
            "tree": self.tree.state(),
            "path_state": self.states.state(),
            "labels": self.labels.state(),
            "usage": self.usage.state(),
            "name": self.name.state(),
        }

    async def store(self, writer: IndexWriter, last_seq: int) -> None:
        """Write what is large of all projections, of the entries up to one. Raises `OSError`."""
        await self.tree.store(writer, last_seq)
        await self.states.store(writer, last_seq)

    def restore(self, file: IndexFile) -> None:
        """Begin, empty until now, with what an index holds. Raises `IndexDamagedError`."""
        for projection in self._projections:
            projection.restore(file)
        self.position = file.coverage.entry_count

    def report(self) -> Report:
        """Return all faults that are found without decoding bodies, by line."""
        return Report(sorted([*self._store.faults, *self._tree_faults()], key=lambda fault: fault.line))

    def _tree_faults(self) -> Iterator[Fault]:
        tree, line = self.tree, self._store.line_number
        for seq, _ in tree.duplicates:
            detail = f"the id stands again on line {line(tree.find(tree.ids[seq]))}, which counts"
            yield Fault(line(seq), "duplicate-id", tree.ids[seq], detail)
        for seq, parent_id in tree.orphans:
            yield Fault(line(seq), "orphan", tree.ids[seq], f"its parent {parent_id} is not in the file")
        for seq, parent_id in tree.cycles:
            detail = "it is its own parent" if parent_id == tree.ids[seq] else f"its parent {parent_id} is below it"
            yield Fault(line(seq), "cycle", tree.ids[seq], f"{detail}: it counts as a root")
        for seq in tree.times.unreadable:
            yield Fault(line(seq), "bad-timestamp", tree.ids[seq], "its timestamp cannot be read")
        for seq, target in self.labels.targets:
            if target is None or not tree.find(target):
                detail = "names no target" if target is None else f"its target {target} is not in the file"
                yield Fault(line(seq), "label-target", tree.ids[seq], detail)
