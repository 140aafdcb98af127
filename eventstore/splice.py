"""Change one top-level field of a line and leave every other byte as it is (design D1)."""

from __future__ import annotations

import json

# Values are only passed over: no number is converted, however long it is.
_raw_decode = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode
_BLANK = " \t\r\n"


def _fields(text: str) -> list[tuple[str, int, int, int]]:
    """Return (key, start of the key, start of the value, end of the value) of each top-level field."""
    try:
        return _find_fields(text)
    except (IndexError, RecursionError):
        raise ValueError("no object, or nested too deeply") from None


def _find_fields(text: str) -> list[tuple[str, int, int, int]]:
    found = []
    at = _skip(text, 0)
    if text[at] != "{":
        raise ValueError("no object")
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, end = _raw_decode(text, at)
        value_start = _skip(text, _skip(text, end) + 1)
        _, value_end = _raw_decode(text, value_start)
        found.append((key, at, value_start, value_end))
        at = _skip(text, value_end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _skip(text: str, at: int) -> int:
    while text[at] in _BLANK:
        at += 1
    return at


def replace_field(line: bytes, key: str, value: bytes) -> bytes:
    """Return the line with the value of a top-level field replaced, or the field added at the end.

    `line`: a JSON object without its newline. Raises `ValueError` for what is no object.
    """
    # Latin-1 keeps one character for each byte, so positions in the text are positions in the line.
    text = line.decode("latin-1")
    fields = _fields(text)
    new = value.decode("latin-1")
    spans = [(start, end) for name, _, start, end in fields if name == key]
    if not spans:
        end = text.rindex("}")
        comma = "," if fields else ""
        text = f'{text[:end]}{comma}"{key}":{new}{text[end:]}'
    for start, end in reversed(spans):
        text = text[:start] + new + text[end:]
    return text.encode("latin-1")


def remove_field(line: bytes, key: str) -> bytes:
    """Return the line without a top-level field. Raises `ValueError` for what is no object."""
    text = line.decode("latin-1")
    fields = _fields(text)
    for index in reversed(range(len(fields))):
        name, key_start, _, value_end = fields[index]
        if name != key:
            continue
        if index + 1 < len(fields):
            text = text[:key_start] + text[fields[index + 1][1] :]
        elif index > 0:
            text = text[: fields[index - 1][3]] + text[value_end:]
        else:
            text = text[:key_start] + text[value_end:]
        fields = _fields(text)
    return text.encode("latin-1")


def field_text(line: bytes, key: str) -> bytes | None:
    """Return the bytes of a top-level field's value (the last, where it stands twice), or None."""
    text = line.decode("latin-1")
    for name, _, start, end in reversed(_fields(text)):
        if name == key:
            return text[start:end].encode("latin-1")
    return None
