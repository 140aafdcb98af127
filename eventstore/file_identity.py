"""Which file it is, whatever its names: device and inode."""

from __future__ import annotations

import os

FileIdentity = tuple[int, int]


def identity_of(stat: os.stat_result) -> FileIdentity:
    """Return (device, inode)."""
    return stat.st_dev, stat.st_ino
