"""Entry times in 24 bytes each, as they stand in the file, parsed when somebody compares them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ..eventstore.entries import Number
from ..eventstore.timestamps import instant_ms

_WIDTH = 24
_NONE = b" " * _WIDTH

Timestamp = str | Number | None


class TimeColumn:
    """Timestamps by sequence number; other spellings than `2026-02-16T10:20:30.000Z` stand apart."""

    def __init__(self) -> None:
        self._canonical = bytearray(_NONE)
        self._odd: dict[int, Timestamp] = {}
        self.unreadable: list[int] = []
        """Numbers of the entries whose time cannot be read."""

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
        return self._canonical[seq * _WIDTH : (seq + 1) * _WIDTH].decode("ascii")

    def instant(self, seq: int) -> float | None:
        """Return an entry's time in milliseconds since 1970, None where it cannot be read."""
        return instant_ms(self.stored(seq))
