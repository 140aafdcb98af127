"""Numbers of things in words."""

from __future__ import annotations

import pytest

from sessiontree.app.counted import all_entries, counted


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


@pytest.mark.parametrize(("number", "text"), [(1, "the one entry"), (1000, "all 1,000 entries")])
def test_all_of_one_is_the_one(number: int, text: str) -> None:
    assert all_entries(number) == text
