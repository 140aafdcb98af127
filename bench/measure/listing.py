"""Listing a directory of sessions twice; the catalogue cache of a fresh process is empty."""

from __future__ import annotations

from time import perf_counter

from bench.figures import Figures
from sessiontree import list_sessions


async def list_twice(directory: str, limit: int | None) -> Figures:
    """List with names and counts of the newest `limit`. Figures: `first` and `again` in seconds, `sessions`."""
    started = perf_counter()
    sessions = await list_sessions(directory, limit=limit)
    first = perf_counter() - started
    started = perf_counter()
    again = await list_sessions(directory, limit=limit)
    seconds = perf_counter() - started
    assert [info.path for info in again] == [info.path for info in sessions]
    return {"first": first, "again": seconds, "sessions": len(sessions)}
