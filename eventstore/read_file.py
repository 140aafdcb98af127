"""Reading a file by position without blocking the loop, with few descriptors open (design D2)."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

from .errors import SessionRewrittenError
from .file_identity import FileIdentity, identity_of
from .worker import run_in_thread

_MAX_IDLE = 64
_NOWAIT = getattr(os, "RWF_NOWAIT", 0)
_WOULD_BLOCK = {errno.EAGAIN, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}


_idle: OrderedDict[ReadFile, None] = OrderedDict()
# Loops in several threads share what is idle. Held while a descriptor is taken, given back or closed, never
# while it is read; a fork waits for it, so that the child finds it free.
_idle_lock = threading.Lock()
os.register_at_fork(before=_idle_lock.acquire, after_in_parent=_idle_lock.release, after_in_child=_idle_lock.release)


class ReadFile:
    """A file that is read by position. Its descriptor is closed when idle, and checked when opened again."""

    def __init__(self, path: Path, identity: FileIdentity | None = None) -> None:
        """`identity`: of the file that is meant; by default the first that is opened."""
        self.path = path
        self._fd: int | None = None
        self._identity = identity
        self._users = 0

    @contextlib.contextmanager
    def descriptor(self) -> Iterator[int]:
        """Give the open descriptor. Raises `OSError`, `SessionRewrittenError` when another file stands there now."""
        with _idle_lock:
            _idle.pop(self, None)
            self._users += 1
        try:
            if self._fd is None:
                self._fd = self._open()
            yield self._fd
        finally:
            with _idle_lock:
                self._users -= 1
                if not self._users and self._fd is not None:
                    _idle[self] = None
                while len(_idle) > _MAX_IDLE:
                    next(iter(_idle))._close_unused()

    def _open(self) -> int:
        fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        identity = identity_of(os.fstat(fd))
        if self._identity is not None and identity != self._identity:
            os.close(fd)
            raise SessionRewrittenError(self.path, "was replaced by another file")
        self._identity = identity
        return fd

    def close(self) -> None:
        """Close the descriptor; the next read opens the file again."""
        with _idle_lock:
            self._close_unused()

    def _close_unused(self) -> None:
        _idle.pop(self, None)
        if self._fd is not None and not self._users:
            os.close(self._fd)
            self._fd = None

    def stat(self) -> os.stat_result:
        """Return the status of the open file."""
        with self.descriptor() as fd:
            return os.fstat(fd)

    def read_now(self, offset: int, size: int) -> bytes | None:
        """Return up to `size` bytes, fewer only at the end of the file; None where the disk has to be waited for."""
        buffer = bytearray(size)
        with self.descriptor() as fd:
            count = _read_now(fd, buffer, offset)
        return None if count is None else bytes(memoryview(buffer)[:count])

    async def read(self, offset: int, size: int) -> bytes:
        """Return up to `size` bytes, fewer only at the end of the file."""
        data = self.read_now(offset, size)
        if data is None:
            buffer = bytearray(size)
            count = await self.read_into(buffer, offset)
            data = bytes(memoryview(buffer)[:count])
        return data

    async def read_into(self, buffer: bytearray, offset: int) -> int:
        """Fill the buffer; return the number of bytes, fewer than its length only at the end of the file."""
        with self.descriptor() as fd:
            count = _read_now(fd, buffer, offset)
            return count if count is not None else await run_in_thread(_read_all, fd, buffer, offset)


def _read_now(fd: int, buffer: bytearray, offset: int) -> int | None:
    if not _NOWAIT:
        return None
    try:
        count = os.preadv(fd, [buffer], offset, _NOWAIT)
    except OSError as error:
        if error.errno in _WOULD_BLOCK:
            return None
        raise
    # Short: the end of the file, or a part that is not in memory.
    return count if count == len(buffer) or offset + count >= os.fstat(fd).st_size else None


def _read_all(fd: int, buffer: bytearray, offset: int) -> int:
    view, count = memoryview(buffer), 0
    while count < len(buffer) and (part := os.preadv(fd, [view[count:]], offset + count)):
        count += part
    return count
