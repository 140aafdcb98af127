"""The user's cache directory; deleting it is always safe."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """Return `$XDG_CACHE_HOME/sessiontree`, or the same in `~/.cache`; where nothing can be, without a home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/.cache")
    return Path(base if os.path.isabs(base) else os.devnull) / "sessiontree"
