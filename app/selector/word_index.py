"""Which positions hold which words, so that a search looks at each different word once (settled U-59)."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator

from ..tree_search import in_one_word, widest_span

_CHARACTERS = {chr(code) for code in range(0x21, 0x7F)}


class WordIndex:
    """The words at `size` positions, that come in any order.

    What is found is a mask: a byte for each position, 0 or 1.
    For each visible ASCII character there is such a mask ready: nearly every word is found for one letter alone.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._positions: dict[str, array[int]] = {}
        self._of_character: dict[str, bytearray] = {}
        self._vocabulary = ""

    def add(self, position: int, text: str) -> None:
        """Take in the folded text at a position."""
        positions = self._positions
        for word in set(text.split()):
            if (known := positions.get(word)) is None:
                positions[word] = array("I", (position,))
            else:
                known.append(position)
        of_character = self._of_character
        for character in _CHARACTERS.intersection(text):
            if character not in of_character:
                of_character[character] = bytearray(self._size)
            of_character[character][position] = 1

    def find(self, token: str) -> bytearray:
        """Return where a token is found, as a substring or else in order within one word."""
        if token in _CHARACTERS:
            return bytearray(self._of_character.get(token, self._size))
        found = bytearray(self._size)
        for word in self._words_with(token):
            for position in self._positions[word]:
                found[position] = 1
        return found

    def _words_with(self, token: str) -> Iterator[str]:
        # No word holds whitespace, so that in one text of all of them nothing is found over the end of a word.
        if self._vocabulary.count("\n") != len(self._positions):
            self._vocabulary = "".join(f"{word}\n" for word in self._positions)
        vocabulary = self._vocabulary
        for found in _in_order(token).finditer(vocabulary):
            word = vocabulary[vocabulary.rfind("\n", 0, found.start()) + 1 : found.end()]
            if token in word or in_one_word(token, found[0]):
                yield word


def _in_order(token: str) -> re.Pattern[str]:
    """Find, from its first character on, the end of each word in which a token may stand in order.

    Each gap is atomic: it ends at the nearest character that fits, and no other is tried, so that no word takes long.
    """
    first, *others = map(re.escape, token)
    gap = f"[^\\n]{{0,{widest_span(token) - len(token)}}}?"
    return re.compile(first + "".join(f"(?>{gap}{character})" for character in others) + r"[^\n]*")
