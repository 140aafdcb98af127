"""One session's day: open, tree, context, 200 appends."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from time import perf_counter

from bench.figures import Figures
from sessiontree import SessionManager

_APPENDS = 200


async def open_read_append(path: str) -> Figures:
    """Work on a copy. Figures, in seconds: `open`, `get_tree`, `context` and `append` (of one)."""
    with tempfile.TemporaryDirectory(prefix="sessiontree-bench-") as directory:
        copy = Path(directory, "session.jsonl")
        shutil.copyfile(path, copy)
        started = perf_counter()
        # Not "always": waiting for the disk would hide a scan of all entries.
        async with await SessionManager.open(copy, durability="os") as session:
            opened = perf_counter()
            tree = await session.get_tree()
            built = perf_counter()
            context = await session.build_session_context()
            replayed = perf_counter()
            for number in range(_APPENDS):
                await session.append_message({"role": "user", "content": f"append {number}"})
            appended = perf_counter()
            assert len(tree) == 1 and len(context.messages) == session.entry_count - _APPENDS
    return {
        "open": opened - started,
        "get_tree": built - opened,
        "context": replayed - built,
        "append": (appended - replayed) / _APPENDS,
    }
