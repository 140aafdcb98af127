"""The name of a file until it is whole."""

from __future__ import annotations

import secrets
from pathlib import Path


def temporary_name(path: Path) -> Path:
    """Return a new hidden name beside the path that the file will get."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
