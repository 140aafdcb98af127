"""One open session: its store, its projections, and what is on its way from the one to the other."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Awaitable, Callable, Container, Sequence
from pathlib import Path
from time import time
from typing import Protocol

from ..eventstore.abort import AbortSignal, stragglers
from ..eventstore.errors import (
    AppendError,
    ConcurrencyError,
    EntryConflictError,
    EntryNotFoundError,
    ReadOnlySessionError,
    SessionClosedError,
)
from ..eventstore.ids import new_entry_id
from ..eventstore.log import log_event
from ..eventstore.store import EventStore
from ..eventstore.timestamps import Clock, format_instant
from ..projections.tree import ROOT
from .append_queue import AppendQueue, PendingAppend, PendingEntry
from .drafts import Draft
from .loaded_log import LoadedLog
from .session_events import EntriesAppended, Observers, SessionClosed

IdFactory = Callable[[], str]


class HasLeaf(Protocol):
    """A position in the session that has to move when its entry is never recorded, or is gone."""

    leaf_id: str | None


class SessionLog(LoadedLog):
    """The log that one manager and its cursors share.

    Only recorded entries change the projections.
    """

    def __init__(
        self,
        store: EventStore,
        reopen: Callable[[Path], Awaitable[EventStore]],
        *,
        read_only: bool = False,
        clock: Clock | None = None,
        id_factory: IdFactory | None = None,
    ) -> None:
        super().__init__(store, reopen)
        self.read_only = read_only
        self._clock = clock or time
        self._now = -1, ""
        self._id_factory = id_factory
        self._queue = AppendQueue(self.become_writer, self._record, self._lose)
        self._leaves: weakref.WeakSet[HasLeaf] = weakref.WeakSet()
        self.observers = Observers()
        self._own: list[range] = []
        self._loop = asyncio.get_running_loop()
        self._process = os.getpid()
        self._closing: asyncio.Task[None] | None = None

    def add_leaf(self, owner: HasLeaf) -> None:
        """Keep an owner's leaf valid."""
        self._leaves.add(owner)

    @property
    def is_closing(self) -> bool:
        """Whether it is closed, or on its way to be."""
        return self._closing is not None

    def check_usable(self) -> None:
        """Raise `SessionClosedError` when closed, in a forked child, or on another event loop."""
        if self._closing is not None:
            raise SessionClosedError(f"{self.name}: the session is closed")
        if os.getpid() != self._process:
            raise SessionClosedError(f"{self.name}: the session belongs to the process that opened it")
        if asyncio.get_running_loop() is not self._loop:
            raise SessionClosedError(f"{self.name}: the session belongs to another event loop")

    @property
    def identity(self) -> tuple[str, str | None]:
        """The session's id and file, as its events name them."""
        return self.store.header.id, str(self.store.path) if self.store.path is not None else None

    def now(self) -> str:
        """The time of an entry that is made now (F-23)."""
        milliseconds = int(self._clock() * 1000)
        if milliseconds != self._now[0]:
            self._now = milliseconds, format_instant(milliseconds / 1000)
        return self._now[1]

    def knows(self, entry_id: str) -> bool:
        """Tell whether an entry is recorded or on its way."""
        return bool(self.projector.tree.find(entry_id)) or self._queue.pending(entry_id) is not None

    def seq(self, entry_id: str) -> int:
        """Return the number of a recorded entry. Raises `EntryNotFoundError`."""
        if not (seq := self.projector.tree.find(entry_id)):
            raise EntryNotFoundError(entry_id)
        return seq

    async def recorded_seq(self, entry_id: str) -> int:
        """The same; an entry that is on its way is waited for."""
        if (append := self._queue.pending(entry_id)) is not None and not append.done:
            await append.waiter()
        return self.seq(entry_id)

    def new_id(self, taken: Container[str] = ()) -> str:
        """Return an entry id that is not taken, neither here nor in `taken` (F-21, F-22)."""
        return new_entry_id(lambda entry_id: entry_id in taken or self.knows(entry_id), self._id_factory)

    def submit(
        self,
        drafts: Sequence[Draft],
        parent_id: str | None,
        fallback_id: str | None,
        entry_id: str | None = None,
    ) -> PendingAppend:
        """Hand over drafts as a chain below a parent. Raises `InvalidEntryError`; nothing is decided later.

        `fallback_id`: where a leaf on them goes when they are never recorded. `entry_id`: of the first.
        """
        timestamp = self.now()
        entries: dict[str, PendingEntry] = {}
        for draft in drafts:
            entry_id = entry_id if entry_id is not None else self.new_id(entries)
            line = draft.line(entry_id, parent_id, timestamp)
            entries[entry_id] = PendingEntry(entry_id, parent_id, line, fallback_id, draft.fields.get("targetId"))
            parent_id, fallback_id, entry_id = entry_id, entry_id, None
        return self._queue.submit(list(entries.values()))

    def wait(self, append: PendingAppend, signal: AbortSignal | None = None) -> Awaitable[None]:
        """Return when an append is recorded; see `AppendQueue.wait`."""
        return self._queue.wait(append, signal)

    async def find_same(self, draft: Draft, entry_id: str) -> bool:
        """Tell whether the very entry is recorded already. Raises `EntryConflictError` for other content."""
        while (append := self._queue.pending(entry_id)) is not None:
            await append.waiter()
        if not (seq := self.projector.tree.find(entry_id)):
            return False
        [line] = await self.reader.read_lines([seq])
        if not draft.is_content_of(line):
            raise EntryConflictError(entry_id)
        return True

    def check_writable(self) -> None:
        """Raise what stands against writing here and now."""
        self.check_usable()
        if self.read_only:
            raise ReadOnlySessionError(self.name)

    async def become_writer(self) -> None:
        """Lock the session file, unless that was done. Raises `SessionLockedError`, `AppendError`."""
        await self.store.acquire()
        self._is_writer = True

    async def _record(self, lines: list[bytes]) -> None:
        async with self._turn:
            while True:
                if self.store.version != self.projector.position:
                    await self._take_in()
                try:
                    batch = await self.store.append(lines, expected_version=self.projector.position)
                except ConcurrencyError:
                    # Another program's entries were found: they are folded first.
                    continue
                except AppendError as error:
                    log_event("error", "append.failed", session=self.name, outcome=error.outcome, error=str(error))
                    if error.outcome != "unknown":
                        first_seq = self.store.version + 1 - error.recorded
                        self._note_own(first_seq, error.recorded)
                        await self._take_in()
                        self._tell_appended(first_seq, lines[: error.recorded])
                    raise
                break
            count = len(batch.envelopes)
            self._note_own(batch.first_seq, count)
            await self._take_in(batch)
            self._tell_appended(batch.first_seq, lines)

    def _tell_appended(self, first_seq: int, lines: list[bytes]) -> None:
        if lines and self.observers:
            ids = self.projector.tree.ids[first_seq : first_seq + len(lines)]
            self.observers.tell(EntriesAppended(*self.identity, entry_ids=ids, lines=lines))

    def _note_own(self, first_seq: int, count: int) -> None:
        """Remember that entries were appended through this log."""
        stop = first_seq + count
        if self._own and self._own[-1].stop == first_seq:
            first_seq = self._own.pop().start
        self._own.append(range(first_seq, stop))

    def _lose(self, lost: dict[str, str | None]) -> None:
        """Leaves on entries that will never be recorded fall back to the nearest one that is."""
        for owner in self._leaves:
            while owner.leaf_id in lost:
                owner.leaf_id = lost[owner.leaf_id]

    def _after_reload(self) -> None:
        if not self._is_writer:
            self._own.clear()
        tree, pending = self.projector.tree, self._queue.pending
        for owner in self._leaves:
            if owner.leaf_id is not None and not tree.find(owner.leaf_id) and pending(owner.leaf_id) is None:
                owner.leaf_id = tree.last_id

    def is_own(self, seq: int) -> bool:
        """Tell whether an entry was appended through this log."""
        return any(seq in own for own in reversed(self._own))

    def leaf_seq(self, leaf_id: str | None) -> int:
        """Return the number of a leaf, `ROOT` for None. Raises `EntryNotFoundError`."""
        return ROOT if leaf_id is None else self.seq(leaf_id)

    def nearest_recorded(self, leaf_id: str | None) -> int:
        """Return the number of the nearest recorded entry at or above one that may be on its way, or `ROOT`."""
        while leaf_id is not None and not self.projector.tree.find(leaf_id):
            leaf_id = self._queue.parent_of(leaf_id)
        return self.leaf_seq(leaf_id)

    def is_at_or_below(self, leaf_id: str | None, ancestor_id: str | None) -> bool:
        """Tell whether a leaf, which may be on its way, is a recorded entry or hangs below it; None is above all."""
        if ancestor_id is None:
            return True
        tree = self.projector.tree
        ancestor = tree.find(ancestor_id)
        return any(above == ancestor for above in tree.ancestors(self.nearest_recorded(leaf_id)))

    async def drain(self, signal: AbortSignal | None = None) -> None:
        """Wait until what is on its way now is settled. Raises `AbortError`."""
        await self._queue.drain(signal)

    async def flush(self) -> None:
        """Record and make durable what was handed over. Raises `AppendError`."""
        self.check_usable()
        await self._queue.drain()
        await self.store.flush()

    async def close(self) -> None:
        """Refuse new work, record what was handed over, make it durable, release everything.

        Cancelled, it goes on in the background; a second call awaits the first.
        """
        if self._closing is None:
            if os.getpid() != self._process:
                return
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await self._queue.end()
        try:
            if self._indexing is not None:
                await asyncio.wait((self._indexing,))
            if self._index is not None and self._index.pays:
                await self._index.write(beside=bool(self._own))
        finally:
            await self._close_store()

    async def _close_store(self) -> None:
        try:
            await self.store.close()
        finally:
            self.observers.tell(SessionClosed(*self.identity))
        if children := stragglers():
            log_event("warning", "session.closed_with_stragglers", session=self.name, count=len(children))
