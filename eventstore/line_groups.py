"""Lines that are read in one go, and cut out of what was read (design D2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from .errors import SessionRewrittenError
from .line_index import LineIndex

_GAP = 64 << 10
_MOST_AT_ONCE = 1 << 20


class LineGroup:
    """Lines close together in the file, at most 1 MiB in all, with the bytes before and behind them."""

    __slots__ = ("_spans", "end", "first")

    def __init__(self, seq: int, offset: int, length: int) -> None:
        self._spans = [(seq, offset, length)]
        self.first = offset
        """Where the first line begins."""
        self.end = offset + length
        """Where the last line ends, without its newline."""

    def add(self, seq: int, offset: int, length: int) -> bool:
        """Take in a line further on; tell whether it is close enough."""
        close = offset - self.end <= _GAP and offset + length - self.first <= _MOST_AT_ONCE
        if close:
            self._spans.append((seq, offset, length))
            self.end = offset + length
        return close

    @property
    def start(self) -> int:
        """From where on the file is to be read."""
        return self.first - 1

    @property
    def size(self) -> int:
        """How many bytes are to be read."""
        return self.end + 1 - self.start

    def lines(self, data: bytes, path: Path) -> Iterator[tuple[int, bytes]]:
        """Yield number and line of each entry from what was read. Raises `SessionRewrittenError`."""
        for seq, offset, length in self._spans:
            at = offset - self.start
            # The newlines around a line witness that it still stands there; a last line may lack the second.
            before, after = data[at - 1 : at], data[at + length : at + length + 1]
            if before != b"\n" or after not in (b"\n", b""):
                raise SessionRewrittenError(path, "was changed by another program")
            line = data[at : at + length]
            if len(line) != length:
                raise SessionRewrittenError(path, "was cut by another program")
            yield seq, line


class LineRun:
    """The lines of consecutive entries with nothing between them, at most 1 MiB in all."""

    __slots__ = ("_lengths", "size", "start")

    def __init__(self, start: int, size: int, lengths: Sequence[int]) -> None:
        self.start = start
        """From where on the file is to be read: a byte before the first line."""
        self.size = size
        """How many bytes are to be read: to the end of the last line, its newline included."""
        self._lengths = lengths

    def lines(self, data: bytes, path: Path) -> list[bytes]:
        """Return the lines in what was read. Raises `SessionRewrittenError`."""
        before, *lines = data.split(b"\n")
        if not data.endswith(b"\n"):
            lines.append(b"")  # the last line may lack its newline
        if before or lines.pop() or [len(line) + 1 for line in lines] != list(self._lengths):
            raise SessionRewrittenError(path, "was changed by another program")
        return lines


def line_run(index: LineIndex, seqs: Sequence[int]) -> LineRun | None:
    """Return the run that entries make, None where they make none."""
    if not seqs or seqs[-1] - seqs[0] != len(seqs) - 1:
        return None
    run = range(seqs[0], seqs[-1] + 1)
    if seqs != run and list(seqs) != list(run):
        return None
    offsets, lengths = index.spans(run)
    start, end = offsets[0], offsets[-1] + lengths[-1]
    if sum(lengths) != end - start or end - start > _MOST_AT_ONCE:
        return None
    return LineRun(start - 1, end - start + 1, lengths)


def line_groups(index: LineIndex, seqs: Iterable[int]) -> list[LineGroup]:
    """Group entries whose lines are read in one go."""
    groups: list[LineGroup] = []
    for seq in sorted(set(seqs)):
        span = index.span(seq)
        if not groups or not groups[-1].add(seq, *span):
            groups.append(LineGroup(seq, *span))
    return groups
