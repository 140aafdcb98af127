"""What is done with a session of any size: the jobs that go through all of it, and those that must not."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.figures import Figures
from bench.measure.settled import settled
from sessiontree import SessionManager

_WINDOW = 200
_MANY, _FEW = 500, 100


async def linear_jobs(path: str) -> Figures:
    """Figures, in seconds: `replay` (every entry with its body), `path_ids` of the leaf, `get_tree`."""
    async with await SessionManager.open(path, read_only=True) as session:
        await settled()
        started = perf_counter()
        entries = 0
        async for _ in session.scan_entries():
            entries += 1
        replayed = perf_counter()
        depth = len(session.path_ids())
        walked = perf_counter()
        tree = await session.get_tree()
        built = perf_counter()
        assert entries == session.entry_count >= depth and tree
    return {"replay": replayed - started, "path_ids": walked - replayed, "get_tree": built - walked}


async def bounded_jobs(path: str) -> Figures:
    """Work at the leaf of a copy. Figures, in seconds, each but `context_first` a median of 100 or 500.

    `at_once`: branch (100 entries back) and append while an index may be written, since this is the first open;
    with that done: `context_first`, `context`, `path_ids` (200 of them), `append`, `branch_append`; and `messages`,
    those of the context.
    """
    with tempfile.TemporaryDirectory(prefix="sessiontree-bench-") as directory:
        copy = Path(directory, "session.jsonl")
        shutil.copyfile(path, copy)
        # Not "always": waiting for the disk would hide a scan of all entries.
        async with await SessionManager.open(copy, durability="os") as session:
            leaf_id, fork = session.leaf_id, session.path_ids(limit=_WINDOW // 2)[0]
            assert leaf_id is not None

            async def walk() -> None:
                session.path_ids(limit=_WINDOW)

            async def append() -> None:
                await session.append_message({"role": "user", "content": "one more"})

            async def branch_and_append() -> None:
                session.branch(fork)
                await append()

            at_once = await _each(branch_and_append, _FEW)
            session.branch(leaf_id)
            await settled()
            started = perf_counter()
            context = await session.build_session_context()
            first = perf_counter() - started
            return {
                "at_once": at_once,
                "context_first": first,
                "context": await _each(session.build_session_context, _FEW),
                "path_ids": await _each(walk, _MANY),
                "append": await _each(append, _MANY),
                "branch_append": await _each(branch_and_append, _MANY),
                "messages": len(context.messages),
            }


async def _each(job: Callable[[], Awaitable[object]], times: int) -> float:
    """Seconds of one of them, the median."""
    seconds = []
    for _ in range(times):
        started = perf_counter()
        await job()
        seconds.append(perf_counter() - started)
    return median(seconds)
