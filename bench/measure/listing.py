"""Listing a directory of sessions twice."""

from __future__ import annotations

from time import perf_counter

from bench.figures import Figures
from sessiontree import list_sessions


async def list_twice(directory: str) -> Figures:
    """Figures: `first` and `again` in seconds, `sessions`."""
    started = perf_counter()
    sessions = await list_sessions(sessions_dir=directory)
    first = perf_counter() - started
    started = perf_counter()
    again = await list_sessions(sessions_dir=directory)
    assert len(again) == len(sessions)
    return {"first": first, "again": perf_counter() - started, "sessions": len(sessions)}
