"""Becomes the writer of a session file, and waits for another one where that is wanted (design D5)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from .errors import AppendError, SessionLockedError, SessionRewrittenError
from .jsonl_reader import JsonlReader
from .worker import finish_in_thread, run_in_thread
from .writer import LogWriter

_LOCK_POLL = 0.01


async def open_writer(
    path: Path,
    real_path: Path,
    reader: JsonlReader | None,
    *,
    durable: bool,
    create: bool,
    lock_timeout: float,
    check_wanted: Callable[[], None],
) -> LogWriter:
    """Open and lock the file at `real_path`; `create`: it must not exist yet. What is doubtful in it is written anew.

    `check_wanted` raises when the wait is over; then, and cancelled, the file is not locked. `path` is what the
    errors name: `SessionLockedError`, `SessionRewrittenError` (it was removed, or made), `AppendError`.
    """
    try:
        writer = await _wait_for_lock(real_path, durable, create, lock_timeout, check_wanted)
        try:
            if writer.is_doubtful:
                await _write_again(writer, reader)
        except BaseException:
            writer.close()
            raise
        return writer
    except SessionLockedError as error:
        raise SessionLockedError(path, error.pid) from None
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        if create:
            raise AppendError(path, error) from error
        raise SessionRewrittenError(path, "was removed by another program") from error
    except FileExistsError as error:
        raise SessionRewrittenError(path, "was made by another program meanwhile") from error
    except OSError as error:
        raise AppendError(path, error) from error


async def _wait_for_lock(
    path: Path, durable: bool, create: bool, lock_timeout: float, check_wanted: Callable[[], None]
) -> LogWriter:
    deadline = monotonic() + lock_timeout
    while True:
        check_wanted()
        finished = await finish_in_thread(LogWriter.open, path, durable=durable, create=create)
        if finished.cancelled is not None:
            with contextlib.suppress(SessionLockedError, OSError):
                finished.result().close()
            raise finished.cancelled
        try:
            return finished.result()
        except SessionLockedError:
            if monotonic() >= deadline:
                raise
        await asyncio.sleep(_LOCK_POLL)


async def _write_again(writer: LogWriter, reader: JsonlReader | None) -> None:
    unchanged = reader is not None and reader.seen.compare(writer.fd, writer.path) == "same"
    await run_in_thread(writer.write_again)
    if reader is not None and unchanged:
        # The same bytes with a new time are no rewrite.
        reader.look_again(writer.fd)
