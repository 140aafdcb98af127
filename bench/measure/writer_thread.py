"""What appending costs whoever does it: callers, futures and one writer thread, with ready-made bytes."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from queue import SimpleQueue

from bench.figures import Figures
from bench.measure.callers import calls_per_second

_MOST_LINES = 1024  # of one writev
_LINE = b'{"type":"message","text":"' + b"x" * 1472 + b'"}\n'

_Job = tuple[bytes, "asyncio.Future[None]"]


class _Writer:
    """One thread that writes what has gathered, syncs once for all of it, and answers its futures."""

    def __init__(self, path: str, *, sync: bool) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._sync = sync
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def append(self, line: bytes) -> asyncio.Future[None]:
        future = self._loop.create_future()
        self._jobs.put((line, future))
        return future

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join()
        os.close(self._descriptor)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            batch = [job]
            while len(batch) < _MOST_LINES and not self._jobs.empty():
                if (job := self._jobs.get()) is None:
                    return
                batch.append(job)
            os.writev(self._descriptor, [line for line, _ in batch])
            if self._sync:
                os.fdatasync(self._descriptor)
            self._loop.call_soon_threadsafe(_answer, batch)


async def append_ready_made(durability: str, callers: int, appends: int) -> Figures:
    """`appends` lines of 1.5 kB by `callers` tasks, each awaiting its own. Figures: `per_second`."""
    with tempfile.TemporaryDirectory(prefix="sessiontree-bench-") as directory:
        writer = _Writer(os.path.join(directory, "session.jsonl"), sync=durability == "always")
        per_second = await calls_per_second(lambda _: writer.append(_LINE), callers, appends)
        writer.close()
    return {"per_second": per_second}


def _answer(batch: list[_Job]) -> None:
    for _, future in batch:
        if not future.done():
            future.set_result(None)
