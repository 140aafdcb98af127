"""What holds at any entry of a path: settings and the cut, folded along the tree (C-10..C-18, C-34, D3)."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain

import msgspec
from msgspec import Struct

from ..eventstore.entries import (
    CompactionEntry,
    ModeChangeEntry,
    ModelChangeEntry,
    ResetBoundaryEntry,
    ServiceTierChangeEntry,
    ThinkingLevelChangeEntry,
    TtsrInjectionEntry,
)
from ..eventstore.envelope import Envelopes, StateEnvelope
from ..eventstore.index.index_file import IndexFile
from ..eventstore.index.index_writer import IndexWriter
from ..eventstore.index.packed import pack, unpack
from ..eventstore.index.stored_column import Column, StoredColumn, first_items
from ..eventstore.index.stored_texts import StoredTable
from .path_records import InjectedRules, PathRecord, PathRecords
from .projection import Projection
from .service_tier import normalise_service_tier
from .tree import ROOT, Tree

_STEP = 2000

FoldedEntry = (
    CompactionEntry
    | ModeChangeEntry
    | ModelChangeEntry
    | ResetBoundaryEntry
    | ServiceTierChangeEntry
    | ThinkingLevelChangeEntry
    | TtsrInjectionEntry
)
_FOLDED_CLASSES = frozenset(FoldedEntry.__args__)
_FOLDED_TYPES = frozenset(str(member.__struct_config__.tag) for member in FoldedEntry.__args__)


class AnsweringModels(Struct, frozen=True):
    """The model of the assistant messages in file order, and where it changed."""

    answering: tuple[str | None, str | None]
    model_seqs: list[int]
    models: list[str | None]


class PathState(Projection):
    """The record that holds at each entry. Takes in each batch after the tree did."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._records = PathRecords()
        self._record_at: array[int] | Column = array("I", [0])
        self._folded: dict[int, FoldedEntry] = {}
        self._stored_folded: StoredTable | None = None
        # The model of the assistant messages in file order, noted where it changes.
        self._answering: tuple[str | None, str | None] = (None, None)
        self._model_seqs: list[int] = [0]
        self._models: list[str | None] = [None]
        self._settled = True
        # Compactions whose first kept entry was looked for on their path, and is not there.
        self._without_kept: set[int] = set()

    def _fold_batch(self, first_seq: int, envelopes: Envelopes) -> None:
        self._settled = self._settled and self._tree.settled
        if not self._settled:
            self._fold_one_by_one(first_seq, envelopes, 0, len(envelopes))
            return
        start = 0
        for index in self._changes(envelopes):
            self._fold_run(first_seq, envelopes, start, index)
            self._fold_one_by_one(first_seq, envelopes, index, index + 1)
            start = index + 1
        self._fold_run(first_seq, envelopes, start, len(envelopes))

    def _changes(self, envelopes: Envelopes) -> list[int]:
        """Return the positions of settings, and of replies of another model than the one that answered before."""
        changes = [index for index, state in envelopes.states if type(state) in _FOLDED_CLASSES]
        provider, model = self._answering
        providers = [message.provider for message in envelopes.replies]
        models = [message.model for message in envelopes.replies]
        if providers.count(provider) == len(providers) and models.count(model) == len(models):
            return changes
        for index, envelope in enumerate(envelopes):
            message = envelope.message
            if message is None or message.role != "assistant":
                continue
            if message.model != model or message.provider != provider:
                provider, model = message.provider, message.model
                changes.append(index)
        return sorted(changes)

    def _fold_run(self, first_seq: int, envelopes: Envelopes, start: int, stop: int) -> None:
        """Fold entries without settings whose replies are all of the model that answered last."""
        record_at = self._record_at
        first = len(record_at)
        # Grows item by item: a record is there when the entry below asks for it.
        record_at.extend(map(record_at.__getitem__, self._tree.parents[first_seq + start : first_seq + stop]))
        model = self._models[-1]
        if any(self._record_with_model(record, model) != record for record in set(record_at[first:])):
            del record_at[first:]
            self._fold_one_by_one(first_seq, envelopes, start, stop)

    def _fold_one_by_one(self, first_seq: int, envelopes: Envelopes, start: int, stop: int) -> None:
        record_at, parents, settled = self._record_at, self._tree.parents, self._settled
        for seq in range(first_seq + start, first_seq + stop):
            envelope = envelopes[seq - first_seq]
            record = record_at[parents[seq]] if settled else 0
            message = envelope.message
            if message is not None:
                if message.role == "assistant":
                    self._note_model(seq, message.provider, message.model)
                    if settled:
                        record = self._record_with_model(record, self._models[-1])
            elif type(envelope) is StateEnvelope and isinstance(state := envelope.state, FoldedEntry):
                self._folded[seq] = _without_text(state)
                if settled:
                    record = self._new_record(self._records[record], seq, state)
            record_at.append(record)

    def _note_model(self, seq: int, provider: str | None, model: str | None) -> None:
        if self._answering != (provider, model):
            self._answering = provider, model
            self._model_seqs.append(seq)
            self._models.append(f"{provider}/{model}" if provider and model else None)

    def _record_with_model(self, number: int, model: str | None) -> int:
        """An assistant's model is the default until one was chosen (C-13)."""
        record = self._records[number]
        if model is None or record.default_is_explicit or record.models.get("default") == model:
            return number
        return self._records.append(msgspec.structs.replace(record, models={**record.models, "default": model}))

    def _new_record(self, above: PathRecord, seq: int, entry: FoldedEntry) -> int:
        return self._records.append(_fold(above, seq, entry))

    def settle_in_steps(self) -> Iterator[None]:
        """Fold anew along the settled tree, in steps of bounded work; an overtaken run is dropped."""
        while not self._settled:
            tree, last = self._tree, len(self._record_at)
            tree.settle()
            records = self._records = PathRecords()
            record_at = array("I", bytes(4 * last))
            done = bytearray(last)
            done[ROOT] = 1
            for start in range(1, last):
                walk = []
                seq = start
                while not done[seq]:
                    walk.append(seq)
                    done[seq] = 1
                    seq = tree.parents[seq] if not tree.is_replaced(seq) else ROOT
                for seq in reversed(walk):
                    above = 0 if tree.is_replaced(seq) else record_at[tree.parents[seq]]
                    record_at[seq] = self._folded_at(seq, above)
                if start % _STEP == 0:
                    yield
                    if self._records is not records:
                        break
            else:
                if last == len(self._record_at) and tree.settled:
                    self._record_at = record_at
                    self._settled = True
                    self._without_kept.clear()

    def _folded_at(self, seq: int, above: int) -> int:
        if (entry := self._folded_entry(seq)) is not None:
            return self._new_record(self._records[above], seq, entry)
        kind = self._tree.kind(seq)
        if kind.role == "assistant":
            return self._record_with_model(above, self._models[bisect_right(self._model_seqs, seq) - 1])
        return above

    def state(self) -> AnsweringModels:
        """Return what is small, as it is now."""
        return AnsweringModels(self._answering, list(self._model_seqs), list(self._models))

    def restore(self, file: IndexFile) -> None:
        """Begin with what an index holds."""
        state: AnsweringModels = file.state("path_state", AnsweringModels)
        self._answering, self._model_seqs, self._models = state.answering, state.model_seqs, state.models
        self._record_at = Column(StoredColumn(file, "record_at", "I"))
        self._records.restore(file)
        self._stored_folded = StoredTable(file, "folded")

    async def store(self, writer: IndexWriter, last_seq: int) -> None:
        """Write what is large, of the entries up to one, where it is settled."""
        await writer.add_column("record_at", "I", first_items(self._record_at, last_seq + 1))
        await self._records.store(writer)
        added = ((seq, pack(self._folded[seq])) for seq in list(self._folded) if seq <= last_seq)
        known = self._stored_folded.items() if self._stored_folded is not None else ()
        await writer.add_table("folded", chain(known, added))

    @property
    def settled(self) -> bool:
        """Whether what holds is known at every entry."""
        return self._settled and self._tree.settled

    def at(self, seq: int) -> PathRecord:
        """Return what holds at an entry; at `ROOT`, what holds before anything."""
        self._tree.settle()
        for _ in self.settle_in_steps():
            pass
        return self._records[self._record_at[seq]]

    def compaction(self, seq: int) -> CompactionEntry | None:
        """Return the anchor of a compaction (without its text), None for what is no whole compaction."""
        entry = self._folded_entry(seq)
        return entry if isinstance(entry, CompactionEntry) else None

    def _folded_entry(self, seq: int) -> FoldedEntry | None:
        entry = self._folded.get(seq)
        if entry is None and self._stored_folded is not None and self._tree.kind(seq).type in _FOLDED_TYPES:
            stored = self._stored_folded.get(seq)
            entry = unpack(stored, FoldedEntry) if stored is not None else None
        return entry

    def kept(self, seq: int) -> list[int]:
        """Return the entries above a compaction up to its first kept one, nearest first.

        Empty where that is unknown, on another branch, or not before the compaction (C-32). Costs what it
        returns, but for the first look for one that is not there.
        """
        tree, compaction = self._tree, self.compaction(seq)
        if compaction is None or compaction.first_kept_entry_id is None:
            return []
        first = tree.find(compaction.first_kept_entry_id)
        if not first or seq in self._without_kept:
            return []
        found = []
        for above in tree.ancestors(tree.parents[seq]):
            found.append(above)
            if above == first:
                return found
            if tree.ordered and above < first:
                break
        self._without_kept.add(seq)
        return []

    def last_model_change_role(self, seq: int) -> str | None:
        """Return the role of the newest model change at or above an entry (T-32)."""
        for above in self._tree.ancestors(seq):
            if isinstance(entry := self._folded_entry(above), ModelChangeEntry):
                return entry.role or "default"
        return None


def _without_text(entry: FoldedEntry) -> FoldedEntry:
    """A compaction's summary stays on disk."""
    if isinstance(entry, CompactionEntry):
        return msgspec.structs.replace(entry, summary="", details=None, short_summary=None, preserve_data=None)
    return entry


def _fold(record: PathRecord, seq: int, entry: FoldedEntry) -> PathRecord:
    replace = msgspec.structs.replace
    match entry:
        case CompactionEntry() | ResetBoundaryEntry():
            return replace(record, cut=seq)
        case ThinkingLevelChangeEntry():
            level = entry.thinking_level
            return replace(record, thinking_level=level or "off", configured_thinking_level=entry.configured or level)
        case ModelChangeEntry():
            if not (model := entry.full_model):
                return record
            role = entry.role or "default"
            models = {**record.models, role: model}
            return replace(record, models=models, default_is_explicit=record.default_is_explicit or role == "default")
        case ModeChangeEntry():
            return replace(record, mode=entry.mode, mode_data=entry.data)
        case ServiceTierChangeEntry():
            return replace(record, service_tier=normalise_service_tier(entry.service_tier))
        case TtsrInjectionEntry():
            return replace(record, rules=InjectedRules(record.rules, entry.injected_rules))
