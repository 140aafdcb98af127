"""A session: opened, read, written, branched and forked. The public face of the library."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from ..eventstore.abort import AbortSignal
from ..eventstore.cancellation import carry_out
from ..eventstore.catalogue import most_recent
from ..eventstore.directories import PathLike, directory_for
from ..eventstore.errors import NotASessionError, SessionBusyError, UnsupportedVersionError
from ..eventstore.header import CURRENT_VERSION, HeaderDetails, session_file_name
from ..eventstore.session_file import write_session_file
from .cursor import Cursor
from .fork import ForkPlan, forked_line, label_lines, plan_fork
from .operation import Operation
from .session_events import LeafMoved, SessionSwitched
from .session_log import SessionLog
from .session_opening import SessionOptions, SessionSettings, lines_of
from .session_view import SessionView


class SessionManager(SessionView, Cursor):
    """One open session, and the leaf of the one who opened it.

    Made by `open`, `create`, `continue_recent`, `fork_from` or `in_memory`, which take `SessionOptions`; closed
    by `close` or `async with`. Opening only reads: the file appears, is locked and is migrated with the first
    append. Belongs to the event loop and the process that opened it.
    """

    def __init__(self, log: SessionLog, settings: SessionSettings) -> None:
        super().__init__(log, log.projector.tree.last_id)
        self._settings = settings
        self._operation: Operation | None = None
        self._arrivals: dict[str, asyncio.Future[None]] = {}

    @classmethod
    async def open(
        cls, path: PathLike, *, signal: AbortSignal | None = None, **options: Unpack[SessionOptions]
    ) -> Self:
        """Open a session file; one of zero bytes is a new session there. The leaf is the last entry (T-30).

        Raises `SessionNotFoundError`, `NotASessionError`, `SessionFileError`, `AbortError`.
        """
        settings = SessionSettings(**options)
        return cls(await settings.open_log(Path(path).absolute(), signal), settings)

    @classmethod
    async def create(
        cls,
        *,
        cwd: PathLike | None = None,
        sessions_dir: PathLike | None = None,
        signal: AbortSignal | None = None,
        **options: Unpack[SessionOptions],
    ) -> Self:
        """Make a new session of a working directory; its file appears with the first append.

        `sessions_dir`: where the file goes, by default a directory of the working directory's own.
        """
        if signal is not None:
            signal.raise_if_aborted()
        settings = SessionSettings(**options)
        path = Path(cwd if cwd is not None else Path.cwd()).absolute()
        return cls(settings.new_log(directory_for(path, sessions_dir), settings.new_header(str(path))), settings)

    @classmethod
    async def continue_recent(
        cls,
        cwd: PathLike,
        sessions_dir: PathLike | None = None,
        *,
        signal: AbortSignal | None = None,
        **options: Unpack[SessionOptions],
    ) -> Self:
        """Open the session of a working directory with the newest activity, or make a new one (F-92)."""
        path = await most_recent(sessions_dir, cwd, signal=signal)
        if path is not None:
            return await cls.open(path, signal=signal, **options)
        return await cls.create(cwd=cwd, sessions_dir=sessions_dir, signal=signal, **options)

    @classmethod
    async def fork_from(
        cls,
        path: PathLike,
        cwd: PathLike,
        sessions_dir: PathLike | None = None,
        *,
        signal: AbortSignal | None = None,
        **options: Unpack[SessionOptions],
    ) -> Self:
        """Copy a whole session, every branch, into a new file of another working directory, and open it (T-90).

        Raises `SessionNotFoundError`, `NotASessionError` (an empty file too), `SessionFileError`,
        `UnsupportedVersionError`, `AppendError`, `AbortError`.
        """
        settings = SessionSettings(**options)
        cwd, path = Path(cwd).absolute(), Path(path).absolute()
        source = await settings.open_log(path, signal)
        try:
            if not path.stat().st_size:
                raise NotASessionError(path, None, "the file is empty")
            _check_version(source)
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
            await write_session_file(target, header, lines_of(source.reader, seqs, signal))
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
        return self._ready().__await__()

    async def _ready(self) -> Self:
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def cursor(self, leaf_id: str | None) -> Cursor:
        """Return a leaf of its own on this session and writer. Raises `EntryNotFoundError`."""
        cursor = Cursor(self._log, None)
        cursor._session = self
        if leaf_id is not None:
            cursor.branch(leaf_id)
        return cursor

    def _move_to(self, leaf_id: str | None) -> None:
        old_leaf_id, self.leaf_id = self.leaf_id, leaf_id
        if leaf_id != old_leaf_id:
            moved = LeafMoved(*self._log.identity, old_leaf_id=old_leaf_id, new_leaf_id=leaf_id)
            self._log.observers.tell(moved)

    @contextmanager
    def _operating(self, name: str, signal: AbortSignal | None) -> Iterator[Operation]:
        """Run the one navigation, branch or compaction at a time. Raises `SessionBusyError`."""
        if self._operation is not None:
            raise SessionBusyError(self._log.name, self._operation.name)
        operation = self._operation = Operation(name, signal)
        try:
            yield operation
        finally:
            self._operation = None

    async def new_session(self, parent_session: str | None = None, *, keep_name: bool = False) -> str | None:
        """Leave the session for a new, empty one; return its path, None in memory (T-80).

        `parent_session` is recorded as given, a path or an id (T-84). `keep_name`: the new one has the name of
        this one, and its further directories.
        """
        self._log.check_writable()
        await self._log.drain()
        details = HeaderDetails(parent_session=parent_session)
        if keep_name:
            details["title"], details["title_source"] = self.session_name, self._title_source()
            details["additional_directories"] = self.header.additional_directories
        header = self._settings.new_header(self.cwd, **details)
        path = self._log.store.path
        log = self._settings.memory_log(header) if path is None else self._settings.new_log(path.parent, header)
        return await self._switch(log)

    def _title_source(self) -> str | None:
        """Return who gave the session its name, where the name is the header's."""
        old = self.header
        return old.title_source if self.session_name == (old.title or "").strip() else None

    async def create_branched_session(self, leaf_id: str, signal: AbortSignal | None = None) -> str | None:
        """Make a session of the path to an entry, switch to it, and return its path, None in memory (T-60..T-72).

        Label entries are left out; the labels that stay are set anew. The new file is there, complete, when
        this returns; the old one is left as it is. Raises `EntryNotFoundError`, `UnsupportedVersionError`,
        `AbortError`, `AppendError`.
        """
        self._check_writing()
        await self._log.drain(signal)
        plan = plan_fork(self._log.projector, leaf_id)
        old = self.header
        path = self._log.store.path
        header = self._settings.new_header(
            self.cwd,
            parent_session=str(path) if path is not None else None,
            title=old.title if plan.has_name else self.session_name,
            title_source=old.title_source if plan.has_name else self._title_source(),
            additional_directories=old.additional_directories,
        )
        batches = _forked(self._log, plan, signal)
        if path is None:
            lines = [line async for batch in batches for line in batch]
            log = self._settings.memory_log(header, lines)
            await log.projector.catch_up()
            return await self._switch(log)
        target = path.parent / session_file_name(header)
        arrived: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._arrivals[str(target)] = arrived
        try:
            await write_session_file(target, header, batches)
            return await carry_out(self._switch_to(target))
        finally:
            del self._arrivals[str(target)]
            arrived.set_result(None)

    def _arrival(self, file: str) -> asyncio.Future[None] | None:
        """Return what is done when the session is in a file that it is about to go on in, which others may see."""
        return next((done for path, done in self._arrivals.items() if os.path.realpath(path) == file), None)

    async def _switch_to(self, path: Path) -> str | None:
        return await self._switch(await self._settings.open_log(path))

    def _check_writing(self) -> None:
        """Raise what stands against writing, before anything is done for it."""
        self._log.check_writable()
        _check_version(self._log)

    async def _switch(self, log: SessionLog) -> str | None:
        if self._log.is_closing:
            # Closed meanwhile: what is made stays, and nobody goes on in it.
            await log.close()
            self._log.check_usable()
        old, self._log = self._log, log
        log.add_leaf(self)
        log.observers = old.observers
        self.leaf_id = log.projector.tree.last_id
        _, previous_session_file = old.identity
        log.observers.tell(SessionSwitched(*log.identity, previous_session_file=previous_session_file))
        await old.close()
        _, session_file = log.identity
        return session_file

    async def acquire(self) -> None:
        """Become the writer now, not with the first append; nothing is written.

        Raises `SessionLockedError`, `AppendError`, `ReadOnlySessionError`, `UnsupportedVersionError`.
        """
        self._check_writing()
        await self._log.become_writer()

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


def _check_version(log: SessionLog) -> None:
    """A fork of a newer version would be one of version 3: what it cannot say would be lost."""
    if log.store.header.version > CURRENT_VERSION:
        raise UnsupportedVersionError(log.name, log.store.header.version)


async def _forked(log: SessionLog, plan: ForkPlan, signal: AbortSignal | None) -> AsyncIterator[list[bytes]]:
    """Yield the lines of a fork; from the log that it was planned for, whatever the session does meanwhile."""
    ids = log.projector.tree.ids
    kept = iter(plan.kept)
    async for lines in lines_of(log.reader, plan.kept, signal):
        yield [forked_line(plan, next(kept), line) for line in lines]
    last_id = ids[plan.kept[-1]] if plan.kept else None
    yield label_lines(plan, last_id, log.now(), log.new_id)
