"""Makes a whole session file at once: it appears complete or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterable, Sequence
from pathlib import Path

from .errors import AppendError
from .header import SessionHeader, encode_header
from .temporary_name import temporary_name
from .worker import finish_in_thread, run_in_thread
from .writer import make_directory, sync_directory

_NO_HARD_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP}


async def write_session_file(path: Path, header: SessionHeader, batches: AsyncIterable[Sequence[bytes]]) -> None:
    """Write a new session: the header and batches of lines without newline.

    Durable when it returns. Cancelled or failed, nothing is left of it. Raises `AppendError`.
    """
    temporary = temporary_name(path)
    fd = -1
    try:
        try:
            await run_in_thread(make_directory, path.parent)
            fd = os.open(temporary, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            await run_in_thread(_write, fd, [encode_header(header)])
            async for lines in batches:
                await run_in_thread(_write, fd, lines)
            finished = await finish_in_thread(_publish, fd, temporary, path)
            finished.result()
            if finished.cancelled is not None:
                path.unlink()
                raise finished.cancelled
        except OSError as error:
            raise AppendError(path, error) from error
    finally:
        if fd >= 0:
            os.close(fd)
        temporary.unlink(missing_ok=True)


def _write(fd: int, lines: Sequence[bytes]) -> None:
    data = memoryview(b"".join(line + b"\n" for line in lines))
    while data:
        data = data[os.write(fd, data) :]


def _publish(fd: int, temporary: Path, path: Path) -> None:
    os.fsync(fd)
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        # What another program makes between the look and the renaming is lost.
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        os.rename(temporary, path)
    try:
        temporary.unlink(missing_ok=True)
        sync_directory(path.parent)
    except OSError:
        path.unlink()
        raise
