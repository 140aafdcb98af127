"""The screen of a terminal, and the frames that a program paints on it, as far as Textual uses either."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterator

from wcwidth import wcwidth

FRAME_START, FRAME_END = "\x1b[?2026h", "\x1b[?2026l"
_SEQUENCE = re.compile(r"\x1b(?:\[([0-9;:?<>=$]*)([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[^\[\]])")


class Frames:
    """Cuts what a program writes into whole frames, and pieces of what it writes outside of them."""

    def __init__(self) -> None:
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._pending = ""

    def feed(self, data: bytes) -> Iterator[str]:
        """Yield what is whole: never part of a frame, of a sequence or of a character."""
        self._pending += self._decode(data)
        while self._pending:
            start = self._pending.find(FRAME_START)
            if start == 0:
                size = self._pending.find(FRAME_END) + len(FRAME_END)
                if size < len(FRAME_END):
                    return
            else:
                size = start if start > 0 else _whole_sequences(self._pending)
                if not size:
                    return
            piece, self._pending = self._pending[:size], self._pending[size:]
            yield piece


class Screen:
    """Cells, placed by line and column. Limit: no scrolling, and each character of a cluster has its own cells."""

    def __init__(self, lines: int, columns: int) -> None:
        self._columns = columns
        self._cells = [[" "] * columns for _ in range(lines)]

    @property
    def lines(self) -> list[str]:
        """What it shows, without blanks at the ends of the lines."""
        return ["".join(cells).rstrip() for cells in self._cells]

    @property
    def foot(self) -> str:
        """The last line."""
        return self.lines[-1]

    def paint(self, piece: str) -> None:
        """Take in one piece of `Frames`."""
        line = column = end = 0
        for found in _SEQUENCE.finditer(piece):
            line, column = self._put(line, column, piece[end : found.start()])
            end = found.end()
            if found[2] == "H":
                line, column = (int(number) - 1 for number in (found[1] or "1;1").split(";"))
        self._put(line, column, piece[end:])

    def _put(self, line: int, column: int, text: str) -> tuple[int, int]:
        """Write from a place on; return the place behind."""
        for character in text:
            if character in "\r\n":
                line, column = line + (character == "\n"), 0
            width = max(0, wcwidth(character))
            if width and line < len(self._cells) and column + width <= self._columns:
                self._cells[line][column : column + width] = [character, *[""] * (width - 1)]
            column += width
        return line, column


def _whole_sequences(text: str) -> int:
    """How much of a text without a frame is whole: all but an escape sequence that is begun."""
    last = text.rfind("\x1b")
    return len(text) if last < 0 or _SEQUENCE.match(text, last) else last
