"""Entry times in 24 bytes each, as they stand in the file, parsed when somebody compares them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from ..eventstore.entries import Number
from ..eventstore.index.index_file import IndexFile
from ..eventstore.index.index_writer import IndexWriter
from ..eventstore.index.packed import pack, unpack
from ..eventstore.index.stored_bytes import StoredBytes
from ..eventstore.index.stored_texts import StoredTable
from ..eventstore.timestamps import instant_ms

_WIDTH = 24
_NONE = b" " * _WIDTH
_PIECE = 1 << 14

Timestamp = str | Number | None


class TimeColumn:
    """Timestamps by sequence number; other spellings than `2026-02-16T10:20:30.000Z` stand apart."""

    def __init__(self) -> None:
        self._canonical = bytearray(_NONE)
        self._odd: dict[int, Timestamp] = {}
        self._known = 0
        """How many of the first ones, with that of `ROOT`, are in an index alone."""
        self._stored: StoredBytes | None = None
        self._stored_odd: StoredTable | None = None
        self.unreadable: list[int] = []
        """Numbers of the entries whose time cannot be read."""

    def restore(self, file: IndexFile, unreadable: list[int]) -> None:
        """Begin with what an index holds."""
        self._canonical = bytearray()
        self._stored = StoredBytes(file, "times")
        self._stored_odd = StoredTable(file, "times.odd")
        self._known = len(self._stored) // _WIDTH
        self.unreadable = unreadable

    async def store(self, writer: IndexWriter, last_seq: int) -> None:
        """Write the times of the entries up to one."""
        times, size = self._canonical, (last_seq + 1 - self._known) * _WIDTH
        pieces = (bytes(times[start : min(start + _PIECE, size)]) for start in range(0, size, _PIECE))
        await writer.add("times", chain(self._stored.pieces() if self._stored is not None else (), pieces))
        odd = ((seq, pack(self._odd[seq])) for seq in list(self._odd) if seq <= last_seq)
        await writer.add_table(
            "times.odd", chain(self._stored_odd.items() if self._stored_odd is not None else (), odd)
        )

    def extend(self, first_seq: int, timestamps: Sequence[Timestamp]) -> None:
        """Add the times of entries in order."""
        if self._extend_canonical(timestamps):
            return
        for seq, timestamp in enumerate(timestamps, first_seq):
            self._canonical += _NONE
            self._odd[seq] = timestamp
            if instant_ms(timestamp) is None:
                self.unreadable.append(seq)

    def _extend_canonical(self, timestamps: Sequence[Any]) -> bool:
        """Add times that are all spelled canonically, at the speed of C; else add none."""
        try:
            text = "".join(timestamps).encode("ascii")
            deque(map(datetime.fromisoformat, timestamps), maxlen=0)
        except (TypeError, ValueError):
            return False
        count = len(timestamps)
        if set(map(len, timestamps)) != {_WIDTH} or text[_WIDTH - 1 :: _WIDTH] != b"Z" * count:
            return False
        self._canonical += text
        return True

    def stored(self, seq: int) -> Timestamp:
        """Return an entry's time as the file spells it."""
        if seq in self._odd:
            return self._odd[seq]
        if seq >= self._known:
            at = (seq - self._known) * _WIDTH
            return self._canonical[at : at + _WIDTH].decode("ascii")
        assert self._stored is not None
        text = self._stored.read(seq * _WIDTH, _WIDTH)
        odd = self._stored_odd.get(seq) if text == _NONE and self._stored_odd is not None else None
        return unpack(odd, Timestamp) if odd is not None else text.decode("ascii")

    def instant(self, seq: int) -> float | None:
        """Return an entry's time in milliseconds since 1970, None where it cannot be read."""
        return instant_ms(self.stored(seq))
