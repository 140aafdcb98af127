"""What an entry is, in one small number: its type, and a message's role."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ..eventstore.envelope import Envelope


class Kind(Struct, frozen=True):
    """An entry's type, and its role where it is a message with one."""

    type: str
    role: str | None


class KindTable:
    """Numbers kinds in the order in which they are met."""

    def __init__(self) -> None:
        self.kinds: list[Kind] = []
        self._of_type: dict[str, int] = {}
        self._of_role: dict[str, int] = {}

    def restore(self, kinds: Iterable[Kind]) -> None:
        """Begin with kinds that were numbered before."""
        for kind in kinds:
            table, key = (self._of_type, kind.type) if kind.role is None else (self._of_role, kind.role)
            table[key] = len(self.kinds)
            self.kinds.append(kind)

    def numbers(self, envelopes: Iterable[Envelope]) -> list[int]:
        """Return the number of each entry's kind."""
        of_type, of_role = self._of_type, self._of_role
        try:
            return [
                of_role[message.role] if (message := envelope.message) is not None else of_type[envelope.type]
                for envelope in envelopes
            ]
        except KeyError:
            return [self._number(envelope) for envelope in envelopes]

    def _number(self, envelope: Envelope) -> int:
        message = envelope.message
        table, key = (self._of_type, envelope.type) if message is None else (self._of_role, message.role)
        if key not in table:
            table[key] = len(self.kinds)
            self.kinds.append(Kind(envelope.type, message.role if message is not None else None))
        return table[key]
