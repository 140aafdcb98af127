"""One query: which lines can hold it, and where it stands (settled U-58)."""

from __future__ import annotations

import json
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessiontree.eventstore.entries import decode_entry
from sessiontree.projections import search as search_module
from sessiontree.projections.folding import fold, words
from sessiontree.projections.line_filter import LineFilter
from sessiontree.projections.search import Search, hit_at
from sessiontree.projections.searched_text import searched_text


def line_of(text: str) -> bytes:
    return written({"type": "message", "id": "e1", "message": {"role": "user", "content": text}})


def written(entry: object) -> bytes:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def candidates(query: str, lines: list[bytes]) -> list[int]:
    return LineFilter(words(query)).candidates(lines)


def position_in(query: str, text: str) -> int | None:
    return list(Search(query).find_in_steps(text))[-1]


def found(query: str, lines: list[bytes]) -> list[int]:
    """What a search finds, by places."""
    search = Search(query)
    texts = {place: searched_text(decode_entry(lines[place])) for place in candidates(query, lines)}
    return [place for place, text in texts.items() if text and list(search.find_in_steps(text))[-1] is not None]


def found_plainly(query: str, lines: list[bytes]) -> list[int]:
    """The same by the rule alone: each word in the folded text."""
    folded = [fold(searched_text(decode_entry(line))) for line in lines]
    return [place for place, text in enumerate(folded) if all(word in text for word in words(query))]


@pytest.mark.parametrize(
    ("query", "text", "is_found"),
    [
        ("tree", "The TREES of", True),
        ("trees the", "The TREES of", True),
        ("tree stone", "The TREES of", False),
        ("tres", "The TREES of", False),  # no fuzzy match
        ("strasse", "Große Straße", True),
        ("straße", "STRASSE", True),
        ("kelvin", "300 \u212aELVIN", True),
        ("file", "ﬁle", True),
        ("word", "Ｗｏｒｄ", True),
        ("1/2", "½", False),  # U+2044 stands between the digits
        ("café", "cafe\u0301", True),
        ("cafe", "cafe\u0301", False),
        ("cafe", "cafe", True),
        (".*", "any text", False),
        ("src/a.py", "in src/a.py:7", True),
        ('say "hi"', 'say "hi"', True),
        ("C:\\users", "C:\\Users\\me", True),
        ("nnew", "old\nnew", False),
        ("users", "type", False),
        ("message", "a text", False),  # the name of a field
        ("e1", "a text", False),  # an id
        ("日本", "日本語", True),
        ("\u0301x", "\n\u0301x", True),
        ('naïve"日', 'naïve"日', True),
        ("foo\x1b", "foo\x1b[0m", True),
        ("\x00", "a", False),
    ],
)
def test_all_words_have_to_be_part_of_the_folded_text(query: str, text: str, is_found: bool) -> None:
    """U-58: case, width and composition do not matter; no character has a pattern's meaning."""
    assert found(query, [line_of(text)]) == ([0] if is_found else [])


@pytest.mark.parametrize(
    ("query", "escaped"),
    [
        ("tree", rb"\u0074r\u0065e"),
        ("tree", rb"t\u0052ee"),
        ("naïve", rb"na\u00efve"),
        ("naïve", rb"nai\u0308ve"),
        ("strasse", rb"stra\u00dfe"),
        ("kind", rb"\u212aind"),
        ("src/a", rb"src\/a"),
        ("src/a", rb"src\u002fa"),
        ('"a"', rb"\u0022a\u0022"),
        ("a\\b", rb"a\u005cb"),
        ("😀", rb"\ud83d\uDE00"),
        ("x\ud800", rb"x\uD800"),
    ],
)
def test_however_a_writer_escapes_a_character_it_is_found(query: str, escaped: bytes) -> None:
    assert found(query, [line_of("@").replace(b"@", escaped)]) == [0]


def test_bytes_that_are_no_utf_8_hide_nothing() -> None:
    assert found("before", [line_of("@").replace(b"@", b"\xe2before\xff")]) == [0]
    assert found("strasse", [line_of("@").replace(b"@", b"\xe2stra\xc3\x9fe")]) == [0]


