"""Ids of entries and sessions (F-20..F-22)."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from uuid import UUID

_TRIES = 100


def new_entry_id(is_taken: Callable[[str], bool]) -> str:
    """Return 8 random hex characters that are not taken, or 32 after a hundred collisions (F-21, F-22)."""
    for _ in range(_TRIES):
        candidate = secrets.token_hex(4)
        if not is_taken(candidate):
            return candidate
    return secrets.token_hex(16)


def new_session_id(seconds: float) -> str:
    """Return a UUIDv7, lowercase and hyphenated, of the given time in seconds since 1970 (F-20)."""
    milliseconds = int(seconds * 1000) & ((1 << 48) - 1)
    value = (milliseconds << 80) | (7 << 76) | (secrets.randbits(12) << 64) | (2 << 62) | secrets.randbits(62)
    return str(UUID(int=value))
