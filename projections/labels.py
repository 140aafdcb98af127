"""The label map: global to the file, the last label of a target counts (T-50..T-53)."""

from __future__ import annotations

from msgspec import Struct

from ..eventstore.entries import LabelEntry
from ..eventstore.envelope import Envelopes
from ..eventstore.index.index_file import IndexFile
from .projection import Projection


class LabelsState(Struct, frozen=True):
    """The labels: see `Labels`."""

    by_target: dict[str, str]
    targets: list[tuple[int, str | None]]


class Labels(Projection):
    """Target id to label, in the order in which the labels were first set; deleting starts anew (T-62)."""

    def __init__(self) -> None:
        self.by_target: dict[str, str] = {}
        self.targets: list[tuple[int, str | None]] = []
        """Each label entry with its target, for the report."""

    def state(self) -> LabelsState:
        """Return all of it, as it is now."""
        return LabelsState(dict(self.by_target), list(self.targets))

    def restore(self, file: IndexFile) -> None:
        """Begin with what an index holds."""
        state: LabelsState = file.state("labels", LabelsState)
        self.by_target, self.targets = state.by_target, state.targets

    def _fold_batch(self, first_seq: int, envelopes: Envelopes) -> None:
        for index, label in envelopes.states:
            if not isinstance(label, LabelEntry):
                continue
            self.targets.append((first_seq + index, label.target_id))
            if label.target_id is None:
                continue
            if label.label:
                self.by_target[label.target_id] = label.label
            else:
                self.by_target.pop(label.target_id, None)
