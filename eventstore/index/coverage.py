"""Which part of which session file an index covers, and whether that still stands as it was (ADR 9)."""

from __future__ import annotations

import os
from hashlib import blake2b
from typing import Literal

from msgspec import Struct

from ..file_identity import identity_of

_TRUSTED_AFTER_NS = 2_000_000_000
"""A write within so long of a look may leave the time of the file as it is."""
_SAMPLES = 16
_WITNESSED = 64 << 10
"""The most bytes that are looked at of a line, from its end."""

Standing = Literal["same", "grown", "other"]


class LinePlace(Struct, frozen=True):
    """Where a line ends, with its newline: the last bytes of it, and their digest."""

    offset: int
    length: int
    digest: bytes


class Coverage(Struct, frozen=True):
    """The file as it was looked at, with the `end` of what is covered, and lines that stand for all of it."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    looked_at_ns: int
    end: int
    entry_count: int
    witnesses: list[LinePlace]

    def standing(self, fd: int) -> Standing:
        """Tell whether the open file still begins with what is covered. Reads at most the witnesses."""
        found = os.fstat(fd)
        if identity_of(found) != (self.device, self.inode) or found.st_size < self.end:
            return "other"
        if found.st_size == self.size and found.st_mtime_ns != self.mtime_ns:
            return "other"
        unchanged = (found.st_size, found.st_ctime_ns) == (self.size, self.ctime_ns)
        trusted = unchanged and self.looked_at_ns - self.ctime_ns > _TRUSTED_AFTER_NS
        if not trusted and any(line_place(fd, seen.offset, seen.length) != seen for seen in self.witnesses):
            return "other"
        return "same" if found.st_size == self.end else "grown"


def line_place(fd: int, offset: int, length: int) -> LinePlace:
    """Return a line as it stands in the open file now."""
    passed = max(0, length - _WITNESSED)
    offset, length = offset + passed, length - passed
    return LinePlace(offset, length, blake2b(os.pread(fd, length, offset), digest_size=16).digest())


def sampled(count: int) -> list[int]:
    """Return the numbers of the entries that witness for all of `count`: spread over them, the last one among them."""
    samples = min(count, _SAMPLES)
    return [(index + 1) * count // samples for index in range(samples)]
