"""The session's name (F-55, F-73): the last non-empty one in file order, else the header's title."""

from __future__ import annotations

from collections.abc import Sequence

from ..eventstore.entries import SessionInfoEntry, TitleChangeEntry
from ..eventstore.envelope import Envelope, Envelopes
from ..eventstore.header import SessionHeader


class SessionName:
    """`name` is trimmed; None where the session has none. A title slot is part of the header."""

    def __init__(self, header: SessionHeader) -> None:
        self.name: str | None = (header.title or "").strip() or None
        self.entries: list[int] = []
        """Numbers of the entries that hold a name."""

    def apply(self, seq: int, envelope: Envelope) -> None:
        """Take in one recorded entry."""
        self.apply_batch(seq, [envelope])

    def apply_batch(self, first_seq: int, envelopes: Sequence[Envelope]) -> None:
        """Take in recorded entries in order."""
        for index, state in Envelopes.of(envelopes).states:
            if isinstance(state, SessionInfoEntry):
                name = state.name
            elif isinstance(state, TitleChangeEntry):
                name = state.title
            else:
                continue
            if name and (name := name.strip()):
                self.name = name
                self.entries.append(first_seq + index)