def test_lines_that_cannot_hold_all_words_are_no_candidates() -> None:
    """So they need not be decoded: the reason why a search is fast."""
    lines = [line_of(text) for text in ("alpha", "beta", "alpha beta", "größer", "日本", 'tab\tnew\nline \\ "q"', "¼")]
    assert candidates("Alpha BETA", lines) == [2]
    assert candidates("語", lines) == []
    assert candidates("本", lines) == [4]
    assert candidates("\u0301", lines) == [3, 4, 6]
    assert candidates("gamma", lines) == []
    assert candidates("beta 日", [*lines, line_of("日 beta")]) == [7]
    assert candidates("grösser", lines) == [3]


@given(st.data())
def test_what_is_found_is_what_decoding_every_line_finds(data: st.DataObject) -> None:
    """For whatever texts, spellings of them in JSON, and queries."""
    characters = (
        'abkKsSfiI.1 \n"\\/\x1b\u212aßẞſﬁﬀİǰ½…ªéÉe\u0301\u0327\u0307Ａａ日語ｶ\u3099ﾞ\ud83d\ud800😀\u1fef\xa0\u2028'
    )
    texts = data.draw(st.lists(st.text(characters, max_size=12), min_size=1, max_size=6))
    lines = [data.draw(spelled(text)) for text in texts]
    source = fold("\n".join(texts)) if data.draw(st.booleans()) else "\n".join(texts)
    start = data.draw(st.integers(0, len(source)))
    query = source[start : start + data.draw(st.integers(0, 6))] or data.draw(st.text(characters, max_size=3))
    if words(query):
        with patch.object(search_module, "_PART", data.draw(st.sampled_from([1, 4, 1000]))):
            assert found(query, lines) == found_plainly(query, lines)


@st.composite
def spelled(draw: st.DrawFn, text: str) -> bytes:
    """The line of an entry, some characters of its text as escapes, and some bytes that are no UTF-8."""
    spelling = draw(st.sampled_from(["plain", "ascii", "odd"]))
    if spelling == "ascii":
        return json.dumps({"type": "message", "id": "e1", "message": {"role": "user", "content": text}}).encode()
    line = line_of(text)
    if spelling == "odd" and text:
        at = draw(st.integers(0, len(text) - 1))
        escaped = "".join(f"\\u{unit:04X}" for unit in _utf_16(text[at]))
        line = line_of(text[:at] + "@" + text[at + 1 :]).replace(b"@", escaped.encode())
    return line.replace("é".encode(), b"\xc3") if draw(st.booleans()) else line


def _utf_16(character: str) -> list[int]:
    units = character.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2)]


@given(st.text("aAeßﬁ\u0301 日ŉ\u0344", max_size=30), st.integers(0, 30), st.integers(1, 4))
@example("ﬁﬁﬁ xa", 6, 1)
def test_the_position_is_where_the_first_word_begins(text: str, start: int, size: int) -> None:
    """The character whose fold the word begins in."""
    query = fold(text)[start : start + size]
    with patch.object(search_module, "_PART", 3):
        if words(query) and (position := position_in(query, text)) is not None:
            assert 0 <= fold(text[position:]).find(words(query)[0]) < len(fold(text[position]))


def test_the_position_is_that_of_the_first_word_wherever_the_others_are() -> None:
    assert position_in("beta alpha", "alpha beta") == 6
    assert position_in("c", "ßßßßßß c") == 7
    assert position_in("beta alpha", "alpha") is None


def test_a_long_text_is_looked_through_in_parts() -> None:
    """D6: each step is short; no word stands across two parts."""
    with patch.object(search_module, "_PART", 10):
        steps = list(Search("late early").find_in_steps("early " + "word " * 20 + "late"))
        assert len(steps) == 8
        assert steps[:-1] == [None] * (len(steps) - 1)
        assert steps[-1] == 106
        assert list(Search("nowhere").find_in_steps("word " * 20))[-1] is None


def test_an_excerpt_is_the_text_around_the_position() -> None:
    text = "a" * 100 + "hit" + "b" * 200
    hit = hit_at("e1", text, 100)
    assert (hit.id, hit.position, hit.excerpt) == ("e1", 100, "a" * 30 + "hit" + "b" * 87)
    assert hit_at("e1", "hit", 0).excerpt == "hit"
