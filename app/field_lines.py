"""Fields of an entry as lines for people: indented like YAML, texts line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .cells import ELLIPSIS, clean, clean_lines

STEP = 2
"""Cells of one level."""
_LONGEST_WORD = 400
_SHOWN_OF_IT = 60


def field_lines(fields: Mapping[str, Any], margin: int = 0) -> Iterator[str]:
    """Yield clean lines for a JSON object, `margin` cells in, each level `STEP` cells further.

    One long ASCII word (an image, a signature) is cut, and says so.
    """
    # What stands before a value on its line, the margin of what is inside it, its name, the value.
    pending: list[tuple[str, int, str, Any]] = [(" " * margin, margin, "", dict(fields))]
    while pending:
        before, margin, name, value = pending.pop()
        if isinstance(value, dict | list) and value:
            if name:
                yield before + name
                margin += STEP
                before = " " * margin
            inside: list[tuple[str, int, str, Any]] = []
            if isinstance(value, dict):
                inside += [(" " * margin, margin, f"{clean(key)}:", item) for key, item in value.items()]
            else:
                inside += [(" " * margin + "- ", margin + STEP, "", item) for item in value]
            # The first shares its line with the dash of the list that it is in.
            inside[0] = (before + inside[0][0][margin:], *inside[0][1:])
            pending += reversed(inside)
            continue
        first, *others = _scalar_lines(value)
        if name and others:
            yield before + name
            yield from (" " * (margin + STEP) + line for line in (first, *others))
        else:
            yield f"{before}{name} {first}" if name else before + first
            yield from (" " * margin + line for line in others)


def _scalar_lines(value: Any) -> list[str]:
    if not isinstance(value, str) or not value:
        return [json.dumps(value)]
    if len(value) > _LONGEST_WORD and value.isascii() and not any(map(str.isspace, value)):
        return [f"{clean(value[:_SHOWN_OF_IT])}{ELLIPSIS} ({len(value):,} characters; --json shows them)"]
    return clean_lines(value)
