"""One writer for a session: `flock` on the session file itself (design D5)."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def try_lock(fd: int) -> bool:
    """Take the lock of an open file if nobody holds it. The lock goes with the descriptor."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def same_file(fd: int, path: Path) -> bool:
    """Tell whether the path still leads to the open file: a lock on a replaced file is worth nothing."""
    try:
        there = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return os.path.samestat(there, os.fstat(fd))


def holder_pid(fd: int) -> int | None:
    """Return the process that holds the lock of an open file, where the system tells."""
    stat = os.fstat(fd)
    wanted = f"{os.major(stat.st_dev):02x}:{os.minor(stat.st_dev):02x}:{stat.st_ino}"
    try:
        table = Path("/proc/locks").read_text()
    except OSError:
        return None
    for line in table.splitlines():
        fields = line.split()
        if len(fields) > 5 and fields[1] == "FLOCK" and fields[5] == wanted:
            return int(fields[4])
    return None
