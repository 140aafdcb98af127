"""Changing one field of a line: every other byte stays as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessiontree.eventstore.json_text import decode_json
from sessiontree.eventstore.splice import field_text, remove_field, replace_field

BLANKS = st.text(" \t\r", max_size=2)
KEYS = st.sampled_from(["id", "parentId", "x", "", "type", "i\\u0064x", "\u00e4", "\u2028", '\\"id\\"'])
SCALARS = st.sampled_from(
    [
        b"null",
        b"true",
        b"-0.0",
        b"1.50",
        b"1E+2",
        b"9" * 400,
        b'""',
        b'"id"',
        b'"\\"id\\":1"',
        b'"}{,:"',
        b'"\\ud83d"',
        b'"\xff\xc3"',
        b'"\xe2\x80\xa8"',
        b'"\\\\"',
        b"[]",
        b"{}",
        b'[1, {"id":2 } ]',
        b'{"id":{"id":1},"parentId":[]}',
    ]
)


@st.composite
def lines(draw: st.DrawFn) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """An object's line with blanks anywhere, and its fields as (key, value) in bytes."""

    def blank() -> bytes:
        return draw(BLANKS).encode()

    fields = [(key.encode(), value) for key, value in draw(st.lists(st.tuples(KEYS, SCALARS), min_size=0, max_size=6))]
    parts = [blank() + b'"' + key + b'"' + blank() + b":" + blank() + value + blank() for key, value in fields]
    return blank() + b"{" + (b",".join(parts) or blank()) + b"}" + blank(), fields


def pieces(line: bytes, fields: list[tuple[bytes, bytes]]) -> list[bytes]:
    """The line cut before and after each value: what stands between the values is at even places."""
    cut: list[bytes] = []
    at = 0
    for key, value in fields:
        start = line.index(b":", line.index(b'"' + key + b'"', at) + len(key) + 2) + 1
        while line[start : start + 1] in (b" ", b"\t", b"\r"):
            start += 1
        assert line[start:].startswith(value)
        cut += [line[at:start], value]
        at = start + len(value)
    return [*cut, line[at:]]


@given(lines(), SCALARS)
def test_replacing_changes_the_bytes_of_the_named_values_only(
    line_and_fields: tuple[bytes, list[tuple[bytes, bytes]]], value: bytes
) -> None:
    """D1, T-61: a copy to another file keeps every byte but those of a re-linked field."""
    line, fields = line_and_fields
    cut = pieces(line, fields)
    names = [key for key, _ in fields]
    changed = replace_field(line, "id", value)
    if b"id" in names:
        expected = [value if at % 2 and names[at // 2] == b"id" else piece for at, piece in enumerate(cut)]
        assert changed == b"".join(expected)
    else:
        end = line.rindex(b"}")
        comma = b"," if fields else b""
        assert changed == line[:end] + comma + b'"id":' + value + line[end:]
    assert field_text(changed, "id") == value


@given(lines())
def test_removing_takes_the_field_and_no_other(line_and_fields: tuple[bytes, list[tuple[bytes, bytes]]]) -> None:
    """F-102: what stays is JSON, with the other values byte for byte."""
    line, fields = line_and_fields
    removed = remove_field(line, "id")
    kept = [(key, value) for key, value in fields if key != b"id"]
    assert pieces(removed, kept)[1::2] == [value for _, value in kept]
    assert decode_json(removed) == json_object(kept)
    if len(kept) == len(fields):
        assert removed == line


def json_object(fields: list[tuple[bytes, bytes]]) -> Any:
    return decode_json(b"{" + b",".join(b'"' + key + b'":' + value for key, value in fields) + b"}")


@given(lines(), KEYS)
def test_the_text_of_a_field_is_its_last_value(
    line_and_fields: tuple[bytes, list[tuple[bytes, bytes]]], key: str
) -> None:
    line, fields = line_and_fields
    values = [value for name, value in fields if name == key.encode()]
    name = json.loads(f'"{key}"') if key.isascii() else None
    if name is not None:
        assert field_text(line, name) == (values[-1] if values else None)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"id":1}', b"{}"),
        (b'{"id":1,"x":2}', b'{"x":2}'),
        (b'{"x":2,"id":1}', b'{"x":2}'),
        (b'{"x":2, "id":1, "y":3}', b'{"x":2, "y":3}'),
        (b'{"id":1,"x":{"id":2},"id":3}', b'{"x":{"id":2}}'),
        (b'{"id":1,"id":3}', b"{}"),
        (b'{"x":2}', b'{"x":2}'),
    ],
)
def test_removing_takes_one_comma_with_the_field(line: bytes, expected: bytes) -> None:
    assert remove_field(line, "id") == expected


def test_a_field_is_found_by_its_name_however_it_is_spelled() -> None:
    assert replace_field(b'{"\\u0069d":1}', "id", b"2") == b'{"\\u0069d":2}'
    assert replace_field(b'{"x":{"id":1}}', "id", b"2") == b'{"x":{"id":1},"id":2}'


@pytest.mark.parametrize("size", [400, 4299, 5000, 100_000])
def test_numbers_of_any_length_are_passed_over(size: int) -> None:
    line = b'{"x":%s,"id":1}' % (b"7" * size)
    assert replace_field(line, "id", b"2") == line[:-2] + b"2}"
    assert remove_field(line, "id") == line[: line.index(b",")] + b"}"


@given(st.binary(max_size=12))
@example(b"")
@example(b"null")
@example(b"[]")
@example(b'["{",{"id":1}]')
@example(b'{"id":1')
@example(b'{"id"')
@example(b"{")
@example(b'{"id":1}}{"id":1}')
@example(b'{"id":1,}')
@example(b'{"id" 1}')
@example(b'{"id":1 "x":2}')
def test_what_is_no_object_is_at_worst_a_value_error(line: bytes) -> None:
    try:
        is_object = isinstance(decode_json(line), dict)
    except ValueError:
        is_object = False
    try:
        replace_field(line, "id", b"2")
        remove_field(line, "id")
        field_text(line, "id")
    except ValueError:
        assert not is_object


@pytest.mark.parametrize(
    "line", [b"", b" ", b"null", b"[]", b'"{}"', b'[{"id":1}]', b"{", b'{"id":1', b'{"id', b"{" * 100_000]
)
def test_what_is_no_object_has_no_fields(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        replace_field(line, "id", b"2")
