"""Opening a session until its tree, labels, leaf and counts answer; whole paths are another figure."""

from __future__ import annotations

import os
from time import perf_counter

from bench.figures import Figures, own_peak_mb
from sessiontree import SessionManager


async def open_until_it_answers(path: str) -> Figures:
    """Figures: `seconds`, `entries`, and `before_mb`: the peak memory with the library imported."""
    before_mb = own_peak_mb()
    started = perf_counter()
    session = await SessionManager.open(path)
    roots, labels, leaf, entries, depth = (
        session.root_ids,
        session.labels,
        session.leaf_id,
        session.entry_count,
        len(session.path_ids(limit=100)),
    )
    seconds = perf_counter() - started
    assert roots and leaf and labels is not None and entries >= depth > 0
    await session.close()
    return {"seconds": seconds, "before_mb": before_mb, "entries": entries}


async def open_with_context(path: str, cache: str) -> Figures:
    """Open with what earlier processes left in the cache directory, and build the context of the leaf.

    Figures: `seconds`, `messages`.
    """
    os.environ["XDG_CACHE_HOME"] = cache
    started = perf_counter()
    async with await SessionManager.open(path, read_only=True) as session:
        context = await session.build_session_context()
        seconds = perf_counter() - started
    return {"seconds": seconds, "messages": len(context.messages)}
