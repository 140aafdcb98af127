"""What a store knows of its file, and whether that still holds (design D5)."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Literal

from msgspec import Struct

from .file_identity import FileIdentity, identity_of

WITNESS = 4096
"""The most bytes that are kept of a line, from its end."""

_LOOKS = 5
_BETWEEN_LOOKS = 0.0005

Change = Literal["same", "grown", "rewritten"]


class SeenFile(Struct, frozen=True):
    """The file as it was last seen: identity, size, time, and the ends of the header line and of the known part.

    `header_line` and `tail` are at most `WITNESS` bytes, at their offsets.
    """

    identity: FileIdentity
    size: int
    mtime_ns: int
    header_offset: int
    header_line: bytes
    tail_offset: int
    tail: bytes

    def compare(self, fd: int, path: Path) -> Change:
        """Compare the file behind a path, open as `fd`, with what was seen.

        Grown: longer, header and tail unchanged. The same size with another time is a rewrite, unless it is
        a write that has only just begun.
        """
        try:
            there = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return "rewritten"
        stat = os.fstat(fd)
        for _ in range(_LOOKS):
            if stat.st_size != self.size or stat.st_mtime_ns == self.mtime_ns:
                break
            # The system notes the time of a write before the new size.
            time.sleep(_BETWEEN_LOOKS)
            stat = os.fstat(fd)
        if identity_of(there) != self.identity or identity_of(stat) != self.identity:
            return "rewritten"
        if stat.st_size == self.size:
            return "same" if stat.st_mtime_ns == self.mtime_ns else "rewritten"
        if stat.st_size < self.size or not self._lines_stand(fd):
            return "rewritten"
        return "grown"

    def _lines_stand(self, fd: int) -> bool:
        return (
            os.pread(fd, len(self.header_line), self.header_offset) == self.header_line
            and os.pread(fd, len(self.tail), self.tail_offset) == self.tail
        )
