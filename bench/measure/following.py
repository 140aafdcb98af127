"""Many followers in one process: what they cost while nothing comes, and how soon they hear of what does."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from bench.figures import Figures
from sessiontree import AbortController, AbortError, SessionManager

_RESTING = 1.0
_SETTLING = 1.5
"""Seconds until all look as seldom as they ever do."""
_APPENDS = 5


async def follow(followers: int, files: int) -> Figures:
    """So many followers of so many files, one of which is appended to by another manager.

    Figures: `share` of a core while nothing comes; `delay` of an entry in seconds, the median over its followers.
    """
    with TemporaryDirectory() as directory:
        async with AsyncExitStack() as stack:
            writers = [await SessionManager.create(cwd=directory, sessions_dir=directory) for _ in range(files)]
            for writer in writers:
                await writer.append_message({"role": "user", "content": "first"})
                if writer is not writers[0]:
                    await writer.close()
            await stack.enter_async_context(writers[0])
            readers = [
                await stack.enter_async_context(
                    await SessionManager.open(Path(str(writers[number % files].session_file)), read_only=True)
                )
                for number in range(files)
            ]
            heard: list[float] = []
            all_heard = asyncio.Event()
            stop = AbortController()

            async def hear(reader: SessionManager) -> None:
                try:
                    async for _ in reader.follow(signal=stop.signal):
                        heard.append(perf_counter())
                        if len(heard) == followers // files:
                            all_heard.set()
                except AbortError:
                    return

            tasks = [asyncio.create_task(hear(readers[number % files])) for number in range(followers)]
            await asyncio.sleep(_SETTLING)
            worked, started = process_time(), perf_counter()
            await asyncio.sleep(_RESTING)
            share = (process_time() - worked) / (perf_counter() - started)
            delays = []
            for _ in range(_APPENDS):
                heard.clear()
                all_heard.clear()
                appended = perf_counter()
                await writers[0].append_message({"role": "user", "content": "more"})
                await all_heard.wait()
                delays.append(median(heard) - appended)
            stop.abort()
            await asyncio.gather(*tasks)
    return {"share": share, "delay": median(delays)}
