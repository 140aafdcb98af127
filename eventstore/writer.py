"""The one owner of a session file while it is written (design D4). Everything here blocks."""

from __future__ import annotations

import contextlib
import errno
import os
import weakref
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from .errors import SessionLockedError
from .file_identity import FileIdentity, identity_of
from .lock import holder_pid, same_file, try_lock
from .temporary_name import temporary_name
from .worker import forget_pool

T = TypeVar("T")

_sync_data = getattr(os, "fdatasync", os.fsync)

# After a failed sync the system may call pages clean that are not on the disk. Who opens the file again in
# this process writes them anew from the last durable end.
_doubtful: dict[FileIdentity, int] = {}

_writers: weakref.WeakSet[LogWriter] = weakref.WeakSet()


class Written(Struct, frozen=True):
    """Where a batch came to stand. `recorded` lines are whole; `error` says why there are no more."""

    start: int
    recorded: int
    error: OSError | None
    sync_failed: bool


class LogWriter:
    """An open, locked session file. Calls must not overlap."""

    def __init__(self, path: Path, fd: int, *, durable: bool, created: bool) -> None:
        self.path = path
        self.fd = fd
        self._created = created
        self._durable = durable
        self._synced = not created
        self._durable_end = os.fstat(fd).st_size
        self.failed: OSError | None = None
        _writers.add(self)

    @classmethod
    def open(cls, path: Path, *, durable: bool, create: bool) -> LogWriter:
        """Open and lock the file; `create`: it must not exist yet. Raises `SessionLockedError`, `OSError`."""
        while True:
            flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
            if create:
                make_directory(path.parent)
                flags |= os.O_CREAT | os.O_EXCL
            fd = os.open(path, flags, 0o600)
            try:
                if not try_lock(fd):
                    raise SessionLockedError(path, holder_pid(fd))
                if same_file(fd, path):
                    return cls(path, fd, durable=durable, created=create)
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)

    @property
    def is_doubtful(self) -> bool:
        """Whether a sync of this file failed in this process, so that what it shows may not be on the disk."""
        return identity_of(os.fstat(self.fd)) in _doubtful

    def write_again(self) -> None:
        """Write what is doubtful once more, and sync it."""
        stat = os.fstat(self.fd)
        start = _doubtful[identity_of(stat)]
        # A second descriptor: with O_APPEND, Linux appends whatever the offset.
        fd = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        try:
            for offset in range(start, stat.st_size, 1 << 20):
                _write_at(fd, os.pread(fd, min(1 << 20, stat.st_size - offset), offset), offset)
            os.fsync(fd)
            sync_directory(self.path.parent)
        finally:
            os.close(fd)
        del _doubtful[identity_of(stat)]

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return os.fstat(self.fd).st_size

    def write(self, lines: Sequence[bytes], *, after_newline: bool) -> Written:
        """Append whole lines (without newline), and sync them where the writer is durable.

        `after_newline`: the file ends with a newline or is empty, else one is written first, so that nothing
        is glued to a torn line. After an error whole lines stay, and the torn rest is cut off only while it is
        the end of the file.
        """
        prefix = b"" if after_newline else b"\n"
        data = memoryview(prefix + b"\n".join(lines) + b"\n")
        written, error = 0, None
        while written < len(data):
            try:
                written += os.write(self.fd, data[written:])
                if written < len(data) and self.size != self._position():
                    raise OSError(errno.EIO, "another program wrote into the middle of an entry")
            except InterruptedError:
                continue
            except OSError as failure:
                error = failure
                break
        end = self._position() if written else self.size
        start = end - written + len(prefix)
        ends = list(accumulate((len(line) + 1 for line in lines), initial=0))
        recorded = sum(1 for stop in ends[1:] if stop <= written - len(prefix))
        if error is not None:
            self._cut_torn_rest(start + ends[recorded], end, written)
        if recorded == 0:
            return Written(start, 0, error, sync_failed=False)
        if self._durable or self._created:
            try:
                self.sync()
            except OSError as failure:
                return Written(start, 0, failure, sync_failed=True)
        else:
            self._synced = False
        return Written(start, recorded, error, sync_failed=False)

    def _position(self) -> int:
        return os.lseek(self.fd, 0, os.SEEK_CUR)

    def _cut_torn_rest(self, whole_end: int, end: int, written: int) -> None:
        if written and end > whole_end and self.size == end:
            # Where the system refuses, it stays, as behind another program's lines.
            with contextlib.suppress(OSError):
                os.ftruncate(self.fd, whole_end)

    def sync(self) -> None:
        """Bring everything written to the disk. After a failure the writer takes no more work."""
        if self.failed is not None:
            raise self.failed
        try:
            if self._created:
                os.fsync(self.fd)
                sync_directory(self.path.parent)
                self._created = False
            else:
                _sync_data(self.fd)
        except OSError as error:
            self._fail(error)
            raise
        self._synced = True
        self._durable_end = self.size

    def _fail(self, error: OSError) -> None:
        _doubtful.setdefault(identity_of(os.fstat(self.fd)), self._durable_end)
        self.failed = error

    def rewrite(self, copy: Callable[[int, int], T], size: int) -> tuple[LogWriter, T]:
        """Replace the file by what `copy(old descriptor, new descriptor)` writes; return its writer, locked,
        and what `copy` returned.

        The new file is whole, locked and synced before it takes the place of the old one, whose mode it keeps;
        after any error, and when the old one is no longer of the `size` that was copied, the old one stands as
        it was. This writer is closed on success.
        """
        temporary = temporary_name(self.path)
        fd = os.open(temporary, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            old = os.fstat(self.fd)
            os.fchmod(fd, old.st_mode & 0o7777)
            if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                _keep_owner(fd, old.st_uid, old.st_gid)
            if not try_lock(fd):
                raise OSError(errno.EDEADLK, "a new file is locked")
            copied = copy(self.fd, fd)
            os.fsync(fd)
            if self.size != size:
                raise OSError(errno.EBUSY, "another program writes to the file, which has to be migrated")
            os.replace(temporary, self.path)
        except BaseException:
            os.close(fd)
            temporary.unlink(missing_ok=True)
            raise
        successor = LogWriter(self.path, fd, durable=self._durable, created=False)
        self._release()
        try:
            sync_directory(self.path.parent)
        except OSError as error:
            successor._fail(error)
        return successor, copied

    def abandon_creation(self) -> bool:
        """Remove the file, if this writer created it and nothing in it was acknowledged; tell whether it did."""
        if not self._created or self.failed is not None or self.size:
            return False
        if same_file(self.fd, self.path):
            self.path.unlink()
        self._release()
        return True

    def close(self) -> None:
        """Sync what is not yet on the disk, and release the lock. Raises the sync's `OSError`, closed all the same."""
        if self.fd < 0 or self.abandon_creation():
            return
        try:
            if not self._synced and self.failed is None:
                self.sync()
        finally:
            self._release()

    def _release(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        _writers.discard(self)


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def make_directory(directory: Path) -> None:
    """Make a directory and what is missing above it, for its owner only, durably."""
    missing = []
    while not directory.exists():
        missing.append(directory)
        directory = directory.parent
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
        sync_directory(path.parent)


def _keep_owner(fd: int, uid: int, gid: int) -> None:
    try:
        os.fchown(fd, uid, gid)
    except PermissionError:
        # Only root may give files away; the mode is kept, and the file stays the writer's.
        return


def _write_at(fd: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(fd, view, offset)
        view, offset = view[written:], offset + written


def _close_in_child() -> None:
    # The child's copies share the parent's locks: closing them releases nothing, unlocking would.
    for writer in list(_writers):
        writer._release()
    forget_pool()


os.register_at_fork(after_in_child=_close_in_child)
