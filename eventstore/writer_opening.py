"""Becomes the writer of a session file, and waits for another one where that is wanted (design D5)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from .errors import SessionLockedError
from .worker import finish_in_thread
from .writer import LogWriter

_LOCK_POLL = 0.01


async def open_writer(
    path: Path, *, durable: bool, create: bool, lock_timeout: float, check_wanted: Callable[[], None]
) -> LogWriter:
    """Open and lock a file; `create`: it must not exist yet. `check_wanted` raises when the wait is over.

    Cancelled, the file is not locked. Raises `SessionLockedError`, `OSError`.
    """
    deadline = monotonic() + lock_timeout
    while True:
        check_wanted()
        finished = await finish_in_thread(LogWriter.open, path, durable=durable, create=create)
        opened = finished.result()
        if finished.cancelled is not None:
            if isinstance(opened, LogWriter):
                opened.close()
            raise finished.cancelled
        if isinstance(opened, LogWriter):
            return opened
        if monotonic() >= deadline:
            raise SessionLockedError(path, opened)
        await asyncio.sleep(_LOCK_POLL)
