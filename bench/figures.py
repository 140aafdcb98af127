"""What a measurement returns, and the memory of the process that runs it."""

from __future__ import annotations

import sys
from resource import RUSAGE_SELF, getrusage

Figures = dict[str, float]
"""Figures by name: seconds, counts, MB (10**6 bytes)."""


def own_peak_mb() -> float:
    """The peak resident memory of this process so far, in MB."""
    return megabytes(getrusage(RUSAGE_SELF).ru_maxrss)


def megabytes(max_rss: int) -> float:
    """`ru_maxrss` in MB: it counts KiB on Linux and bytes on macOS."""
    return max_rss * (1 if sys.platform == "darwin" else 1024) / 1e6
