"""What a store knows of its file, and whether that still holds (design D5)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from msgspec import Struct

Change = Literal["same", "grown", "rewritten"]


class SeenFile(Struct, frozen=True):
    """The file as it was last seen: identity, size, time, and the bytes of two lines at their offsets."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    header_offset: int
    header_line: bytes
    last_offset: int
    last_line: bytes

    def matches(self, fd: int) -> bool:
        """Tell by size and time alone whether the open file is as it was."""
        stat = os.fstat(fd)
        return stat.st_size == self.size and stat.st_mtime_ns == self.mtime_ns and stat.st_ino == self.inode

    def compare(self, fd: int, path: Path) -> Change:
        """Compare the file behind a path, open as `fd`, with what was seen.

        Grown: longer, header and last known line unchanged. The same size with another time is a rewrite.
        """
        try:
            there = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return "rewritten"
        stat = os.fstat(fd)
        identity = self.device, self.inode
        if (there.st_dev, there.st_ino) != identity or (stat.st_dev, stat.st_ino) != identity:
            return "rewritten"
        if stat.st_size == self.size:
            return "same" if stat.st_mtime_ns == self.mtime_ns else "rewritten"
        if stat.st_size < self.size or not self._lines_stand(fd):
            return "rewritten"
        return "grown"

    def _lines_stand(self, fd: int) -> bool:
        return (
            os.pread(fd, len(self.header_line), self.header_offset) == self.header_line
            and os.pread(fd, len(self.last_line), self.last_offset) == self.last_line
        )
