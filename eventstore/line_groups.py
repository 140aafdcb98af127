"""Lines that are read in one go, and cut out of what was read (design D2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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


def line_groups(index: LineIndex, seqs: Iterable[int]) -> list[LineGroup]:
    """Group entries whose lines are read in one go."""
    groups: list[LineGroup] = []
    for seq in sorted(set(seqs)):
        span = index.span(seq)
        if not groups or not groups[-1].add(seq, *span):
            groups.append(LineGroup(seq, *span))
    return groups
