"""One query: whether a text has all its words, and where."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct

from .folding import fold, words

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
