"""Text as searches compare it."""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """Return `text` as searches compare it: NFKC-normalised and case-folded.

    So upper and lower case, composed and decomposed accents, full and half width find each other.
    """
    if text.isascii():  # the same, five times as fast
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def words(query: str) -> list[str]:
    """U-58: the folded words of a query; none for a blank one."""
    return fold(query).split()
