"""A log in memory, with the behaviour of the file's (F-117)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from .abort import AbortSignal
from .errors import ConcurrencyError, SessionClosedError
from .header import CURRENT_VERSION, SessionHeader
from .polling import follow_by_polling
from .report import Fault
from .scanner import scan_chunk
from .store import EntryBatch

_BATCH = 1024


class MemoryEventStore:
    """The event store of a session without a file. Nothing survives the process."""

    path: Path | None = None
    file_version = CURRENT_VERSION

    def __init__(self, header: SessionHeader, lines: Sequence[bytes] = ()) -> None:
        self.header = header
        self.faults: list[Fault] = []
        self._lines: list[bytes] = list(lines)
        self._closed = False

    @property
    def version(self) -> int:
        return len(self._lines)

    def line_number(self, seq: int) -> int:
        # The header would be line 1.
        return seq + 1

    async def read(self, after: int = 0, *, signal: AbortSignal | None = None) -> AsyncIterator[EntryBatch]:
        self._check_open()
        while after < self.version:
            if signal is not None:
                signal.raise_if_aborted()
            batch = self._scan(after + 1, self._lines[after : after + _BATCH])
            after += len(batch.envelopes)
            yield batch
            await asyncio.sleep(0)

    def follow(self, after: int, *, signal: AbortSignal | None = None) -> AsyncIterator[EntryBatch]:
        return follow_by_polling(self, after, signal)

    async def read_lines(self, seqs: Sequence[int]) -> list[bytes]:
        return self.read_lines_now(seqs)

    def read_lines_now(self, seqs: Sequence[int]) -> list[bytes]:
        self._check_open()
        return [self._lines[seq - 1] for seq in seqs]

    async def acquire(self) -> None:
        self._check_open()

    async def append(self, lines: Sequence[bytes], *, expected_version: int | None = None) -> EntryBatch:
        self._check_open()
        if expected_version not in (None, self.version):
            raise ConcurrencyError(expected_version, self.version)
        batch = self._scan(self.version + 1, lines)
        self._lines.extend(lines)
        return batch

    @staticmethod
    def _scan(first_seq: int, lines: Sequence[bytes]) -> EntryBatch:
        return EntryBatch(first_seq, scan_chunk(b"\n".join(lines) + b"\n", 0, 1).envelopes)

    def _check_open(self) -> None:
        if self._closed:
            raise SessionClosedError("the session is closed")

    async def check(self) -> bool:
        self._check_open()
        return False

    async def migrate(self) -> bool:
        self._check_open()
        return False

    async def flush(self) -> None:
        self._check_open()

    async def close(self) -> None:
        self._closed = True
