"""The event store of a session file: one writer, many readers (design D4, D5)."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path

from .abort import AbortSignal
from .envelope import Envelopes
from .errors import AppendError, ConcurrencyError, SessionClosedError, SessionRewrittenError, UnsupportedVersionError
from .file_identity import identity_of
from .header import CURRENT_VERSION, SessionHeader, encode_header, find_header, make_header
from .jsonl_reader import JsonlReader
from .polling import follow_by_polling
from .read_file import ReadFile
from .report import Fault
from .seen_file import Change
from .store import EntryBatch
from .worker import finish_in_thread, run_in_thread
from .writer import LogWriter, Written
from .writer_opening import open_writer


class JsonlEventStore:
    """A session file, or the file that a new session will get with its first entry.

    `durable`: an append is on the disk when it returns (`fdatasync`), else handed to the operating system.
    `lock_timeout`: seconds to wait for another writer. Opening reads only: no lock, nothing written.
    """

    def __init__(
        self,
        path: Path,
        reader: JsonlReader | None,
        header: SessionHeader,
        *,
        exists: bool,
        durable: bool,
        lock_timeout: float,
    ) -> None:
        self.path = path
        self.header = header
        self.real_path = reader.file.path if reader is not None else Path(os.path.realpath(path))
        """The file itself, links resolved."""
        self._reader = reader
        self._exists = exists
        self._durable = durable
        self._lock_timeout = lock_timeout
        self._writer: LogWriter | None = None
        self._turn = asyncio.Lock()
        self._closed = False

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        header_of_new: Callable[[], SessionHeader] = lambda: make_header("", "", ""),
        durable: bool = True,
        lock_timeout: float = 0,
    ) -> JsonlEventStore:
        """Open a file; one of zero bytes is a new session at that path (F-80).

        `header_of_new` makes that session's header; who only looks may leave it out, and gets an empty one.
        Raises `SessionNotFoundError`, `NotASessionError`, `SessionFileError`.
        """
        reader = await JsonlReader.open(path)
        header = reader.header if reader is not None else header_of_new()
        return cls(path, reader, header, exists=True, durable=durable, lock_timeout=lock_timeout)

    @classmethod
    def create(
        cls, path: Path, header: SessionHeader, *, durable: bool = True, lock_timeout: float = 0
    ) -> JsonlEventStore:
        """Return the store of a new session; its file appears with the first append (F-110 as settled)."""
        return cls(path, None, header, exists=False, durable=durable, lock_timeout=lock_timeout)

    @property
    def file_version(self) -> int:
        return self._reader.place.header.version if self._reader is not None else CURRENT_VERSION

    @property
    def version(self) -> int:
        return self._reader.index.version if self._reader is not None else 0

    @property
    def faults(self) -> list[Fault]:
        return self._reader.faults if self._reader is not None else []

    @property
    def log_reader(self) -> JsonlReader | None:
        """What is known of the file; None while there is none."""
        return self._reader

    def know_as(self, fresh: JsonlEventStore) -> None:
        """Know of the file what a newer store of it knows, which is not used any more.

        Raises `SessionRewrittenError` when that is another file.
        """
        known, reader = self._known, fresh._known
        if reader.seen.identity != known.seen.identity:
            raise SessionRewrittenError(self.path, "was replaced by another file")
        self._reader = reader
        known.file.close()

    def line_number(self, seq: int) -> int:
        return self._known.index.line_number(seq)

    @property
    def _known(self) -> JsonlReader:
        if self._reader is None:
            raise SessionClosedError(f"{self.path}: holds no entries yet")
        return self._reader

    async def read(self, after: int = 0, *, signal: AbortSignal | None = None) -> AsyncIterator[EntryBatch]:
        self._check_open()
        if self._reader is not None:
            async for batch in self._reader.read(after, signal):
                yield batch

    def follow(self, after: int, *, signal: AbortSignal | None = None) -> AsyncIterator[EntryBatch]:
        return follow_by_polling(self, after, signal)

    async def read_lines(self, seqs: Sequence[int]) -> list[bytes]:
        self._check_open()
        return await self._known.read_lines(seqs) if seqs else []

    def read_lines_now(self, seqs: Sequence[int]) -> list[bytes] | None:
        self._check_open()
        return self._known.read_lines_now(seqs) if seqs else []

    async def check(self) -> bool:
        self._check_open()
        if self._reader is None:
            if self._exists and self.real_path.exists() and self.real_path.stat().st_size:
                raise SessionRewrittenError(self.path, "was empty, and another program has written it")
            return False
        try:
            with self._reader.file.descriptor() as fd:
                return self._has_grown(fd)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise SessionRewrittenError(self.path, "was removed by another program") from error

    def _has_grown(self, fd: int) -> bool:
        """Compare the open file with what is known of it. Raises `SessionRewrittenError`."""
        if self._reader is None:
            change: Change = "rewritten" if os.fstat(fd).st_size else "same"
        else:
            change = self._reader.seen.compare(fd, self.real_path)
        if change == "rewritten":
            raise SessionRewrittenError(self.path, "was rewritten or removed by another program")
        return change == "grown"

    async def acquire(self) -> None:
        async with self._turn:
            await self._become_writer()

    async def _become_writer(self) -> None:
        self._check_writable()
        if self._writer is None:
            self._writer = await open_writer(
                self.path,
                self.real_path,
                self._reader,
                durable=self._durable,
                create=not self._exists,
                lock_timeout=self._lock_timeout,
                check_wanted=self._check_open,
            )

    async def append(self, lines: Sequence[bytes], *, expected_version: int | None = None) -> EntryBatch:
        async with self._turn:
            if self._reader is None:
                # Before a file is made.
                self._expect(expected_version)
            await self._become_writer()
            await self._take_growth()
            self._expect(expected_version)
            if not lines:
                return EntryBatch(self.version + 1, Envelopes())
            await self._migrate()
            writer = self._usable_writer()
            async with self._reader.turn if self._reader is not None else contextlib.nullcontext():
                newline = self._reader is None or self._reader.ends_with_newline
                write = partial(writer.write, [*self._header_first(), *lines], after_newline=newline)
                if not self._durable and self._reader is not None:
                    # Handing bytes to the system waits for nothing: a thread would cost more.
                    return self._settle(writer, write(), lines)
                finished = await finish_in_thread(write)
                batch = self._settle(writer, finished.result(), lines)
            if finished.cancelled is not None:
                raise finished.cancelled
            return batch

    def _expect(self, version: int | None) -> None:
        if version is not None and version != self.version:
            raise ConcurrencyError(version, self.version)

    def _header_first(self) -> list[bytes]:
        return [encode_header(self.header)] if self._reader is None else []

    def _usable_writer(self) -> LogWriter:
        assert self._writer is not None
        if self._writer.failed is not None:
            raise AppendError(self.path, self._writer.failed, outcome="unknown")
        return self._writer

    async def _take_growth(self) -> None:
        """Fold what other programs appended, now that the lock is held."""
        try:
            grown = self._has_grown(self._usable_writer().fd)
        except SessionRewrittenError:
            await self._release()
            raise
        if grown:
            async for _ in self._known.read(self.version, None):
                pass

    def _settle(self, writer: LogWriter, written: Written, lines: Sequence[bytes]) -> EntryBatch:
        """Take note of what was written, and answer for it."""
        header = self._header_first()
        recorded = written.recorded - len(header)
        start = written.start + sum(len(line) + 1 for line in header)
        batch = EntryBatch(self.version + 1, Envelopes())
        if header and recorded < 1 and writer.abandon_creation():
            self._writer = None
        elif header and recorded >= 0:
            line = header[0] + b"\n"
            place = find_header(line, self.path, whole_file=True)
            found = os.fstat(writer.fd)
            file = ReadFile(self.real_path, identity_of(found))
            self._reader = JsonlReader(self.path, file, place, line, found)
            self._exists = True
        if self._reader is not None and recorded > 0:
            data = b"\n".join(lines[:recorded]) + b"\n"
            batch = self._reader.take_written(writer.fd, start, data)
        elif self._reader is not None:
            self._reader.look_again(writer.fd)
        if written.error is not None:
            outcome = "unknown" if written.sync_failed else "not-written"
            raise AppendError(self.path, written.error, outcome=outcome, recorded=max(recorded, 0))
        return batch

    async def migrate(self) -> bool:
        self._check_writable()
        async with self._turn:
            if self._reader is None or self._reader.migration is None:
                return False
            await self._become_writer()
            await self._take_growth()
            await self._migrate()
            return True

    async def _migrate(self) -> None:
        reader = self._reader
        if reader is None or reader.migration is None:
            return
        async with reader.turn:
            writer = self._usable_writer()
            try:
                finished = await finish_in_thread(writer.rewrite, reader.copy_migrated, reader.seen.size)
                self._writer, moved = finished.result()
            except OSError as error:
                raise AppendError(self.path, error) from error
            reader.take_rewritten(self._writer.fd, moved)
        if finished.cancelled is not None:
            raise finished.cancelled

    async def flush(self) -> None:
        self._check_open()
        async with self._turn:
            if self._writer is None:
                return
            writer = self._usable_writer()
            if self._reader is None:
                # A file was made, and nothing is in it.
                return
            try:
                await run_in_thread(writer.sync)
            except OSError as error:
                raise AppendError(self.path, error, outcome="unknown") from error

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        async with self._turn:
            try:
                await self._release()
            except OSError as error:
                raise AppendError(self.path, error, outcome="unknown") from error
            finally:
                if self._reader is not None:
                    self._reader.file.close()

    async def _release(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            await run_in_thread(writer.close)

    def _check_writable(self) -> None:
        self._check_open()
        if self.header.version > CURRENT_VERSION:
            raise UnsupportedVersionError(self.path, self.header.version)

    def _check_open(self) -> None:
        if self._closed:
            raise SessionClosedError(f"{self.path}: the session is closed")
