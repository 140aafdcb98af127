"""Which lines of a session can hold the words of a query, found without decoding them."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from .folding import fold

_LITERAL = re.compile(r"[!#-.0-\[\]-~]+")
"""ASCII that stands in JSON text as itself, or as an escape `\\uXXXX`; before `"`, `/` and `\\` stands a backslash."""
_PIECE = re.compile(r'[^"/\\\x00-\x1f]+')
"""The same of any characters."""
_ESCAPE = b"\\u"
_ASCII = bytes(range(128))


class LineFilter:
    """Looks at the bytes of lines of JSON. A line with an escape `\\uXXXX` may hold anything.

    In the others, each character folds by itself, to one or more. So a literal, ASCII within a folded word, stands in
    the line in lower case wherever the word stands in its text, unless some of it comes from one of the special
    characters that fold to ASCII (`ß`, `ﬁ`, full width); even then its core does, in which none of those has a part.
    A word that is not ASCII stands in the folded line, but for the characters before which a backslash may stand.
    """

    def __init__(self, words: Sequence[str]) -> None:
        """`words`: folded ones."""
        literals = [literal for word in words for literal in _LITERAL.findall(word)]
        self._literals = [literal.encode() for literal in literals]
        self._characters = frozenset("".join(literals))
        self._is_ascii = all(map(str.isascii, words))
        pieces = [piece for word in words if not word.isascii() for piece in _PIECE.findall(word)]
        # A mark would join with the `n` of a `\n` before it.
        self._pieces = [piece for piece in pieces if not unicodedata.combining(piece[0])]
        self._folds: dict[str, str] = {}

    def candidates(self, lines: Sequence[bytes]) -> list[int]:
        """Return the places of the lines of JSON that can hold all words: every one that does, and few others."""
        joined = b"\n".join(lines)
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        special = self._special(lines)
        cores = [_core(literal, special) for literal in self._literals] if special else self._literals
        # The longest one is likely the rarest.
        likely = _places(max(cores, key=len, default=b""), joined.lower(), starts)
        found = {place for place in likely if self._can_hold(lines[place].lower(), cores, special)}
        return sorted(found.union(_places(_ESCAPE, joined, starts)))

    def _can_hold(self, line: bytes, cores: Iterable[bytes], special: Iterable[bytes]) -> bool:
        """Tell whether a line in lower case, without escapes, can hold all words."""
        return (
            all(core in line for core in cores)
            and (all(literal in line for literal in self._literals) or _has_any(special, line))
            and (self._is_ascii or self._has_pieces(line))
        )

    def _has_pieces(self, line: bytes) -> bool:
        if line.isascii():
            return False
        folded = fold(line.decode("utf-8", "replace"))
        return all(piece in folded for piece in self._pieces)

    def _special(self, lines: Sequence[bytes]) -> dict[bytes, str]:
        """Return the special characters in the lines that share something with the literals, and their folds."""
        others = [line for line in lines if not line.isascii()] if self._literals else []
        rest = b"".join(others).translate(None, _ASCII).decode("utf-8", "replace")
        return {character.encode(): image for character in set(rest) if (image := self._special_fold(character))}

    def _special_fold(self, character: str) -> str:
        """Return what a character folds to, "" where that has nothing in common with the literals."""
        folded = self._folds.get(character)
        if folded is None:
            folded = fold(character)
            folded = self._folds[character] = "" if self._characters.isdisjoint(folded) else folded
        return folded


def _places(needle: bytes, joined: bytes, starts: Sequence[int]) -> Iterator[int]:
    """Yield the places of the lines that hold a needle, the last one first; `starts`: of all, and of one more.

    From the end, because that is where bytes are searched faster, by a third to a half.
    """
    place = len(starts) - 1
    while place and (at := joined.rfind(needle, 0, starts[place] - 1)) >= 0:
        place = bisect_right(starts, at) - 1
        yield place


def _core(literal: bytes, special: dict[bytes, str]) -> bytes:
    """Return the longest part of a literal without any character of those folds."""
    shared = {ord(character) for image in special.values() for character in image}
    return max(bytes(32 if code in shared else code for code in literal).split(), key=len, default=b"")


def _has_any(special: Iterable[bytes], line: bytes) -> bool:
    rest = line.translate(None, _ASCII)
    return any(character in rest for character in special)
