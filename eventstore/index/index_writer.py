"""Writes an index file, a part after the other; it appears whole or not at all (ADR 9)."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

from ..temporary_name import temporary_name
from ..turns import Turns
from ..worker import run_in_thread
from .coverage import Coverage
from .index_file import ALIGNMENT, BLOCK, encode_end

_AT_ONCE = 64 * BLOCK
_SLICE = 1024


class IndexWriter:
    """An index that is being written, to a temporary file. In the end it is closed, published or not."""

    def __init__(self, path: Path) -> None:
        """Raises `OSError`."""
        self._path = path
        self._temporary = temporary_name(path)
        self._fd = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._parts: dict[str, tuple[int, int]] = {}
        self._checksums: list[int] = []
        self._offset = 0
        self._pending = bytearray()
        self._turns = Turns()

    async def add(self, name: str, pieces: Iterable[bytes]) -> None:
        """Write a part, given in pieces of a few kilobytes. Raises `OSError`."""
        self._put(bytes(-self._offset % ALIGNMENT))
        start = self._offset
        for piece in pieces:
            self._put(piece)
            if len(self._pending) >= _AT_ONCE:
                await self._write_blocks(len(self._pending) // BLOCK * BLOCK)
            if self._turns.over:
                await self._turns.next()
        self._parts[name] = start, self._offset - start

    async def add_column(self, name: str, typecode: str, values: Iterable[int]) -> None:
        """Write numbers as a part."""
        numbers = iter(values)
        await self.add(name, iter(lambda: array(typecode, islice(numbers, _SLICE)).tobytes(), b""))

    async def add_texts(self, name: str, texts: Iterable[bytes]) -> None:
        """Write texts, as bytes, and where each ends."""
        ends = array("Q")

        def noting() -> Iterable[bytes]:
            end = 0
            for text in texts:
                end += len(text)
                ends.append(end)
                yield text

        await self.add(name, noting())
        await self.add_column(f"{name}.ends", "Q", ends)

    async def add_table(self, name: str, table: Iterable[tuple[int, bytes]]) -> None:
        """Write texts by their numbers, which rise."""
        keys = array("I")

        def noting() -> Iterable[bytes]:
            for key, text in table:
                keys.append(key)
                yield text

        await self.add_texts(name, noting())
        await self.add_column(f"{name}.keys", "I", keys)

    def _put(self, piece: bytes) -> None:
        self._pending += piece
        self._offset += len(piece)

    async def _write_blocks(self, size: int) -> None:
        data = bytes(memoryview(self._pending)[:size])
        del self._pending[:size]
        await run_in_thread(self._write_summed, data)

    def _write_summed(self, data: bytes) -> None:
        self._checksums += [crc32(data[start : start + BLOCK]) for start in range(0, len(data), BLOCK)]
        self._write(data)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]

    async def publish(self, coverage: Coverage, state: dict[str, Any]) -> None:
        """Write what is left, and give the index its name. Raises `OSError`, `RecursionError`."""
        await self._write_blocks(len(self._pending))
        await run_in_thread(self._write_end, coverage, state)
        os.replace(self._temporary, self._path)

    def _write_end(self, coverage: Coverage, state: dict[str, Any]) -> None:
        self._write(encode_end(coverage, self._parts, self._checksums, state, self._offset))

    def close(self) -> None:
        """Close the file, and remove it where it was not published."""
        os.close(self._fd)
        self._temporary.unlink(missing_ok=True)
