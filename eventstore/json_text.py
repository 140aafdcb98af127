"""JSON text of one line: fast and strict first, tolerant where other programs are."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import msgspec


class NestedTooDeeplyError(ValueError):
    """Raised when JSON nests beyond what the interpreter can follow from here, about 1,000 levels."""


_strict = msgspec.json.Decoder()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _parse_int(digits: str) -> int | float:
    # int() refuses very long numbers; other programs read them as a float.
    return int(digits) if len(digits) < 4000 else float(digits)


def decode_json(line: bytes) -> Any:
    """Return the value of one line.

    Lone surrogates (`\\ud83d`, which JavaScript writes) are kept as such, bytes that are not UTF-8 are
    read as U+FFFD, numbers out of range as floats. Raises `ValueError` for what is no JSON (torn lines, NaN),
    `NestedTooDeeplyError` for what nests too deeply.
    """
    try:
        return _strict.decode(line)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return json.loads(line.decode("utf-8", "replace"), parse_constant=_refuse_constant, parse_int=_parse_int)
    except RecursionError:
        raise NestedTooDeeplyError("nested too deeply") from None


def encode_json(value: Any) -> bytes:
    """Return compact UTF-8 JSON without a newline; NaN and infinity become null, as JavaScript writes them.

    A lone surrogate is written as its escape, so that what is written is always valid UTF-8.
    Raises `TypeError` for what JSON cannot carry, `ValueError` for nesting beyond the limit.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return _encode_with_escapes(value)
    except RecursionError:
        raise NestedTooDeeplyError("nested too deeply") from None


def _encode_with_escapes(value: Any) -> bytes:
    try:
        # Through JSON's own types, so that what msgspec can carry is carried here too.
        plain = msgspec.to_builtins(value, str_keys=True)
        try:
            text = json.dumps(plain, separators=(",", ":"), allow_nan=False)
        except ValueError:
            text = json.dumps(_without_nan(plain), separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise NestedTooDeeplyError("nested too deeply") from None
    return text.encode("ascii")


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return value
