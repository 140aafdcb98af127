"""Where the index of a session is: beside it, or in the user's cache directory (ADR 9)."""

from __future__ import annotations

import contextlib
import os
from hashlib import sha256
from pathlib import Path

from ..cache_directory import cache_directory

_MOST_CACHED = 1 << 30
"""Bytes of indexes that are kept in the cache directory."""


def place_beside(session: Path) -> Path:
    """Return where the index is that a process writes which has appended to the session."""
    return session.with_name(f"{session.name}.idx")


def place_in_cache(session: Path) -> Path:
    """Return where the index is that others write: what is only looked at leaves its directory as it was."""
    digest = sha256(os.fsencode(session)).hexdigest()[:32]
    return cache_directory() / "indexes" / f"{digest}.idx"


def prune_cache() -> None:
    """Remove the indexes that were written longest ago, as far as there are too many bytes of them."""
    found = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(cache_directory() / "indexes"):
            with contextlib.suppress(FileNotFoundError):
                stat = entry.stat(follow_symlinks=False)
                found.append((stat.st_mtime_ns, stat.st_size, entry.path))
    left = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if left <= _MOST_CACHED:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
        left -= size
