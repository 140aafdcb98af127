"""The label map: global to the file, the last label of a target counts (T-50..T-53)."""

from __future__ import annotations

from ..eventstore.entries import LabelEntry
from ..eventstore.envelope import Envelopes
from .projection import Projection


class Labels(Projection):
    """Target id to label, in the order in which the labels were first set; deleting starts anew (T-62)."""

    def __init__(self) -> None:
        self.by_target: dict[str, str] = {}
        self.targets: list[tuple[int, str | None]] = []
        """Each label entry with its target, for the report."""

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
