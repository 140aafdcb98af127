"""The repository's root, and how a benchmark process leaves it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def leave_root() -> None:
    """Take the root off `sys.path`, where `python -m` put it.

    Otherwise the library's folders would also be importable as `eventstore`, `commands`, …: a second copy of
    each module, which breaks `isinstance`.
    """
    sys.path[:] = [entry for entry in sys.path if Path(entry or os.curdir).resolve() != ROOT]
