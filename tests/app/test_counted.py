"""Numbers of things in words."""

from __future__ import annotations

import pytest

from sessiontree.app.counted import counted


@pytest.mark.parametrize(
    ("number", "words", "text"),
    [
        (0, ("image",), "0 images"),
        (1, ("image",), "1 image"),
        (2, ("entry", "entries"), "2 entries"),
        (1000, ("fault",), "1,000 faults"),
    ],
)
def test_one_is_no_plural(number: int, words: tuple[str, ...], text: str) -> None:
    assert counted(number, *words) == text
