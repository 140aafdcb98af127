"""Entries on their way to the store: handed over in call order, recorded in batches (design D4)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from ..eventstore.abort import AbortSignal
from ..eventstore.errors import AbortError, AppendError, EntryNotFoundError, SessionClosedError
from ..eventstore.json_text import encode_json
from ..eventstore.splice import field_text, replace_field

_MOST_LINES = 1024


class PendingEntry:
    """One entry with its place in the tree, before it is recorded. `target_id`: what a label is for.

    `fallback_id`: where leaves go, and what hangs on it, when the entry is never recorded.
    """

    __slots__ = ("entry_id", "fallback_id", "line", "parent_id", "target_id")

    def __init__(
        self,
        entry_id: str,
        parent_id: str | None,
        line: bytes,
        fallback_id: str | None,
        target_id: str | None = None,
    ) -> None:
        self.entry_id = entry_id
        self.parent_id = parent_id
        self.line = line
        self.fallback_id = fallback_id
        self.target_id = target_id

    def move_below(self, parent_id: str | None) -> None:
        """Hang the entry elsewhere; a branch summary names its new position too (F-45)."""
        self.parent_id = parent_id
        self.line = replace_field(self.line, "parentId", encode_json(parent_id))
        if field_text(self.line, "type") == b'"branch_summary"':
            self.line = replace_field(self.line, "fromId", encode_json(parent_id if parent_id is not None else "root"))


class PendingAppend:
    """Entries that are recorded together, or not acknowledged at all."""

    __slots__ = ("_waiters", "done", "entries", "error", "taken")

    def __init__(self, entries: Sequence[PendingEntry]) -> None:
        self.entries = entries
        self.taken = False
        self.done = False
        self.error: BaseException | None = None
        self._waiters: list[asyncio.Future[None]] = []

    def waiter(self) -> asyncio.Future[None]:
        """Return a future that is done when the append is."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(future)
        return future

    def settle(self, error: BaseException | None = None) -> None:
        """Answer everybody who waits."""
        self.done, self.error = True, error
        for future in self._waiters:
            if not future.done():
                future.set_result(None)
        self._waiters.clear()


def _lines(batch: Sequence[PendingAppend]) -> list[bytes]:
    return [entry.line for append in batch for entry in append.entries]


Record = Callable[[list[bytes]], Awaitable[None]]
Lost = Callable[[dict[str, str | None]], None]


