"""Where each entry's line stands in the file: columns by sequence number (design D2, D3)."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct

from .index.index_file import IndexFile
from .index.index_writer import IndexWriter
from .index.stored_column import Column, StoredColumn, first_items


class LineIndexState(Struct, frozen=True):
    """The runs: see `LineIndex`."""

    run_seqs: list[int]
    run_lines: list[int]


class LineIndex:
    """Offsets and lengths of the entries' lines. Entry numbers start at 1."""

    def __init__(self) -> None:
        self._offsets: array[int] | Column = array("Q", [0])
        self._lengths: array[int] | Column = array("Q", [0])
        # Line numbers run on with the entries but for skipped lines: (first entry, its line) of each run.
        self._run_seqs: list[int] = []
        self._run_lines: list[int] = []

    def state(self) -> LineIndexState:
        """Return what is small, as it is now."""
        return LineIndexState(list(self._run_seqs), list(self._run_lines))

    async def store(self, writer: IndexWriter, last_seq: int) -> None:
        """Write what is large, of the entries up to one. Raises `OSError`."""
        for name, column in ("offsets", self._offsets), ("lengths", self._lengths):
            await writer.add_column(name, "Q", first_items(column, last_seq + 1))

    def restore(self, file: IndexFile, state: LineIndexState) -> None:
        """Begin with what an index holds. Raises `IndexDamagedError`."""
        self._run_seqs, self._run_lines = state.run_seqs, state.run_lines
        self._offsets = Column(StoredColumn(file, "offsets", "Q"))
        self._lengths = Column(StoredColumn(file, "lengths", "Q"))

    @property
    def version(self) -> int:
        """The number of entries."""
        return len(self._offsets) - 1

    def extend(self, offsets: Sequence[int], lengths: Sequence[int], lines: Sequence[int]) -> None:
        """Add entries in file order: byte offsets, lengths with newline, 1-based line numbers."""
        seq = self.version + 1
        self._offsets.extend(offsets)
        self._lengths.extend(lengths)
        if isinstance(lines, range):
            if lines:
                self._note_line(seq, lines.start)
        else:
            for line in lines:
                self._note_line(seq, line)
                seq += 1

    def _note_line(self, seq: int, line: int) -> None:
        if not self._run_seqs or self._run_lines[-1] + seq - self._run_seqs[-1] != line:
            self._run_seqs.append(seq)
            self._run_lines.append(line)

    def span(self, seq: int) -> tuple[int, int]:
        """Return (offset, length without newline) of an entry's line."""
        return self._offsets[seq], self._lengths[seq] - 1

    def spans(self, seqs: range) -> tuple[Sequence[int], Sequence[int]]:
        """Return offsets and lengths, with newline, of the lines of consecutive entries."""
        return self._offsets[seqs.start : seqs.stop], self._lengths[seqs.start : seqs.stop]

    def line_number(self, seq: int) -> int:
        """Return the 1-based number of an entry's line in the file."""
        run = bisect_right(self._run_seqs, seq) - 1
        return self._run_lines[run] + seq - self._run_seqs[run]

    def replace_spans(self, offsets: Sequence[int], lengths: Sequence[int]) -> None:
        """Set the places of all entries anew, after the file was rewritten by us."""
        self._offsets = array("Q", [0, *offsets])
        self._lengths = array("Q", [0, *lengths])
