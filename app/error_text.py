"""An error of the system as one line for people."""

from __future__ import annotations

import os


def os_error_text(error: OSError) -> str:
    """Return what the system refused, after the file that it is about."""
    place = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    return place + (error.strerror or str(error))
