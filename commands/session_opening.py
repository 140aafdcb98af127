"""How a session's log is opened or made, by the options of the one who opens it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from time import time
from typing import Literal, TypedDict, Unpack

from msgspec import Struct

from ..eventstore.abort import AbortSignal
from ..eventstore.header import HeaderDetails, SessionHeader, make_header, session_file_name
from ..eventstore.ids import new_session_id
from ..eventstore.jsonl_store import JsonlEventStore
from ..eventstore.memory_store import MemoryEventStore
from ..eventstore.store import EventStore
from ..eventstore.timestamps import Clock, format_instant
from ..projections.entry_reader import EntryReader
from .session_log import IdFactory, SessionLog

Durability = Literal["always", "os"]

_SLICE = 256


class SessionOptions(TypedDict, total=False):
    """How a session is opened.

    `durability`: `"always"` (default) syncs each append to the disk before it returns, `"os"` hands it to the
    system. `lock_timeout`: seconds that the first append waits for another writer, 0 by default. `read_only`:
    appends raise `ReadOnlySessionError`. `clock`: seconds since 1970. `id_factory`: makes entry ids; for one
    that is taken it is asked again.
    """

    read_only: bool
    durability: Durability
    lock_timeout: float
    clock: Clock | None
    id_factory: IdFactory | None


class SessionSettings(Struct, frozen=True):
    """The options of a manager; the sessions that it switches to are opened alike."""

    read_only: bool = False
    durability: Durability = "always"
    lock_timeout: float = 0
    clock: Clock | None = None
    id_factory: IdFactory | None = None

    def __post_init__(self) -> None:
        if self.durability not in ("always", "os"):
            raise ValueError(f'durability must be "always" or "os", not {self.durability!r}')

    def new_header(self, cwd: str, **details: Unpack[HeaderDetails]) -> SessionHeader:
        """Return the header of a session that begins now, with an id of its own (F-20)."""
        now = (self.clock or time)()
        return make_header(new_session_id(now), format_instant(now), cwd, **details)

    def _log(self, store: EventStore) -> SessionLog:
        return SessionLog(store, self._reopen, read_only=self.read_only, clock=self.clock, id_factory=self.id_factory)

    async def _reopen(self, path: Path) -> EventStore:
        return await JsonlEventStore.open(
            path,
            header_of_new=lambda: self.new_header(str(Path.cwd())),
            durable=self.durability == "always",
            lock_timeout=self.lock_timeout,
        )

    async def open_log(self, path: Path, signal: AbortSignal | None = None) -> SessionLog:
        """Open a session file; what an index does not hold of it is read."""
        log = self._log(await self._reopen(path))
        try:
            await log.load(signal)
        except BaseException:
            await log.store.close()
            raise
        return log

    def new_log(self, directory: Path, header: SessionHeader) -> SessionLog:
        """Make a log whose file will appear in a directory with the first append."""
        store = JsonlEventStore.create(
            directory / session_file_name(header),
            header,
            durable=self.durability == "always",
            lock_timeout=self.lock_timeout,
        )
        return self._log(store)

    def memory_log(self, header: SessionHeader, lines: Sequence[bytes] = ()) -> SessionLog:
        """Make a log without a file; lines that it begins with are still to be folded."""
        return self._log(MemoryEventStore(header, lines))


async def lines_of(
    reader: EntryReader, seqs: Sequence[int], signal: AbortSignal | None = None
) -> AsyncIterator[list[bytes]]:
    """Yield the lines of entries in slices. Raises `AbortError`, and what reading raises."""
    for start in range(0, len(seqs), _SLICE):
        yield await reader.read_lines(seqs[start : start + _SLICE], signal=signal)
