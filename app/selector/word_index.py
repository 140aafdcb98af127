"""Which rows hold which words, so that a search looks at each different word once (settled U-59)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from ..tree_search import in_one_word


class WordIndex:
    """The words of rows that come in any order; a row is a number."""

    def __init__(self) -> None:
        self._rows: dict[str, array[int]] = {}

    def add(self, row: int, text: str) -> None:
        """Take in the folded text of a row."""
        rows = self._rows
        for word in set(text.split()):
            if (known := rows.get(word)) is None:
                rows[word] = array("I", (row,))
            else:
                known.append(row)

    def find(self, token: str) -> set[int]:
        """Return the rows in which a token is found, as a substring or else in order within one word."""
        found: set[int] = set()
        for word, rows in self._rows.items():
            if token in word or (len(token) > 1 and in_one_word(token, word)):
                found.update(rows)
        return found

    def find_all(self, tokens: Iterable[str]) -> set[int]:
        """Return the rows in which every token is found."""
        found: set[int] | None = None
        for token in sorted(tokens, key=len, reverse=True):
            rows = self.find(token)
            found = rows if found is None else found & rows
            if not found:
                break
        return found if found is not None else set()
