"""What a search query finds in the rows of a tree (settled U-58..U-5A)."""

from __future__ import annotations

from ..projections.folding import words
from .cells import clean


def query_tokens(query: str) -> list[str]:
    """U-58: the folded words of a query; none for a blank one."""
    return words(clean(query))


def matches(tokens: list[str], text: str) -> bool:
    """U-58, U-59: whether every token is found in the folded `text`; no character has a pattern's meaning.

    A token is found as a substring, or failing that if its characters stand in order within one
    whitespace-separated word, over at most `widest_span` characters.
    """
    return all(token in text or in_one_word(token, text) for token in tokens)


def widest_span(token: str) -> int:
    """U-59: over how many characters those of a token may stand: max(n + 2, ⌈1.8 n⌉) for n."""
    return max(len(token) + 2, -(-9 * len(token) // 5))


def in_one_word(token: str, text: str) -> bool:
    """Tell whether the characters of a token stand in order, close together, within one word of a text."""
    span = widest_span(token)
    start = text.find(token[0])
    while start >= 0:
        end = start + 1
        for character in token[1:]:
            # The earliest next character gives the shortest span from this start.
            end = text.find(character, end, start + span) + 1
            if not end:
                break
        if end and len(text[start:end].split()) == 1:
            return True
        start = text.find(token[0], start + 1)
    return False
