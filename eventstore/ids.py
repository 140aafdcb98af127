"""Ids of entries and sessions (F-20..F-22)."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from uuid import UUID

from .errors import InvalidEntryError

_TRIES = 100
_DRAWN_AT_ONCE = 256

_drawn: list[str] = []


def _draw() -> str:
    if not _drawn:
        digits = secrets.token_hex(4 * _DRAWN_AT_ONCE)
        _drawn.extend([digits[start : start + 8] for start in range(0, len(digits), 8)])
    return _drawn.pop()


def new_entry_id(is_taken: Callable[[str], bool], draw: Callable[[], str] | None = None) -> str:
    """Return an id that is not taken: 8 random hex characters, or what `draw` gives (F-21).

    After a hundred collisions it is 32 random hex characters (F-22). Raises `InvalidEntryError` for what can
    be no id.
    """
    draw = draw or _draw
    for _ in range(_TRIES):
        candidate = draw()
        if not isinstance(candidate, str) or not candidate:
            raise InvalidEntryError(f"an entry id must be a string that is not empty, not {candidate!r}")
        if not is_taken(candidate):
            return candidate
    return secrets.token_hex(16)


def forget_drawn_ids() -> None:
    """In a forked child: it must not hand out the parent's ids."""
    _drawn.clear()


os.register_at_fork(after_in_child=forget_drawn_ids)


def new_session_id(seconds: float) -> str:
    """Return a UUIDv7, lowercase and hyphenated, of the given time in seconds since 1970 (F-20)."""
    milliseconds = int(seconds * 1000) & ((1 << 48) - 1)
    value = (milliseconds << 80) | (7 << 76) | (secrets.randbits(12) << 64) | (2 << 62) | secrets.randbits(62)
    return str(UUID(int=value))
