"""Copies of stored JSON that every client can encode as UTF-8 JSON."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any


def sendable_text(text: str) -> str:
    """Return `text` with each lone surrogate (half of a cut emoji) replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def sendable_copy(value: Any) -> Any:
    """Return a deep copy of a JSON value, with lone surrogates as U+FFFD and infinities and NaN as None.

    Keys are cleaned like values, mappings become dicts and tuples lists; what is no JSON value is kept as
    it is. Not recursive: nesting has no limit.
    """
    top = [value]
    unfinished: list[Any] = [top]
    while unfinished:
        # A copy whose items are still the original's; giving a key a new value is safe while iterating.
        box = unfinished.pop()
        for key, item in box.items() if isinstance(box, dict) else enumerate(box):
            if isinstance(item, str):
                if not item.isascii():
                    box[key] = sendable_text(item)
            elif item is None or isinstance(item, int):
                pass
            elif isinstance(item, float):
                if not isfinite(item):
                    box[key] = None
            elif isinstance(item, Mapping):
                box[key] = copy = _copied(item)
                unfinished.append(copy)
            elif isinstance(item, list | tuple):
                box[key] = items = list(item)
                unfinished.append(items)
    return top[0]


def _copied(mapping: Mapping[Any, Any]) -> dict[Any, Any]:
    try:
        if all(map(str.isascii, mapping)):
            return dict(mapping)
    except TypeError:  # a key that is no string
        pass
    return {sendable_text(key) if isinstance(key, str) else key: item for key, item in mapping.items()}
