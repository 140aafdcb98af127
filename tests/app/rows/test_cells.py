"""Cleaning, measuring and cutting text for a terminal (U-26, U-30, cases 67 and 72)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wcwidth import iter_graphemes, wcswidth

from sessiontree.app import cells
from sessiontree.app.cells import cell_width, clean, fit, head

FAMILY = "👨‍👩‍👧"
PIECES = [FAMILY, "⚠️", "é", "e\u0301", "漢", "한", "\u1100\u1161\u11a8", "🇩", "🇪", "👍🏽", "1\ufe0f\u20e3", "नि", "क्ष"]
ODD = ["\u0bcd", "\u102c", "\u200d", "\u0301", "\u200b", "\ufe0f", "\U0001f3fd", "…", "│", "a", " ", "-"]

pieces = st.lists(st.sampled_from(PIECES + ODD), max_size=30).map("".join)
any_text = pieces | st.text() | st.text(st.characters(codec=None), max_size=40)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("look \x1b[31mred\x1b[0m", "look [31mred[0m"),
        ("a\x9b31mb\x07c\x7fd\x00e\x1ff", "a31mbcdef"),
        ("one\ttwo\r\nthree\rfour\nfive", "one two three four five"),
        ("a\x0bb\x0cc\x85d\u2028e\u2029f", "a b c d e f"),
        ("\u202eevil\u202c \u2066x\u2069 \u200ey\u200f\u061c", "evil x y"),
        ("half \ud83d pair", "half \ufffd pair"),
        ("stays: é 漢 👍🏽 ‍ شكرا", "stays: é 漢 👍🏽 ‍ شكرا"),
    ],
)
def test_clean_text_holds_nothing_that_a_terminal_obeys_and_all_that_it_shows(text: str, shown: str) -> None:
    """U-32, case 67: controls and bidi controls go, line breaks and tabs are spaces, surrogates U+FFFD."""
    assert clean(text) == shown


@given(any_text)
def test_clean_text_can_be_written_and_holds_no_control_character(text: str) -> None:
    """Case 67: for any text, what comes out of cleaning is one line of UTF-8 without controls."""
    shown = clean(text)
    shown.encode()
    assert not any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in shown)
    assert not any(unicodedata.bidirectional(character) in BIDI for character in shown)
    assert clean(shown) == shown


BIDI = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


@pytest.mark.parametrize(
    ("text", "width"),
    [("", 0), ("abc", 3), ("漢字", 4), ("ＦＵ", 4), ("e\u0301é", 2), (FAMILY, 2), ("⚠️", 2), ("🇩🇪🇩🇪", 4), ("…│•›", 4)],
)
def test_width_is_counted_in_cells(text: str, width: int) -> None:
    """Case 72: East Asian wide 2, combining 0, a joined emoji 2."""
    assert cell_width(text) == width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("hello", 5, "hello"),
        ("hello", 4, "hel…"),
        ("hello", 1, "…"),
        ("漢字", 4, "漢字"),
        ("漢字", 3, "漢…"),
        ("漢字", 2, "…"),
        ("漢", 1, "…"),
        ("", 1, ""),
        (FAMILY * 3, 6, FAMILY * 3),
        (FAMILY * 3, 5, FAMILY * 2 + "…"),
        (FAMILY * 3, 4, FAMILY + "…"),
        (FAMILY * 3, 2, "…"),
        ("ae\u0301e\u0301x", 4, "ae\u0301e\u0301x"),
        ("ae\u0301e\u0301x", 3, "ae\u0301…"),
        ("abe\u0301", 3, "abe\u0301"),
        ("abe\u0301", 2, "a…"),
        ("🇩🇪🇫🇷", 3, "🇩🇪…"),
        ("x👍🏽y", 3, "x…"),
    ],
)
def test_text_is_cut_between_clusters(text: str, width: int, shown: str) -> None:
    """Case 72: no lone half of a wide character, a joined emoji, a flag or an accented letter."""
    assert fit(text, width) == shown


@given(any_text.map(clean), st.integers(1, 60))
@example("\u0bcd漢字", 1)  # a mark without its base that widens what follows
def test_fitted_text_is_never_wider_than_the_width(text: str, width: int) -> None:
    """Case 72: holds at every width from 1 cell; what was cut is a whole number of clusters before `…`."""
    shown = fit(text, width)
    assert wcswidth(shown) <= width
    if shown != text:
        assert shown.endswith("…")
        assert _starts_with_whole_clusters(text, shown[:-1])
    elif wcswidth(text) <= width and cell_width(text) <= width:
        assert shown == text


@given(pieces, st.integers(1, 30))
def test_a_head_is_no_longer_than_its_limit_and_splits_no_cluster(text: str, limit: int) -> None:
    """U-32: the first characters of a text end with a whole cluster, unless one alone is longer."""
    start = head(text, limit)
    assert text.startswith(start)
    assert len(start) <= limit
    longest = max(map(len, iter_graphemes(text)), default=0)
    assert longest > limit or _starts_with_whole_clusters(text, start)


def _starts_with_whole_clusters(text: str, start: str) -> bool:
    ends, end = {0}, 0
    for cluster in iter_graphemes(text):
        end += len(cluster)
        ends.add(end)
    return text.startswith(start) and len(start) in ends


def test_simple_characters_take_one_cell_and_join_with_none() -> None:
    """The short way past clusters is taken for such characters only."""
    simple = [character for character in map(chr, range(0x3000)) if cells._SIMPLE.fullmatch(character)]
    assert len(simple) > 1000
    for character in simple:
        assert wcswidth(character) == 1
        assert list(iter_graphemes(f"x{character}x")) == ["x", character, "x"]


@pytest.mark.parametrize("text", ["🇩" * 50_000, "a" + "\u0301" * 200_000, "👨‍" * 50_000, "\u0bcda\u200b" * 50_000])
def test_long_runs_of_joining_characters_are_measured_in_one_pass(text: str) -> None:
    """No text makes measuring quadratic: a second pass over these would take minutes."""
    assert cell_width(text) > 0
    assert wcswidth(fit(text, 40)) <= 40
