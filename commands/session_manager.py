"""A session: opened, read, written, branched and forked. The public face of the library."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from msgspec import Struct

from ..eventstore.abort import AbortSignal
from ..eventstore.catalogue import most_recent
from ..eventstore.directories import PathLike, directory_for
from ..eventstore.entries import SessionEntry
from ..eventstore.errors import EntryNotFoundError, NotASessionError
from ..eventstore.header import SessionHeader, session_file_name
from ..eventstore.polling import LONGEST_WAIT, SHORTEST_WAIT, pause
from ..eventstore.report import Report
from ..eventstore.session_file import write_session_file
from ..projections.session_tree import SessionTreeNode, build_tree
from ..projections.time_column import Timestamp
from ..projections.tree import ROOT
from ..projections.usage import Usage
from .cursor import Cursor
from .fork import ForkPlan, forked_line, label_lines, plan_fork
from .session_log import SessionLog
from .session_opening import SessionOptions, SessionSettings, lines_of


class SessionShape(Struct, frozen=True):
    """What is known of an entry without reading its body. `parent_id`: the parent in the tree, None for a root."""

    type: str
    role: str | None
    parent_id: str | None
    timestamp: Timestamp


class SessionManager(Cursor):
    """One open session, and the leaf of the one who opened it.

    Made by `open`, `create`, `continue_recent`, `fork_from` or `in_memory`, which take `SessionOptions`; closed
    by `close` or `async with`. Opening only reads: the file appears, is locked and is migrated with the first
    append. Belongs to the event loop and the process that opened it.
    """

    def __init__(self, log: SessionLog, settings: SessionSettings) -> None:
        super().__init__(log, _last_id(log))
        self._settings = settings

    @classmethod
    async def open(cls, path: PathLike, **options: Unpack[SessionOptions]) -> Self:
        """Open a session file; one of zero bytes is a new session there. The leaf is the last entry (T-30).

        Raises `SessionNotFoundError`, `NotASessionError`, `SessionFileError`, `AbortError`.
        """
        settings = SessionSettings(**options)
        return cls(await settings.open_log(Path(path).absolute(), settings.signal), settings)

    @classmethod
    async def create(
        cls, *, cwd: PathLike | None = None, sessions_dir: PathLike | None = None, **options: Unpack[SessionOptions]
    ) -> Self:
        """Make a new session of a working directory; its file appears with the first append.

        `sessions_dir`: where the file goes, by default a directory of the working directory's own.
        """
        settings = SessionSettings(**options)
        path = Path(cwd if cwd is not None else Path.cwd()).absolute()
        return cls(settings.new_log(directory_for(path, sessions_dir), settings.new_header(str(path))), settings)

    @classmethod
    async def continue_recent(
        cls, cwd: PathLike, sessions_dir: PathLike | None = None, **options: Unpack[SessionOptions]
    ) -> Self:
        """Open the session of a working directory with the newest activity, or make a new one (F-92)."""
        path = await most_recent(sessions_dir, cwd, signal=options.get("signal"))
        if path is not None:
            return await cls.open(path, **options)
        return await cls.create(cwd=cwd, sessions_dir=sessions_dir, **options)

    @classmethod
    async def fork_from(
        cls, path: PathLike, cwd: PathLike, sessions_dir: PathLike | None = None, **options: Unpack[SessionOptions]
    ) -> Self:
        """Copy a whole session, every branch, into a new file of another working directory, and open it (T-90).

        Raises `SessionNotFoundError`, `NotASessionError` (an empty file too), `SessionFileError`, `AppendError`,
        `AbortError`.
        """
        settings = SessionSettings(**options)
        cwd, path = Path(cwd).absolute(), Path(path).absolute()
        source = await settings.open_log(path, settings.signal)
        try:
            if not path.stat().st_size:
                raise NotASessionError(path, 1, "the file is empty")
            old = source.store.header
            directories = [item for item in old.additional_directories or () if item != str(cwd)]
            header = settings.new_header(
                str(cwd),
                parent_session=old.id,
                title=old.title,
                title_source=old.title_source,
                additional_directories=directories or None,
            )
            target = directory_for(cwd, sessions_dir) / session_file_name(header)
            seqs = range(1, source.store.version + 1)
            await write_session_file(target, header, lines_of(source.store, seqs, settings.signal))
        finally:
            await source.close()
        return cls(await settings.open_log(target), settings)

    @classmethod
    def in_memory(cls, *, cwd: PathLike | None = None, **options: Unpack[SessionOptions]) -> Self:
        """Make a session without a file (F-117). It may be awaited like the others."""
        settings = SessionSettings(**options)
        header = settings.new_header(str(Path(cwd if cwd is not None else Path.cwd()).absolute()))
        return cls(settings.memory_log(header), settings)

    def __await__(self) -> Generator[None, None, Self]:
        # Ready as it is: this lets `await` stand before every way of making a session.
        return self
        yield

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

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
        seq = self._log.seq(entry_id)
        tree = self._log.projector.tree
        kind = tree.kind(seq)
        parent = tree.parents[seq]
        return SessionShape(kind.type, kind.role, tree.ids[parent] if parent != ROOT else None, tree.times.stored(seq))

    def last_model_change_role(self) -> str | None:
        """Return the role of the newest model change on the current path, None where there is none (T-32)."""
        return self._log.projector.states.last_model_change_role(self._log.leaf_seq(self.leaf_id))

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

    async def get_line(self, entry_id: str) -> bytes:
        """Return an entry's line as of version 3, byte for byte. Raises `EntryNotFoundError`."""

        async def read() -> bytes:
            [line] = await self._log.store.read_lines([await self._log.recorded_seq(entry_id)])
            return line

        return await self._log.reading(read)

    async def get_entries(self, *, signal: AbortSignal | None = None) -> list[SessionEntry]:
        """Return all entries in file order, as a new list (T-03)."""

        async def read() -> list[SessionEntry]:
            return await self._log.entries(self._log.projector.tree.live(), signal)

        return await self._log.reading(read)

    async def get_children(self, entry_id: str, *, signal: AbortSignal | None = None) -> list[SessionEntry]:
        """Return an entry's children in file order (T-25); empty for an unknown one."""

        async def read() -> list[SessionEntry]:
            return await self._log.entries(map(self._log.seq, self.child_ids(entry_id)), signal)

        return await self._log.reading(read)

    async def get_tree(self, *, signal: AbortSignal | None = None) -> list[SessionTreeNode]:
        """Return the roots in file order with all below them, children oldest first (T-26..T-31)."""

        async def read() -> list[SessionTreeNode]:
            tree = self._log.projector.tree
            entries = await self._log.reader.read(list(tree.live()), signal=signal)
            return await build_tree(tree, self.labels, entries, signal)

        return await self._log.reading(read)

    def cursor(self, leaf_id: str | None) -> Cursor:
        """Return a leaf of its own on this session and writer. Raises `EntryNotFoundError`."""
        cursor = Cursor(self._log, None)
        if leaf_id is not None:
            cursor.branch(leaf_id)
        return cursor

    async def new_session(self, parent_session: str | None = None) -> str | None:
        """Leave the session for a new, empty one; return its path, None in memory (T-80).

        `parent_session` is recorded as given, a path or an id (T-84).
        """
        self._log.check_writable()
        header = self._settings.new_header(self.cwd, parent_session=parent_session)
        path = self._log.store.path
        log = self._settings.memory_log(header) if path is None else self._settings.new_log(path.parent, header)
        return await self._switch(log)

    async def create_branched_session(self, leaf_id: str, *, signal: AbortSignal | None = None) -> str | None:
        """Make a session of the path to an entry, switch to it, and return its path, None in memory (T-60..T-72).

        Label entries are left out; the labels that stay are set anew. The new file is there, complete, when
        this returns; the old one is left as it is. Raises `EntryNotFoundError`, `AbortError`, `AppendError`.
        """
        self._log.check_usable()
        await self._log.drain()
        plan = plan_fork(self._log.projector, leaf_id)
        old = self.header
        path = self._log.store.path
        header = self._settings.new_header(
            self.cwd,
            parent_session=str(path) if path is not None else None,
            title=old.title if plan.has_name else self.session_name,
            title_source=old.title_source,
            additional_directories=old.additional_directories,
        )
        batches = self._forked(plan, signal)
        if path is None:
            lines = [line async for batch in batches for line in batch]
            return await self._switch(self._settings.memory_log(header, lines))
        target = path.parent / session_file_name(header)
        await write_session_file(target, header, batches)
        return await self._switch(await self._settings.open_log(target))

    async def _forked(self, plan: ForkPlan, signal: AbortSignal | None) -> AsyncIterator[list[bytes]]:
        ids = self._log.projector.tree.ids
        kept = iter(plan.kept)
        async for lines in lines_of(self._log.store, plan.kept, signal):
            yield [forked_line(plan, next(kept), line) for line in lines]
        last_id = ids[plan.kept[-1]] if plan.kept else None
        yield label_lines(plan, last_id, self._log.now(), self._log.new_id)

    async def _switch(self, log: SessionLog) -> str | None:
        old, self._log = self._log, log
        log.add_leaf(self)
        self.leaf_id = _last_id(log)
        await old.close()
        return self.session_file

    async def follow(
        self, after: str | None = None, *, signal: AbortSignal | None = None
    ) -> AsyncIterator[SessionEntry]:
        """Yield entries that others append, as they come; no leaf moves.

        `after`: the id of the last entry that is known, to resume there; by default from now on. Ends with
        `AbortError`. After a rewrite by another program it goes on behind the last entry that is still there.
        Raises `EntryNotFoundError`.
        """
        log = self._log
        log.check_usable()
        tree = log.projector.tree
        seq = log.seq(after) if after is not None else log.projector.position
        wait = SHORTEST_WAIT
        while True:
            if signal is not None:
                signal.raise_if_aborted()
            await log.refresh(signal)
            if tree is not log.projector.tree:
                known, tree = tree.ids[: seq + 1], log.projector.tree
                seq = next((there for entry_id in reversed(known) if (there := tree.find(entry_id))), 0)
            if seq == log.projector.position:
                await pause(wait, signal)
                wait = min(wait * 1.5, LONGEST_WAIT)
                continue
            wait = SHORTEST_WAIT
            seq += 1
            if not log.is_own(seq):
                [entry] = await log.entries([seq], signal)
                yield entry

    async def refresh(self, *, signal: AbortSignal | None = None) -> bool:
        """Take in what other programs appended; tell whether there was anything. No leaf moves.

        A session that has not written loads a rewritten file anew and keeps its leaf by id; one that has
        raises `SessionRewrittenError`.
        """
        return await self._log.refresh(signal)

    async def migrate(self) -> bool:
        """Write version 3 to the file now; False where it is there already (F-105)."""
        self._log.check_writable()
        await self._log.drain()
        return await self._log.store.migrate()

    async def flush(self) -> None:
        """Return when everything handed over is recorded and on the disk. Raises `AppendError` (F-115)."""
        await self._log.flush()

    async def close(self) -> None:
        """Record what was handed over, sync, release the lock. A second call awaits the first (F-115)."""
        await self._log.close()


def _last_id(log: SessionLog) -> str | None:
    tree = log.projector.tree
    return tree.ids[tree.last_seq] or None
