"""The label map: global to the file, the last label of a target counts (T-50..T-53)."""

from __future__ import annotations

from collections.abc import Sequence

from ..eventstore.entries import LabelEntry
from ..eventstore.envelope import Envelope, Envelopes


class Labels:
    """Target id to label, in the order in which the labels were first set; deleting starts anew (T-62)."""

    def __init__(self) -> None:
        self.by_target: dict[str, str] = {}
        self.targets: list[tuple[int, str | None]] = []
        """Each label entry with its target, for the report."""

    def apply(self, seq: int, envelope: Envelope) -> None:
        """Take in one recorded entry."""
        self.apply_batch(seq, [envelope])

    def apply_batch(self, first_seq: int, envelopes: Sequence[Envelope]) -> None:
        """Take in recorded entries in order."""
        for index, label in Envelopes.of(envelopes).states:
            if not isinstance(label, LabelEntry):
                continue
            self.targets.append((first_seq + index, label.target_id))
            if label.target_id is None:
                continue
            if label.label:
                self.by_target[label.target_id] = label.label
            else:
                self.by_target.pop(label.target_id, None)
