"""The reading side of a session: shape at once, bodies when asked for, and what others append (T-01..T-33)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from pathlib import Path
from typing import Literal, overload

from ..eventstore.abort import AbortSignal
from ..eventstore.entries import SessionEntry
from ..eventstore.errors import EntryNotFoundError, SessionRewrittenError
from ..eventstore.header import SessionHeader
from ..eventstore.polling import until
from ..eventstore.report import Report
from ..projections.abandoned_path import AbandonedPath, abandoned_path
from ..projections.search import SearchHit
from ..projections.session_shape import SessionShape, shape_of
from ..projections.session_tree import SessionShapeNode, SessionTreeNode, build_shape_tree, build_tree
from ..projections.tree import ROOT, Tree
from ..projections.usage import Usage
from ..projections.verification import Progress, verify
from .session_log import SessionLog
from .session_search import search_session

_FOLLOWED_AT_ONCE = 256
_SCANNED_AT_ONCE = 256


class SessionView:
    """What can be read of one open session, wherever a leaf stands."""

    _log: SessionLog

    @property
    def header(self) -> SessionHeader:
        """The header, as of version 3."""
        return self._log.store.header

    @property
    def session_id(self) -> str:
        """The session's id, as the header has it."""
        return self.header.id

    @property
    def session_file(self) -> str | None:
        """The path of the session's file, whether it is there yet or not; None in memory."""
        path = self._log.store.path
        return str(path) if path is not None else None

    @property
    def cwd(self) -> str:
        """The recorded working directory, whether it exists or not; the process's only where none is recorded."""
        return self.header.cwd or str(Path.cwd())

    @property
    def entry_count(self) -> int:
        """The number of entries; an id that stands on several lines counts once."""
        return self._log.projector.tree.entry_count

    @property
    def report(self) -> Report:
        """The faults of the file that are found without decoding every body (F-81..F-87)."""
        return self._log.projector.report()

    @property
    def usage(self) -> Usage:
        """The usage of all branches together, as a snapshot (T-95..T-98)."""
        return self._log.projector.usage.total

    @property
    def session_name(self) -> str | None:
        """The session's name, trimmed (F-55, F-73)."""
        return self._log.projector.name.name

    @property
    def labels(self) -> dict[str, str]:
        """Target to label, over the whole file (T-50); labels of targets that are not there are left out."""
        tree = self._log.projector.tree
        return {target: text for target, text in self._log.projector.labels.by_target.items() if tree.find(target)}

    @property
    def generation(self) -> int:
        """Rises when another program has rewritten the file and it was loaded anew."""
        return self._log.generation

    @property
    def file_version(self) -> int:
        """The version of the file as it is on the disk."""
        return self._log.store.file_version

    @property
    def columns(self) -> Tree:
        """The tree by the numbers of its entries, for whoever goes through all of it; it grows with the session.

        Another one when a rewritten file was loaded anew (`generation`).
        """
        return self._log.projector.tree

    @property
    def root_ids(self) -> list[str]:
        """The ids of all roots in file order (T-27)."""
        return self._ids(self._log.projector.tree.children(ROOT))

    def child_ids(self, entry_id: str) -> list[str]:
        """Return the ids of an entry's children in file order (T-25); empty for an unknown one."""
        tree = self._log.projector.tree
        return self._ids(tree.children(seq)) if (seq := tree.find(entry_id)) else []

    def ordered_child_ids(self, entry_id: str) -> list[str]:
        """The same, oldest first, as in `get_tree` (T-28)."""
        tree = self._log.projector.tree
        return self._ids(tree.ordered_children(seq)) if (seq := tree.find(entry_id)) else []

    def entry_ids(self) -> list[str]:
        """Return the ids of all entries in file order."""
        return self._ids(self._log.projector.tree.live())

    def _ids(self, seqs: Iterable[int]) -> list[str]:
        ids = self._log.projector.tree.ids
        return [ids[seq] for seq in seqs]

    def has_entry(self, entry_id: str) -> bool:
        """Tell whether an entry is recorded."""
        return bool(self._log.projector.tree.find(entry_id))

    def get_label(self, entry_id: str) -> str | None:
        """Return the current label of an entry (T-53)."""
        return self._log.projector.labels.by_target.get(entry_id) if self.has_entry(entry_id) else None

    def shape(self, entry_id: str) -> SessionShape:
        """Return what is known of an entry without its body. Raises `EntryNotFoundError`."""
        return shape_of(self._log.projector.tree, self._log.seq(entry_id))

    def abandoned_path(self, old_leaf_id: str | None, target_id: str | None) -> AbandonedPath:
        """Return what is left behind on the way from one entry to another, without bodies (N-40..N-47).

        An id that is not known stands above all roots.
        """
        tree = self._log.projector.tree
        old, target = (tree.find(entry_id) if entry_id is not None else ROOT for entry_id in (old_leaf_id, target_id))
        return abandoned_path(tree, old, target)

    async def get_entry(self, entry_id: str, *, signal: AbortSignal | None = None) -> SessionEntry | None:
        """Return an entry, None for an unknown id (T-21); one that is on its way is waited for."""

        async def read() -> SessionEntry:
            [entry] = await self._log.entries([await self._log.recorded_seq(entry_id)], signal)
            return entry

        try:
            return await self._log.reading(read)
        except EntryNotFoundError:
            # Unknown, or on its way and then not recorded.
            return None

    async def get_line(self, entry_id: str, *, signal: AbortSignal | None = None) -> bytes:
        """Return an entry's line as of version 3, byte for byte. Raises `EntryNotFoundError`."""

        async def read() -> bytes:
            [line] = await self._log.reader.read_lines([await self._log.recorded_seq(entry_id)], signal=signal)
            return line

        return await self._log.reading(read)

    async def get_entries(
        self, ids: Iterable[str] | None = None, *, signal: AbortSignal | None = None
    ) -> list[SessionEntry]:
        """Return entries by id, in the order asked for, or all in file order, as a new list (T-03).

        Raises `EntryNotFoundError`.
        """
        wanted = list(ids) if ids is not None else None

        async def read() -> list[SessionEntry]:
            seqs = self._log.projector.tree.live() if wanted is None else map(self._log.seq, wanted)
            return await self._log.entries(seqs, signal)

        return await self._log.reading(read)

    async def scan_entries(
        self, ids: Iterable[str] | None = None, *, signal: AbortSignal | None = None
    ) -> AsyncIterator[SessionEntry]:
        """Yield entries as `get_entries` returns them, in bounded memory: for going through a whole session.

        Raises `EntryNotFoundError`, also for an entry that another program takes out of the file meanwhile.
        """
        wanted = list(ids) if ids is not None else self.entry_ids()
        for start in range(0, len(wanted), _SCANNED_AT_ONCE):
            part = wanted[start : start + _SCANNED_AT_ONCE]

            async def read(part: list[str] = part) -> list[SessionEntry]:
                return await self._log.entries(map(self._log.seq, part), signal, keep=False)

            for entry in await self._log.reading(read):
                yield entry

    def search(self, query: str, *, signal: AbortSignal | None = None) -> AsyncGenerator[SearchHit, None]:
        """Yield the entries whose text has all words of a query, in file order, as they are found.

        `searched_text` is the text, its case and width do not matter; a blank query finds nothing. Memory is bounded.
        Raises `AbortError`, `SessionFileError`, and `SessionRewrittenError` in a session that has written.
        """
        return search_session(self._log, query, signal)

    async def get_children(self, entry_id: str, *, signal: AbortSignal | None = None) -> list[SessionEntry]:
        """Return an entry's children in file order (T-25); empty for an unknown one."""

        async def read() -> list[SessionEntry]:
            return await self._log.entries(map(self._log.seq, self.child_ids(entry_id)), signal)

        return await self._log.reading(read)

    @overload
    async def get_tree(
        self, *, bodies: Literal[True] = True, signal: AbortSignal | None = None
    ) -> list[SessionTreeNode]: ...
    @overload
    async def get_tree(
        self, *, bodies: Literal[False], signal: AbortSignal | None = None
    ) -> list[SessionShapeNode]: ...
    async def get_tree(
        self, *, bodies: bool = True, signal: AbortSignal | None = None
    ) -> list[SessionTreeNode] | list[SessionShapeNode]:
        """Return the roots in file order with all below them, children oldest first (T-26..T-31).

        `bodies=False`: with shapes in the place of entries; no body is read.
        """

        async def read() -> list[SessionTreeNode] | list[SessionShapeNode]:
            tree = self._log.projector.tree
            if not bodies:
                return await build_shape_tree(tree, self.labels, signal)
            entries = await self._log.reader.read(list(tree.live()), signal=signal)
            return await build_tree(tree, self.labels, entries, signal)

        return await self._log.reading(read)

    async def verify(self, *, progress: Progress | None = None, signal: AbortSignal | None = None) -> Report:
        """Decode every line; return every fault, those of `report` among them. `progress(done, of)` counts entries.

        Raises `SessionRewrittenError`, `SessionFileError`, `AbortError`.
        """
        self._log.check_usable()
        return await verify(self._log.store, self._log.projector, progress=progress, signal=signal)

    async def follow(
        self, after: str | int | None = None, *, signal: AbortSignal | None = None
    ) -> AsyncIterator[SessionEntry]:
        """Yield entries that others append, as they come; no leaf moves.

        `after`: the id of the last entry that is known, to resume there, or a number of entries from the start
        (0: all); by default from now on. Ends with `AbortError`. After a rewrite by another program it goes on
        behind the last entry that is still there. Raises `EntryNotFoundError`.
        """
        log = self._log
        log.check_usable()
        tree = log.projector.tree
        if after is None:
            seq = log.projector.position
        elif isinstance(after, str):
            seq = log.seq(after)
        else:
            seq = min(max(after, 0), log.projector.position)

        async def there_is_more() -> bool:
            nonlocal tree, seq
            await log.refresh(signal)
            if tree is not log.projector.tree:
                known, tree = tree.ids[: seq + 1], log.projector.tree
                seq = next((there for entry_id in reversed(known) if (there := tree.find(entry_id))), 0)
            return seq < log.projector.position

        while True:
            await until(there_is_more, signal)
            part = range(seq + 1, min(seq + _FOLLOWED_AT_ONCE, log.projector.position) + 1)
            generation = log.generation
            try:
                entries = await log.entries((other for other in part if not log.is_own(other)), signal)
            except SessionRewrittenError as error:
                await log.reload(error, generation)
                continue
            seq = part[-1]
            for entry in entries:
                yield entry
            await asyncio.sleep(0)

    async def refresh(self, *, signal: AbortSignal | None = None) -> bool:
        """Take in what other programs appended; tell whether there was anything. No leaf moves.

        A session that has not written loads a rewritten file anew and keeps its leaf by id; one that has
        raises `SessionRewrittenError`.
        """
        return await self._log.refresh(signal)
