"""The port of the event store: what commands and projections ask of a log, wherever it is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from .abort import AbortSignal
from .envelope import Envelopes
from .header import SessionHeader
from .report import Fault


class EntryBatch(Struct, frozen=True, gc=False):
    """Recorded entries in order. The first has the number `first_seq`; entries are numbered from 1."""

    first_seq: int
    envelopes: Envelopes


class EventStore(Protocol):
    """An append-only log of one session's entries.

    Position and version are entry numbers: `version` is the number of recorded entries that the store knows,
    and `after=0` means from the start. All calls belong to one event loop.
    """

    @property
    def path(self) -> Path | None:
        """The session's file; None in memory."""

    @property
    def header(self) -> SessionHeader:
        """The header, as of version 3."""

    @property
    def file_version(self) -> int:
        """The version of the file as it is on the disk now: 3 after a migration."""

    @property
    def version(self) -> int:
        """The number of entries that the store knows."""

    @property
    def faults(self) -> list[Fault]:
        """Faults of lines, found so far by reading."""

    def line_number(self, seq: int) -> int:
        """Return the 1-based line of an entry."""

    def read(self, after: int = 0, *, signal: AbortSignal | None = None) -> AsyncIterator[EntryBatch]:
        """Yield all entries after a position, to the end as it is then; the store's version rises with them.

        The loop runs between batches. Raises `SessionRewrittenError` when the log is another one than before.
        """

    def follow(self, after: int, *, signal: AbortSignal | None = None) -> AsyncIterator[EntryBatch]:
        """Yield entries after a position as they come, until the signal is aborted (`AbortError`)."""

    async def read_lines(self, seqs: Sequence[int]) -> list[bytes]:
        """Return the lines of recorded entries as of version 3, without newline, in the order asked for.

        Raises `SessionRewrittenError` when a line is no longer where it was.
        """

    def read_lines_now(self, seqs: Sequence[int]) -> list[bytes] | None:
        """The same without waiting, or None where the disk has to be waited for."""

    async def acquire(self) -> None:
        """Become the writer. Raises `SessionLockedError`, `UnsupportedVersionError`, `AppendError`."""

    async def append(self, lines: Sequence[bytes], *, expected_version: int | None = None) -> EntryBatch:
        """Record one batch, in order and as durably as the store was opened; return it as recorded.

        Nothing is written on `ConcurrencyError` (another version), `SessionRewrittenError`, `SessionLockedError`.
        `AppendError.recorded` lines were recorded all the same. Once begun it is carried out, whoever cancels.
        """

    async def check(self) -> bool:
        """Tell whether there are entries that were not read. Raises `SessionRewrittenError`."""

    async def migrate(self) -> bool:
        """Bring the log itself to version 3; False where there was nothing to do."""

    async def flush(self) -> None:
        """Make durable what was appended. Raises `AppendError`."""

    async def close(self) -> None:
        """Make durable, release the lock and all descriptors. A second call does nothing."""
