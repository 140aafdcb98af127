"""The file of an index: named parts that are read where they are needed, and a directory of them (ADR 9).

`part … part directory footer`: the directory is msgpack, the footer tells where it is and its checksum. Every block
of 16 KiB of the parts has a checksum of its own in the directory, looked at when the block is read.
"""

from __future__ import annotations

import contextlib
import os
import stat
import struct
import weakref
from array import array
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct

from ..errors import IndexDamagedError
from .coverage import Coverage
from .packed import pack, unpack

BLOCK = 1 << 14
ALIGNMENT = 8
"""Parts begin at multiples of this, so that no item of theirs is in two blocks."""
_FORMAT = 1
"""Rises with every change of what a part or a piece of the state holds."""
_KEPT = 1024
"""Blocks that are kept once they were read, 16 MiB."""
_FEW = 4
_MAGIC = b"sessiontree.idx\n"
_FOOTER = struct.Struct("<QQI4x16s")


class _Directory(Struct, frozen=True):
    """What an index holds. `parts`: offset and size of each by name. `state`: what is small, by name, packed."""

    format: int
    coverage: Coverage
    parts: dict[str, tuple[int, int]]
    checksums: bytes
    state: dict[str, bytes]


def encode_end(
    coverage: Coverage, parts: dict[str, tuple[int, int]], checksums: list[int], state: dict[str, Any], offset: int
) -> bytes:
    """Return directory and footer, to be written behind the parts at `offset`."""
    packed = {name: pack(value) for name, value in state.items()}
    data = msgspec.msgpack.encode(_Directory(_FORMAT, coverage, parts, array("I", checksums).tobytes(), packed))
    return data + _FOOTER.pack(offset, len(data), crc32(data), _MAGIC)


class IndexFile:
    """An open index file; it stays readable when it is replaced or removed.

    `damage`: what was met first that is not as it was written.
    """

    def __init__(self, path: Path, fd: int, directory: _Directory) -> None:
        self.path = path
        self._fd = fd
        self._directory = directory
        self._checksums = memoryview(directory.checksums).cast("I")
        self._blocks: dict[int, bytes] = {}
        self.damage: IndexDamagedError | None = None
        self._end = max((offset + size for offset, size in directory.parts.values()), default=0)
        self._closed = weakref.finalize(self, os.close, fd)

    @classmethod
    def open(cls, path: Path) -> IndexFile | None:
        """Open an index; None where there is none that is whole and of this format. Raises `OSError`."""
        try:
            # Opening a pipe would wait for its writer.
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
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
            return unpack(self._directory.state[name], kind)
        except (KeyError, ValueError) as error:
            raise self.damaged(f"has no state {name}") from error

    def block(self, number: int) -> bytes:
        """Return one block of the parts, the last one as far as they go. Raises `IndexDamagedError`."""
        block = self._blocks.get(number)
        if block is None:
            if len(self._blocks) >= _KEPT:
                self._blocks.clear()
            block = self._blocks[number] = self._read_blocks(number, number + 1)
        return block

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes of the parts. Raises `IndexDamagedError`."""
        if size <= 0:
            return b""
        first, start = divmod(offset, BLOCK)
        stop = -(-(offset + size) // BLOCK)
        if stop - first == 1:
            return self.block(first)[start : start + size]
        few = stop - first <= _FEW
        data = b"".join(map(self.block, range(first, stop))) if few else self._read_blocks(first, stop)
        return data[start : start + size]

    def _read_blocks(self, first: int, stop: int) -> bytes:
        if stop > len(self._checksums):
            raise self.damaged("ends early")
        size = min(stop * BLOCK, self._end) - first * BLOCK
        try:
            data = os.pread(self._fd, size, first * BLOCK)
        except OSError as error:
            raise self.damaged(f"cannot be read: {error.strerror}") from error
        view = memoryview(data)
        for number in range(first, stop):
            start = (number - first) * BLOCK
            if crc32(view[start : start + BLOCK]) != self._checksums[number]:
                raise self.damaged(f"block {number} is not as it was written")
        return data

    def damaged(self, detail: str) -> IndexDamagedError:
        """Remove the index, and return the error to be raised."""
        with contextlib.suppress(OSError):
            # Another one may stand there by now.
            if os.path.samestat(os.stat(self.path), os.fstat(self._fd)):
                self.path.unlink()
        error = IndexDamagedError(self.path, detail)
        self.damage = self.damage or error
        return error


def _read_directory(fd: int) -> _Directory | None:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        return None
    size = found.st_size
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
        directory = msgspec.msgpack.decode(data, type=_Directory)
    except msgspec.DecodeError:
        return None
    blocks = -(-offset // BLOCK)
    whole = directory.format == _FORMAT and len(directory.checksums) == blocks * array("I").itemsize
    return directory if whole and all(start + size <= offset for start, size in directory.parts.values()) else None
