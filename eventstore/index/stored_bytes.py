"""A part of an index file as it is."""

from __future__ import annotations

from collections.abc import Iterator

from .index_file import BLOCK, IndexFile


class StoredBytes:
    """Bytes that are read where they are asked for."""

    def __init__(self, file: IndexFile, name: str) -> None:
        self._file = file
        self._offset, self._size = file.part(name)

    def __len__(self) -> int:
        return self._size

    def read(self, start: int, size: int) -> bytes:
        """Return bytes of the part."""
        return self._file.read(self._offset + start, size)

    def pieces(self) -> Iterator[bytes]:
        """Yield all of it, in pieces."""
        for start in range(0, self._size, BLOCK):
            yield self.read(start, min(BLOCK, self._size - start))
