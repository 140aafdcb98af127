"""One query: which lines can hold it, and where in a text it stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from .folding import fold, words

_LITERAL = re.compile(r"[!#-.0-\[\]-~]+")
"""ASCII that stands in JSON text as itself, or as an escape `\\uXXXX`; before `"`, `/` and `\\` stands a backslash."""
_ESCAPE = b"\\u"
_ASCII = bytes(range(128))
_BLANK = re.compile(r"\s")
_PART = 32 << 10
"""Characters of a text that are folded at once: a quarter of a millisecond."""
_BEFORE, _AFTER = 30, 90


class SearchHit(Struct, frozen=True, gc=False):
    """An entry that a search found, and where the first word of the query begins in its `searched_text`.

    `excerpt`: that text from at most 30 characters before the position to at most 90 behind it, as it is.
    """

    id: str
    position: int
    excerpt: str


def hit_at(entry_id: str, text: str, position: int) -> SearchHit:
    """Return the hit of an entry with this text."""
    return SearchHit(entry_id, position, text[max(0, position - _BEFORE) : position + _AFTER])


class Search:
    """A query: each of its words has to be part of the folded text, anywhere in it (settled U-58).

    The fuzzy match (U-59) is for the short rows of the tree selector alone: in whole texts it would find anything.
    """

    def __init__(self, query: str) -> None:
        self.words = words(query)
        literals = {literal.encode() for word in self.words for literal in _LITERAL.findall(word)}
        # The longest first: it is likely the rarest.
        self._literals = sorted(literals, key=len, reverse=True)
        self._characters = frozenset(b"".join(self._literals).decode())
        self._is_ascii = all(map(str.isascii, self.words))
        self._folds: dict[str, str] = {}

    def candidates(self, lines: Sequence[bytes]) -> list[int]:
        """Return the places of the lines of JSON that can hold all words: every one that does, and few others.

        Nothing is decoded. Each character folds by itself, to one or more. So what is ASCII in a folded text is
        ASCII in the line too, but for case, unless it is written as an escape, or comes from one of the special
        characters that fold to ASCII (`ß`, `ﬁ`, full width); then the core of a literal, in which none of them
        has a part, is in the line. And a word that is not ASCII needs a line that is not, or an escape.
        """
        joined = b"\n".join(lines)
        lowered = joined.lower()
        special = self._special(lines)
        cores = [_core(literal, special) for literal in self._literals] if special else self._literals
        # From the end, because that is where bytes are searched faster, by a third to a half.
        if joined.rfind(_ESCAPE) < 0 and any(lowered.rfind(core) < 0 for core in cores):
            return []
        return [
            place
            for place, line in enumerate(lowered.split(b"\n"))
            if _ESCAPE in line
            or (
                (self._is_ascii or not line.isascii())
                and all(core in line for core in cores)
                and (all(literal in line for literal in self._literals) or _has_any(special, line))
            )
        ]

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

    def find_in_steps(self, text: str) -> Iterator[int | None]:
        """Look for all words in a text, in steps of bounded work; the last one has the position of the first word.

        None after each other step, and after the last where a word is missing. Limit: what stands between two
        blanks is one step.
        """
        first, position = self.words[0], 0
        missing = set(self.words)
        for start, end in _parts(text):
            part = text[start:end]
            folded = fold(part)
            if first in missing and (index := folded.find(first)) >= 0:
                position = start + _unfolded(part, index)
            missing = {word for word in missing if word not in folded}
            if not missing:
                yield position
                return
            yield None


def _core(literal: bytes, special: dict[bytes, str]) -> bytes:
    """Return the longest part of a literal without any character of those folds."""
    shared = {ord(character) for image in special.values() for character in image}
    return max(bytes(32 if code in shared else code for code in literal).split(), key=len, default=b"")


def _has_any(special: dict[bytes, str], line: bytes) -> bool:
    rest = line.translate(None, _ASCII)
    return any(character in rest for character in special)


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds of parts that end with a blank: no word stands across, and each can be folded by itself."""
    start = 0
    while start < len(text):
        blank = _BLANK.search(text, start + _PART)
        end = blank.end() if blank is not None else len(text)
        yield start, end
        start = end


def _unfolded(text: str, index: int) -> int:
    """Return where in a text the character stands from which that at an index of the folded text comes."""

    def folded_size(end: int) -> int:
        return len(fold(text[:end]))

    if text.isascii() or folded_size(index) <= index < folded_size(index + 1):
        return index
    return bisect_right(range(1, len(text) + 1), index, key=folded_size)
