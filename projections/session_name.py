"""The session's name (F-55, F-73): the last non-empty one in file order, else the header's title."""

from __future__ import annotations

from msgspec import Struct

from ..eventstore.entries import SessionInfoEntry, TitleChangeEntry
from ..eventstore.envelope import Envelopes
from ..eventstore.header import SessionHeader
from ..eventstore.index.index_file import IndexFile
from .projection import Projection


class NameState(Struct, frozen=True):
    """The name: see `SessionName`."""

    name: str | None
    entries: list[int]


class SessionName(Projection):
    """`name` is trimmed; None where the session has none. A title slot is part of the header."""

    def __init__(self, header: SessionHeader) -> None:
        self.name: str | None = (header.title or "").strip() or None
        self.entries: list[int] = []
        """Numbers of the entries that hold a name."""

    def state(self) -> NameState:
        """Return all of it, as it is now."""
        return NameState(self.name, list(self.entries))

    def restore(self, file: IndexFile) -> None:
        """Begin with what an index holds."""
        state: NameState = file.state("name", NameState)
        self.name, self.entries = state.name, state.entries

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
