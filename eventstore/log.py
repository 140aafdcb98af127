"""Structured log events, `object.happened` with ids, counts and durations; never message text (design D12)."""

from __future__ import annotations

import sys
from typing import Literal


def log_event(level: Literal["info", "warning", "error"], event: str, **fields: str | int | float | None) -> None:
    """Tell the application's own structlog, where it has configured one. The library itself prints nothing.

    Who has configured structlog has imported it: nobody else pays for the import.
    """
    if "structlog" not in sys.modules:
        return
    import structlog

    if structlog.is_configured():
        getattr(structlog.get_logger("sessiontree"), level)(event, **fields)