class AppendQueue:
    """Hands pending entries to the store, one batch at a time, and keeps chains whole when one fails.

    `get_ready()` becomes the writer; until it returns nothing is taken. `record(lines)` records a batch.
    `lost(ids)` hears which entries will never be recorded, with the parent of each.
    """

    def __init__(self, get_ready: Callable[[], Awaitable[None]], record: Record, lost: Lost) -> None:
        self._get_ready = get_ready
        self._record = record
        self._lost = lost
        self._queue: deque[PendingAppend] = deque()
        self._pump_task: asyncio.Task[None] | None = None
        self._by_id: dict[str, PendingAppend] = {}
        self._waiting = 0  # appends in the queue that were not withdrawn
        self._getting_ready = False
        self._unwanted = False
        self._gone: dict[str, str | None] = {}  # withdrawn entries that others in the queue may hang on

    def pending(self, entry_id: str) -> PendingAppend | None:
        """Return the append that an entry waits in, None where it is not on its way."""
        return self._by_id.get(entry_id)

    def parent_of(self, entry_id: str) -> str | None:
        """Return the parent of an entry that is on its way, None for any other."""
        append = self._by_id.get(entry_id)
        entries = append.entries if append is not None else ()
        return next((self._standing(entry.parent_id) for entry in entries if entry.entry_id == entry_id), None)

    def submit(self, entries: Sequence[PendingEntry]) -> PendingAppend:
        """Hand entries over. Their order against other calls is settled here."""
        append = PendingAppend(entries)
        for entry in entries:
            if entry.entry_id in self._gone:
                self._move_up_from(entry.entry_id)
            self._by_id[entry.entry_id] = append
        self._queue.append(append)
        self._waiting += 1
        if self._pump_task is None:
            self._pump_task = asyncio.get_running_loop().create_task(self._pump())
        return append

    async def wait(self, append: PendingAppend, signal: AbortSignal | None = None) -> None:
        """Return when the entries are recorded; raise what kept them from it.

        Cancelled or aborted before the writer took them: withdrawn, nothing is written. After: waits on, they
        are recorded, and then the cancellation is raised; an abort comes too late.
        """
        cancelled: asyncio.CancelledError | None = None
        while not append.done:
            try:
                if signal is None or append.taken:
                    await append.waiter()
                else:
                    await signal.run(append.waiter())
            except (asyncio.CancelledError, AbortError) as error:
                if not append.taken and not append.done:
                    self._withdraw(append, error)
                    raise
                if isinstance(error, asyncio.CancelledError):
                    cancelled = error
        if cancelled is not None:
            raise cancelled
        if append.error is not None:
            raise append.error

    def _withdraw(self, append: PendingAppend, error: BaseException) -> None:
        """Take an append back; `_take` passes over it."""
        self._gone |= self._forget([append])
        self._lost(self._gone)
        append.settle(error)
        self._waiting -= 1
        if not self._waiting and self._getting_ready and self._pump_task is not None:
            # Nobody wants to be the writer any more: the wait for the lock ends.
            self._unwanted = True
            self._pump_task.cancel()

    async def _pump(self) -> None:
        try:
            while self._waiting:
                self._getting_ready = True
                await self._get_ready()
                self._getting_ready = False
                batch = self._take()
                try:
                    if batch:
                        await self._record(_lines(batch))
                except BaseException as error:
                    self._settle_failed(batch, error)
                    if not isinstance(error, Exception):
                        raise
                else:
                    self._settle(batch)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and self._unwanted:
                return
            # Whatever it is, the callers who wait raise it.
            if isinstance(error, asyncio.CancelledError):
                error = SessionClosedError("the event loop was stopped before the entries were recorded")
            waiting, self._queue = [append for append in self._queue if not append.done], deque()
            self._waiting = 0
            self._settle_failed(waiting, error)
            if not isinstance(error, Exception):
                raise
        finally:
            self._getting_ready = self._unwanted = False
            self._pump_task = None
            if self._waiting:
                self._pump_task = asyncio.get_running_loop().create_task(self._pump())
            else:
                self._queue.clear()
                self._gone.clear()

    def _take(self) -> list[PendingAppend]:
        """Take a batch. What hangs on a withdrawn append moves up to where that would have hung."""
        batch: list[PendingAppend] = []
        lines = 0
        while self._queue and (not batch or lines + len(self._queue[0].entries) <= _MOST_LINES):
            append = self._queue.popleft()
            if append.done:
                continue
            if (target_id := append.entries[0].target_id) in self._gone:
                self._withdraw(append, EntryNotFoundError(str(target_id)))
                continue
            for entry in append.entries:
                if (parent_id := self._standing(entry.parent_id)) != entry.parent_id:
                    entry.move_below(parent_id)
            append.taken = True
            self._waiting -= 1
            lines += len(append.entries)
            batch.append(append)
        return batch

    def _move_up_from(self, entry_id: str) -> None:
        """Let go of a withdrawn id that is used again: what hung on it hangs where it would have hung."""
        for append in self._queue:
            for entry in append.entries if not append.done else ():
                entry.fallback_id = self._standing(entry.fallback_id)
                if (parent_id := self._standing(entry.parent_id)) != entry.parent_id:
                    entry.move_below(parent_id)
        for gone, fallback_id in self._gone.items():
            self._gone[gone] = self._standing(fallback_id)
        del self._gone[entry_id]

    def _standing(self, entry_id: str | None) -> str | None:
        """Return an entry, or where it would have hung when it was withdrawn."""
        while entry_id in self._gone:
            entry_id = self._gone[entry_id]
        return entry_id

    def _settle(self, batch: Sequence[PendingAppend]) -> None:
        self._forget(batch)
        for append in batch:
            append.settle()

    def _settle_failed(self, batch: Sequence[PendingAppend], error: BaseException) -> None:
        """What the error says is recorded is in the log; the rest, and what hangs on it, never will be."""
        recorded = error.recorded if isinstance(error, AppendError) else 0
        failed: list[PendingAppend] = []
        lost: dict[str, str | None] = {}
        for append in batch:
            whole = recorded >= len(append.entries)
            for entry in append.entries[recorded:]:
                lost[entry.entry_id] = entry.fallback_id
            recorded = max(0, recorded - len(append.entries))
            if whole:
                self._settle([append])
            else:
                failed.append(append)
        for append in self._queue:
            if not append.done and any(
                self._standing(entry.parent_id) in lost or entry.target_id in lost for entry in append.entries
            ):
                lost |= {entry.entry_id: entry.fallback_id for entry in append.entries}
                failed.append(append)
                self._waiting -= 1
        gone = set(map(id, failed))
        self._queue = deque(append for append in self._queue if id(append) not in gone)
        self._forget(failed)
        # An entry may fall back on one that was withdrawn before.
        self._gone |= lost
        self._lost(self._gone)
        for append in failed:
            append.settle(error)

    def _forget(self, appends: Sequence[PendingAppend]) -> dict[str, str | None]:
        gone = {}
        for append in appends:
            for entry in append.entries:
                self._by_id.pop(entry.entry_id, None)
                gone[entry.entry_id] = entry.fallback_id
        return gone

    async def drain(self, signal: AbortSignal | None = None) -> None:
        """Return when what is on its way now is settled; failures are the callers' to hear. Raises `AbortError`."""
        for append in list(self._by_id.values()):
            while not append.done:
                waiting = append.waiter()
                await (waiting if signal is None else signal.run(waiting))

    async def end(self) -> None:
        """Return when nothing is on its way."""
        while self._pump_task is not None:
            await asyncio.wait((self._pump_task,))
