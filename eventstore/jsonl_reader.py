"""Reading a session file: header, entries in batches, single lines, and whether it changed (design D1, D2, D5, D6)."""

from __future__ import annotations

import asyncio
import os
import stat as stat_modes
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from .abort import AbortSignal
from .envelope import Envelopes
from .errors import NotASessionError, SessionFileError, SessionNotFoundError, SessionRewrittenError
from .file_identity import identity_of
from .header import CURRENT_VERSION, HEADER_LIMIT, HeaderPlace, find_header
from .index.coverage import Coverage, line_place, sampled
from .index.index_file import IndexFile
from .json_text import decode_json
from .line_groups import line_groups, line_run
from .line_index import LineIndex, LineIndexState
from .migration_copy import MovedLines, copy_migrated
from .migrations import Migration
from .read_file import ReadFile
from .report import Fault
from .scanner import ScannedChunk, scan_chunk
from .seen_file import WITNESS, SeenFile
from .store import EntryBatch
from .turns import Turns

CHUNK = 256 << 10
_KNOWN_BATCH = 256


class ReaderState(Struct, frozen=True):
    """What is small of a reader, for an index."""

    next_line: int
    faults: list[Fault]
    lines: LineIndexState


class JsonlReader:
    """What is known of a session file, and how more becomes known."""

    def __init__(
        self, path: Path, file: ReadFile, place: HeaderPlace, header_line: bytes, found: os.stat_result
    ) -> None:
        self.path = path
        self.file = file
        self.place = place
        self.header = place.header
        self.index = LineIndex()
        self.migration: Migration | None = None
        if place.header.version < CURRENT_VERSION:
            self.migration = Migration(place.header.version)
            fields = {**place.header.fields, "version": CURRENT_VERSION}
            self.header = msgspec.structs.replace(place.header, version=CURRENT_VERSION, fields=fields)
        self._end = place.offset + place.length
        self._next_line = place.line + 1
        self._terminated = header_line.endswith(b"\n")
        self._torn_tail = b""
        # Held by whoever makes more of the file known, so that nothing is taken in twice.
        self.turn = asyncio.Lock()
        self._faults: list[Fault] = []
        for line, text in place.skipped:
            self._faults += scan_chunk(text, 0, line).faults
        self._header_line = header_line[-WITNESS:]
        self._witness = self._header_line
        self.seen = self._look(found)

    @classmethod
    async def open(cls, path: Path) -> JsonlReader | None:
        """Read the header of a file; None for zero bytes.

        Raises `SessionNotFoundError`, `NotASessionError` (a directory, a device, no header), `SessionFileError`.
        """
        try:
            real_path = Path(os.path.realpath(path))
        except ValueError as error:
            raise SessionNotFoundError(path, "can be no file") from error
        try:
            found = os.stat(real_path)
            if not stat_modes.S_ISREG(found.st_mode):
                kind = "is a directory" if stat_modes.S_ISDIR(found.st_mode) else "is no regular file"
                raise NotASessionError(path, None, kind)
            if found.st_size == 0:
                return None
            file = ReadFile(real_path)
            prefix = await file.read(0, min(found.st_size, HEADER_LIMIT))
        except FileNotFoundError as error:
            raise SessionNotFoundError(path, "no such file") from error
        except OSError as error:
            raise SessionFileError(path, error) from error
        place = find_header(prefix, path, whole_file=found.st_size <= HEADER_LIMIT)
        return cls(path, file, place, prefix[place.offset : place.offset + place.length], file.stat())

    def state(self) -> ReaderState | None:
        """Return what is small, as it is now; None where no index is to be made: of old versions, of torn ends."""
        if self.migration is not None or not self.ends_with_newline:
            return None
        return ReaderState(self._next_line, list(self._faults), self.index.state())

    def coverage(self) -> Coverage:
        """Return what is known of the file, as it is now. Raises `OSError`, `SessionRewrittenError`."""
        count = self.index.version
        with self.file.descriptor() as fd:
            found = os.fstat(fd)
            looked_at_ns = time.time_ns()
            lines = [(self.place.offset, self.place.length)]
            lines += [(offset, length + 1) for offset, length in map(self.index.span, sampled(count))]
            # A title slot and damaged lines stand before the header.
            witnesses = [line_place(fd, *place) for place in [(0, self.place.offset), *lines]]
            if any(os.pread(fd, 1, offset + length - 1) != b"\n" for offset, length in lines) or (
                self.seen.compare(fd, self.file.path) == "rewritten"
            ):
                raise SessionRewrittenError(self.path, "was rewritten or removed by another program")
        return Coverage(
            device=found.st_dev,
            inode=found.st_ino,
            size=found.st_size,
            mtime_ns=found.st_mtime_ns,
            ctime_ns=found.st_ctime_ns,
            looked_at_ns=looked_at_ns,
            end=self._end,
            entry_count=count,
            witnesses=witnesses,
        )

    def covers(self, file: IndexFile) -> bool:
        """Tell whether an index is one of this file as it stands now. Raises `OSError`, `SessionRewrittenError`."""
        with self.file.descriptor() as fd:
            return self.migration is None and file.coverage.standing(fd) != "other"

    def restore(self, file: IndexFile) -> None:
        """Begin behind what an index covers. Raises `IndexDamagedError`, `OSError`."""
        state: ReaderState = file.state("reader", ReaderState)
        self.index.restore(file, state.lines)
        self._next_line, self._faults = state.next_line, state.faults
        self._end = file.coverage.end
        self._terminated = True
        with self.file.descriptor() as fd:
            start = max(0, self._end - WITNESS)
            self._witness = os.pread(fd, self._end - start, start)
            self.seen = self._look(os.fstat(fd))

    @property
    def ends_with_newline(self) -> bool:
        """Whether the next line can follow without a newline of its own."""
        return self._terminated and not self._torn_tail

    @property
    def faults(self) -> list[Fault]:
        """Faults of lines that were read."""
        if self._torn_tail.strip():
            return [*self._faults, Fault(self._next_line, "malformed", None, "the last line is torn")]
        return list(self._faults)

    async def read(self, after: int, signal: AbortSignal | None) -> AsyncIterator[EntryBatch]:
        """Yield the entries after a position, to the end of the file as it is then."""
        turns = Turns(signal)
        buffer = bytearray(CHUNK)
        while True:
            if after < self.index.version:
                envelopes = await self._read_known(after)
            else:
                async with self.turn:
                    known = self.index.version
                    if after < known:
                        continue
                    chunk, size = await self._next_lines(buffer)
                    if not size:
                        return
                    scanned = scan_chunk(chunk, self._end, self._next_line, self.migration, size=size)
                    self._take(scanned, chunk, size)
                envelopes = scanned.envelopes
                if after > known:
                    envelopes = Envelopes(envelopes[after - known :])
            if envelopes:
                yield EntryBatch(after + 1, envelopes)
                after += len(envelopes)
            if turns.over:
                await turns.next()

    async def _read_known(self, after: int) -> Envelopes:
        last = min(after + _KNOWN_BATCH, self.index.version)
        lines = await self.read_lines(range(after + 1, last + 1))
        return scan_chunk(b"\n".join(lines) + b"\n", 0, 1).envelopes

    async def _next_lines(self, buffer: bytearray) -> tuple[bytearray, int]:
        """Read what follows the known part: whole lines, then perhaps a last one without newline, then nothing.

        Returns the buffer, or a larger one for a larger line, and how many bytes of it count.
        """
        while True:
            try:
                count = await self.file.read_into(buffer, self._end)
            except OSError as error:
                raise SessionFileError(self.path, error) from error
            if count and not self._terminated:
                self._terminate(buffer.startswith(b"\n"))
                continue
            cut = buffer.rfind(b"\n", 0, count) + 1
            if cut:
                self._torn_tail = b""
                return buffer, cut
            if count < len(buffer):
                return buffer, self._settle_tail(bytes(memoryview(buffer)[:count]))
            buffer = bytearray(len(buffer) * 4)

    def _terminate(self, by_newline: bool) -> None:
        """Pass over the newline that came after the last known line."""
        if not by_newline:
            raise SessionRewrittenError(self.path, "its last line was made longer by another program")
        self._end += 1
        self._terminated = True
        self._witness = (self._witness + b"\n")[-WITNESS:]

    def _settle_tail(self, tail: bytes) -> int:
        """Take a last line without newline where it is whole (F-81); else note it, it may still grow."""
        self._torn_tail = b""
        try:
            decode_json(tail)
        except ValueError:
            self._torn_tail = tail
            tail = b""
        if not tail:
            self.seen = self._look(self.file.stat())
        return len(tail)

    def _take(self, scanned: ScannedChunk, chunk: bytes | bytearray, size: int) -> None:
        self.index.extend(scanned.offsets, scanned.lengths, scanned.lines)
        self._faults += scanned.faults
        self._next_line += scanned.line_count
        self._end += size
        self._witness = bytes(chunk[max(0, size - WITNESS) : size])
        self._terminated = self._witness.endswith(b"\n")

    def take_written(self, fd: int, start: int, data: bytes) -> EntryBatch:
        """Take in whole lines that were just written at an offset of the open file."""
        if not self._terminated:
            self._terminate(by_newline=True)
        # A torn tail with its newline, and lines of programs that take no lock.
        between = os.pread(fd, start - self._end, self._end)
        if between:
            self._torn_tail = b""
            self._take(scan_chunk(between, self._end, self._next_line), between, len(between))
        first = self.index.version + 1
        scanned = scan_chunk(data, start, self._next_line)
        self._take(scanned, data, len(data))
        self.look_again(fd)
        return EntryBatch(first, scanned.envelopes)

    def copy_migrated(self, source: int, target: int) -> MovedLines:
        """Copy what is known of the open file, `seen.size` bytes, in version 3. Blocks; `turn` is held."""
        assert self.migration is not None
        return copy_migrated(source, target, self.place, self.index, self.migration, self.seen.size)

    def take_rewritten(self, fd: int, moved: MovedLines) -> None:
        """Go over to the migrated file in one step: same entries, other places."""
        self.file.close()
        found = os.fstat(fd)
        self.file = ReadFile(self.file.path, identity_of(found))
        self.place = find_header(moved.head, self.path, whole_file=False)
        self.migration = None
        self.index.replace_spans(moved.offsets, moved.lengths)
        self._faults = self.faults
        self._next_line += bool(self._torn_tail)
        self._torn_tail = b""
        self._terminated = True
        self._end = moved.end
        self._header_line = moved.head[self.place.offset :][-WITNESS:]
        self._witness = moved.witness
        self.seen = self._look(found)

    def look_again(self, fd: int) -> None:
        """Take the time of the open file as ours, after we wrote to it or tried to."""
        self.seen = self._look(os.fstat(fd))

    def _look(self, found: os.stat_result) -> SeenFile:
        return SeenFile(
            identity=identity_of(found),
            size=self._end + len(self._torn_tail),
            mtime_ns=found.st_mtime_ns,
            header_offset=self.place.offset + self.place.length - len(self._header_line),
            header_line=self._header_line,
            tail_offset=self._end - len(self._witness),
            tail=self._witness,
        )

    async def read_lines(self, seqs: Sequence[int]) -> list[bytes]:
        """Return the lines of entries as of version 3. Raises `SessionRewrittenError`, `SessionFileError`."""
        found: dict[int, bytes] = {}
        file = self.file
        for group in line_groups(self.index, seqs):
            try:
                data = await file.read(group.start, group.size)
            except OSError as error:
                raise SessionFileError(self.path, error) from error
            if file is not self.file:
                # Our own migration moved the lines meanwhile.
                return await self.read_lines(seqs)
            found.update(group.lines(data, self.path))
        return self._as_of_now(found, seqs)

    def read_lines_now(self, seqs: Sequence[int]) -> list[bytes] | None:
        """The same without waiting; None where the disk has to be waited for."""
        if self.migration is None and (run := line_run(self.index, seqs)) is not None:
            data = self._read_now(run.start, run.size)
            return run.lines(data, self.path) if data is not None else None
        found: dict[int, bytes] = {}
        for group in line_groups(self.index, seqs):
            data = self._read_now(group.start, group.size)
            if data is None:
                return None
            found.update(group.lines(data, self.path))
        return self._as_of_now(found, seqs)

    def _read_now(self, start: int, size: int) -> bytes | None:
        try:
            return self.file.read_now(start, size)
        except (OSError, SessionRewrittenError):
            # The waiting form meets the same, and says so.
            return None

    def _as_of_now(self, found: dict[int, bytes], seqs: Sequence[int]) -> list[bytes]:
        migration = self.migration
        return [found[seq] if migration is None else migration.line(seq, found[seq]) for seq in seqs]
