"""The session's name (F-55, F-73): the last non-empty one in file order, else the header's title."""

from __future__ import annotations

from ..eventstore.entries import SessionInfoEntry, TitleChangeEntry
from ..eventstore.envelope import Envelopes
from ..eventstore.header import SessionHeader
from .projection import Projection


class SessionName(Projection):
    """`name` is trimmed; None where the session has none. A title slot is part of the header."""

    def __init__(self, header: SessionHeader) -> None:
        self.name: str | None = (header.title or "").strip() or None
        self.entries: list[int] = []
        """Numbers of the entries that hold a name."""

    def _fold_batch(self, first_seq: int, envelopes: Envelopes) -> None:
        for index, state in envelopes.states:
            if isinstance(state, SessionInfoEntry):
                name = state.name
            elif isinstance(state, TitleChangeEntry):
                name = state.title
            else:
                continue
            if name and (name := name.strip()):
                self.name = name
                self.entries.append(first_seq + index)
