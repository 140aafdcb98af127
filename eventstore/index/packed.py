"""What is small in an index, as bytes: msgpack, and JSON for the odd values that msgpack cannot carry (ADR 9)."""

from __future__ import annotations

import json
from typing import Any

import msgspec

_JSON = b"\xc1"
"""A byte that begins no msgpack."""

_encode = msgspec.msgpack.Encoder().encode


def pack(value: Any) -> bytes:
    """Return a value as bytes: lone surrogates, infinity and integers of any size too.

    Raises `RecursionError` for what nests too deeply.
    """
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError):
        return _JSON + json.dumps(msgspec.to_builtins(value, str_keys=True)).encode("ascii")


def unpack(data: bytes, kind: Any) -> Any:
    """Return what `pack` was given, as a type. Raises `ValueError` for what is no such value."""
    if data.startswith(_JSON):
        return msgspec.convert(json.loads(data[1:]), kind, str_keys=True)
    return msgspec.msgpack.decode(data, type=kind)
