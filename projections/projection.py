"""What every projection is: recorded entries folded, in order, into what a reader needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ..eventstore.envelope import Envelope, Envelopes
from ..eventstore.index.index_file import IndexFile


class Projection(ABC):
    """Changes by recorded entries only. Entries are numbered from 1 and come in order, each once."""

    def apply(self, seq: int, envelope: Envelope) -> None:
        """Fold one recorded entry."""
        self.apply_batch(seq, [envelope])

    def apply_batch(self, first_seq: int, envelopes: Sequence[Envelope]) -> None:
        """Fold recorded entries, the first of which has the number `first_seq`."""
        if envelopes:
            self._fold_batch(first_seq, Envelopes.of(envelopes))

    @abstractmethod
    def _fold_batch(self, first_seq: int, envelopes: Envelopes) -> None: ...

    @abstractmethod
    def restore(self, file: IndexFile) -> None:
        """Begin, empty until now, with what an index holds. Raises `IndexDamagedError`."""
