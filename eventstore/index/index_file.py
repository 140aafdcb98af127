"""The file of an index: named parts that are read where they are needed, and a directory of them (ADR 9).

`part … part directory footer`: the directory is msgpack, the footer tells where it is and its checksum. Every block
of 16 KiB of the parts has a checksum of its own in the directory, looked at when the block is read.
"""

from __future__ import annotations

import contextlib
import os
import struct
import weakref
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct

from ..errors import IndexDamagedError
from .coverage import Coverage

BLOCK = 1 << 14
ALIGNMENT = 8
"""Parts begin at multiples of this, so that no item of theirs is in two blocks."""
_FORMAT = 1
_MAGIC = b"sessiontree.idx\n"
_FOOTER = struct.Struct("<QQI4x16s")


class Directory(Struct, frozen=True):
    """What an index holds. `parts`: offset and size of each by name. `state`: what is small, by name, as msgpack."""

    format: int
    coverage: Coverage
    parts: dict[str, tuple[int, int]]
    checksums: bytes
    state: dict[str, msgspec.Raw]


def encode_end(
    coverage: Coverage, parts: dict[str, tuple[int, int]], checksums: list[int], state: dict[str, Any], offset: int
) -> bytes:
    """Return directory and footer, to be written behind the parts at `offset`."""
    encoded = {name: msgspec.Raw(msgspec.msgpack.encode(value)) for name, value in state.items()}
    sums = struct.pack(f"<{len(checksums)}I", *checksums)
    data = msgspec.msgpack.encode(Directory(_FORMAT, coverage, parts, sums, encoded))
    return data + _FOOTER.pack(offset, len(data), crc32(data), _MAGIC)


class IndexFile:
    """An open index file; it stays readable when it is replaced or removed."""

    def __init__(self, path: Path, fd: int, directory: Directory) -> None:
        self.path = path
        self._fd = fd
        self._directory = directory
        self._checksums = memoryview(directory.checksums).cast("I")
        self._end = max((offset + size for offset, size in directory.parts.values()), default=0)
        self._closed = weakref.finalize(self, os.close, fd)

    @classmethod
    def open(cls, path: Path) -> IndexFile | None:
        """Open an index; None where there is none that is whole and of this format. Raises `OSError`."""
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            directory = _read_directory(fd)
            if directory is not None:
                return cls(path, fd, directory)
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        return None

    @property
    def coverage(self) -> Coverage:
        """Which part of which session file is covered."""
        return self._directory.coverage

    def part(self, name: str) -> tuple[int, int]:
        """Return offset and size of a part. Raises `IndexDamagedError` where it is missing."""
        try:
            return self._directory.parts[name]
        except KeyError:
            raise self.damaged(f"has no part {name}") from None

    def state(self, name: str, kind: Any) -> Any:
        """Return a piece of the state as a type. Raises `IndexDamagedError` where it is missing or another."""
        try:
            return msgspec.msgpack.decode(self._directory.state[name], type=kind)
        except (KeyError, msgspec.DecodeError) as error:
            raise self.damaged(f"has no state {name}") from error

    def block(self, number: int) -> bytes:
        """Return one block of the parts. Raises `IndexDamagedError`."""
        return self._blocks(number, number + 1)

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes of the parts. Raises `IndexDamagedError`."""
        first = offset // BLOCK
        data = self._blocks(first, -(-(offset + size) // BLOCK)) if size else b""
        return data[offset - first * BLOCK : offset - first * BLOCK + size]

    def _blocks(self, first: int, stop: int) -> bytes:
        data = os.pread(self._fd, (stop - first) * BLOCK, first * BLOCK)
        view = memoryview(data)
        for number in range(first, stop):
            start = (number - first) * BLOCK
            # The last block ends where the parts do: what stands behind them is not theirs.
            part = view[start : min(start + BLOCK, self._end - first * BLOCK)]
            if number >= len(self._checksums) or crc32(part) != self._checksums[number]:
                raise self.damaged(f"block {number} is not as it was written")
        return data

    def damaged(self, detail: str) -> IndexDamagedError:
        """Remove the index, and return the error to be raised."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
        return IndexDamagedError(self.path, detail)


def _read_directory(fd: int) -> Directory | None:
    size = os.fstat(fd).st_size
    footer = os.pread(fd, _FOOTER.size, max(0, size - _FOOTER.size))
    if len(footer) < _FOOTER.size:
        return None
    offset, length, checksum, magic = _FOOTER.unpack(footer)
    if magic != _MAGIC or offset + length + _FOOTER.size != size:
        return None
    data = os.pread(fd, length, offset)
    if crc32(data) != checksum:
        return None
    try:
        directory = msgspec.msgpack.decode(data, type=Directory)
    except msgspec.DecodeError:
        return None
    return directory if directory.format == _FORMAT else None
