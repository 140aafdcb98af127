"""JSON of one line: what is read, what is not, and that what is written can be read by anyone."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiontree.eventstore.json_text import decode_json, encode_json

STRINGS = st.text() | st.text(st.characters(categories=["Cs"]), max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | STRINGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=12,
)


def without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [without_nan(item) for item in value]
    if isinstance(value, dict):
        return {as_read(key): without_nan(item) for key, item in value.items()}
    return as_read(value) if isinstance(value, str) else value


def as_read(text: str) -> str:
    """A high and a low surrogate in a row are one character to every reader."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@given(VALUES)
def test_what_is_written_is_strict_json_on_one_line_and_comes_back(value: Any) -> None:
    """F-01, D15: valid UTF-8, no newline, NaN as null, lone surrogates kept."""
    line = encode_json(value)
    assert b"\n" not in line
    assert json.loads(line.decode("utf-8"), parse_constant=pytest.fail) == without_nan(value)
    assert decode_json(line) == without_nan(value)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b' {"a" : [1, 2.5, "x"]}\r', {"a": [1, 2.5, "x"]}),
        (b'"\\ud83d"', "\ud83d"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\\udc00\\ud83d"', "\udc00\ud83d"),
        (b'"\xff"', "\ufffd"),
        (b'"\xe2\x80\xa8"', "\u2028"),
        (b'"\\u0000"', "\0"),
        (b"1" + b"0" * 30, 10**30),
        (b"1e999", math.inf),
        (b"-1e999", -math.inf),
        (b"9" * 5000, math.inf),
        (b'{"a":1,"a":2}', {"a": 2}),
    ],
)
def test_what_other_programs_write_is_read(line: bytes, value: object) -> None:
    """D15, F-07"""
    assert decode_json(line) == value


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b" ",
        b"{",
        b'{"a":1}{"b":2}',
        b'{"a":1} x',
        b"NaN",
        b"Infinity",
        b'{"a":-Infinity}',
        b"nul",
        b"01",
        b"1.",
        b"[1,]",
        b"{'a':1}",
        b'"a\tb"',
        b'"\\x41"',
        b"\x00",
        b"\xef\xbb\xbf{}",
        b"[" * 100_000 + b"]" * 100_000,
        b"[" * 100_000,
    ],
    ids=lambda line: str(line[:20]),
)
def test_what_is_no_json_is_a_value_error(line: bytes) -> None:
    """F-81, D15: torn, welded, NaN, raw control characters, a byte order mark, too deep."""
    with pytest.raises(ValueError, match=r"."):
        decode_json(line)


@pytest.mark.parametrize("value", [object(), {1, object()}, {"x": [lambda: 0]}, {("a", "b"): 1}])
def test_what_json_cannot_carry_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError):
        encode_json(value)
    with pytest.raises(TypeError):
        encode_json(["\ud83d", value])


def nested(depth: int, inner: Any) -> Any:
    for _ in range(depth):
        inner = [inner]
    return inner


@pytest.mark.parametrize("inner", [0, "\ud83d"])
def test_what_nests_too_deeply_is_a_value_error(inner: object) -> None:
    with pytest.raises(ValueError, match="nested"):
        encode_json(nested(50_000, inner))


def test_nan_is_written_as_null_as_javascript_does() -> None:
    """D15: also beside a lone surrogate, which takes another way."""
    for extra in ("x", "\ud83d"):
        written = encode_json({"a": [math.nan, math.inf, 1.5], "b": extra, "c": {"d": -math.inf}})
        assert json.loads(written) == {"a": [None, None, 1.5], "b": extra, "c": {"d": None}}


def test_the_same_values_are_written_the_same_beside_a_lone_surrogate() -> None:
    value = {
        "when": datetime(2026, 2, 16, tzinfo=UTC),
        "data": b"bytes",
        "set": {1},
        5: "number as a key",
        "big": 2**70,
    }
    plain = json.loads(encode_json(value))
    assert json.loads(encode_json({**value, "odd": "\ud83d"})) == {**plain, "odd": "\ud83d"}
