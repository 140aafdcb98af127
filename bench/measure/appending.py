"""Awaited appends by concurrent callers."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Literal

from bench.figures import Figures
from bench.measure.callers import calls_per_second
from sessiontree import SessionManager

_MESSAGES = 64


async def append_messages(path: str, durability: Literal["always", "os"], callers: int, appends: int) -> Figures:
    """Append messages of 1.5 kB to a copy of the session. Figures: `per_second`."""
    text = "one line of a message that is as long as most are\n" * 26
    messages = [{"role": "user", "content": f"{number:08d} {text}"} for number in range(_MESSAGES)]
    with tempfile.TemporaryDirectory(prefix="sessiontree-bench-") as directory:
        copy = Path(directory, "session.jsonl")
        shutil.copyfile(path, copy)
        async with await SessionManager.open(copy, durability=durability) as session:
            # The yardstick's file and thread stand before its clock starts: so do our lock and descriptor.
            await session.append_message(messages[0])
            per_second = await calls_per_second(
                lambda number: session.append_message(messages[number % _MESSAGES]), callers, appends
            )
    return {"per_second": per_second}
