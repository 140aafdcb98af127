"""What is known of one session: loaded, kept up to date, and loaded anew when the file is another one."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from ..eventstore.abort import AbortSignal
from ..eventstore.entries import SessionEntry
from ..eventstore.errors import IndexDamagedError, SessionClosedError, SessionRewrittenError
from ..eventstore.jsonl_store import JsonlEventStore
from ..eventstore.log import log_event
from ..eventstore.store import EntryBatch, EventStore
from ..projections.entry_reader import EntryReader
from ..projections.projector import Projector
from ..projections.session_index import SessionIndex

T = TypeVar("T")


class LoadedLog(ABC):
    """A store and what its entries amount to. `generation` counts how often they were loaded anew."""

    def __init__(self, store: EventStore, reopen: Callable[[Path], Awaitable[EventStore]]) -> None:
        self._begin(store, Projector(store))
        self.generation = 0
        self._reopen = reopen
        self._is_writer = False
        # Held by whoever changes what is known.
        self._turn = asyncio.Lock()
        self._indexing: asyncio.Task[None] | None = None

    @abstractmethod
    def check_usable(self) -> None:
        """Raise `SessionClosedError` where the session cannot be used."""

    @abstractmethod
    def _after_reload(self) -> None:
        """Bring what points at entries in line with what is known now."""

    @property
    def name(self) -> str:
        """What errors call the session."""
        return str(self.store.path or "in-memory session")

    def _begin(self, store: EventStore, projector: Projector) -> None:
        self.store = store
        self.projector = projector
        self.reader = EntryReader(store, projector.tree)
        self._index = SessionIndex(store, projector) if isinstance(store, JsonlEventStore) else None

    async def load(self, signal: AbortSignal | None = None) -> None:
        """Take in what is recorded, from an index as far as there is one.

        What was scanned is indexed in the background, where that pays.
        """
        try:
            if self._index is not None:
                self._index.restore()
            await self.projector.catch_up(signal)
            # Asked for by everybody who opens a session: now there is a way back.
            _ = self.projector.tree.last_id
        except IndexDamagedError as error:
            log_event("warning", "index.damaged", session=self.name, detail=error.detail)
            await self._load_anew(signal)
        if self._index is not None and self._index.pays:
            self._indexing = asyncio.get_running_loop().create_task(self._index.write(beside=False))

    async def _load_anew(self, signal: AbortSignal | None) -> None:
        """Load the file as it is now, without an index."""
        old = self.store
        async with self._reopened() as store:
            projector = Projector(store)
            await projector.catch_up(signal)
        self._begin(store, projector)
        await old.close()

    async def _load_below(self, signal: AbortSignal | None) -> None:
        """The same below the writer, whose file is as it left it: only what is known of it is damaged."""
        store = self.store
        assert isinstance(store, JsonlEventStore)
        await store.check()
        async with self._reopened() as fresh:
            assert isinstance(fresh, JsonlEventStore)
            projector = Projector(store)
            await projector.catch_up(signal, source=fresh)
            store.know_as(fresh)
        self._begin(store, projector)

    @asynccontextmanager
    async def _reopened(self) -> AsyncIterator[EventStore]:
        """Open the file once more; what was opened is closed again where it cannot be used."""
        assert self.store.path is not None
        store = await self._reopen(self.store.path)
        try:
            yield store
        except BaseException:
            await store.close()
            raise

    async def refresh(self, signal: AbortSignal | None = None) -> bool:
        """Take in what other programs did to the file; tell whether there was anything.

        A reader reloads a file that was rewritten. A writer raises `SessionRewrittenError`. Both load the file
        anew when the index was found damaged.
        """
        self.check_usable()
        async with self._turn:
            before = self.projector.position, self.generation
            try:
                if self._index is not None and self._index.damage is not None:
                    raise self._index.damage
                if await self.store.check():
                    await self.projector.catch_up(signal)
            except SessionRewrittenError as error:
                await self._reload(error, signal)
            return before != (self.projector.position, self.generation)

    async def reading(self, read: Callable[[], Awaitable[T]]) -> T:
        """Read, and again after a reload when another program has rewritten the file meanwhile."""
        while True:
            self.check_usable()
            generation = self.generation
            try:
                return await read()
            except SessionRewrittenError as error:
                await self.reload(error, generation)
            except SessionClosedError:
                # The store was replaced while it was read.
                if self.generation == generation:
                    raise

    async def reload(self, error: SessionRewrittenError, generation: int) -> None:
        """Load a rewritten file anew, unless that was done since a generation. A writer raises the error."""
        async with self._turn:
            if self.generation == generation:
                await self._reload(error)

    async def _reload(self, error: SessionRewrittenError, signal: AbortSignal | None = None) -> None:
        of_index = isinstance(error, IndexDamagedError)
        if of_index and (self._index is None or self._index.damage is None):
            # Of an index that is used no more: to load again would not help who still looks at that.
            raise error
        if self._is_writer and not of_index:
            raise error
        if self._is_writer:
            await self._load_below(signal)
        else:
            await self._load_anew(signal)
        self.generation += 1
        self._after_reload()
        log_event("warning", "session.reloaded", session=self.name, generation=self.generation)

    async def _take_in(self, batch: EntryBatch | None = None) -> None:
        """Fold what is recorded by now, a batch that was just recorded; a damaged index is in nobody's way."""
        try:
            if batch is not None and batch.first_seq == self.projector.position + 1:
                self.projector.apply(batch)
            else:
                await self.projector.catch_up()
        except IndexDamagedError as error:
            await self._reload(error)

    async def entries(
        self, seqs: Iterable[int], signal: AbortSignal | None = None, *, keep: bool = True
    ) -> list[SessionEntry]:
        """Return entries by number, in the order asked for; see `EntryReader.read`."""
        seqs = list(seqs)
        found = await self.reader.read(seqs, keep=keep, signal=signal)
        return [found[seq] for seq in seqs]
