"""Text as searches compare it (U-58)."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiontree.projections.folding import fold, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CAFÉ", "cafe\u0301"),
        ("STRASSE", "straße"),
        ("ﬁn", "FIN"),
        ("ﾕｰｻﾞｰ", "ユーザー"),
        ("\u212a", "k"),
        ("Ｆｕｌｌ", "full"),
        ("Σ", "ς"),
    ],
)
def test_what_differs_in_case_accents_or_width_alone_is_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_every_character_folds_to_something_and_ascii_to_its_lower_case() -> None:
    """What `LineFilter` rests on: nothing vanishes, and no newline comes to be."""
    for number in range(1, sys.maxunicode + 1):
        folded = fold(chr(number))
        assert folded
        assert ("\n" in folded) is (number == 10)
    ascii_text = "".join(map(chr, range(128)))
    assert fold(ascii_text) == unicodedata.normalize("NFKC", ascii_text).casefold()


@given(st.text())
def test_what_is_folded_stays_as_it_is(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(), st.sampled_from(" \n\t\xa0\u2003\u3000"), st.text())
def test_what_stands_on_both_sides_of_a_blank_is_folded_alone(before: str, blank: str, after: str) -> None:
    """So a long text may be folded in parts."""
    assert fold(before + blank + after) == fold(before) + fold(blank) + fold(after)


def test_a_query_is_its_folded_words() -> None:
    """U-58."""
    assert words("  Größe\tＯＫ\u3000x\n") == ["grösse", "ok", "x"]
    assert words(" \u3000\n") == []
