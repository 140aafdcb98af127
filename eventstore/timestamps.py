"""Entry times: ISO 8601 with milliseconds and `Z` on disk (F-23), milliseconds since 1970 in comparisons."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], float]
"""Seconds since 1970, like `time.time`."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_MS = -62_135_596_800_000  # the year 1 begins
LAST_MS = 253_402_300_799_999  # the year 9999 ends


def instant_ms(value: object) -> float | None:
    """Return the instant of a stored time in milliseconds since 1970, or None where it cannot be read (T-28).

    Readable: ISO 8601 (without an offset: UTC) and a number of milliseconds, within the years 1 to 9999.
    """
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        since = moment - _EPOCH
        value = (since.days * 86_400 + since.seconds) * 1000 + since.microseconds / 1000
    if isinstance(value, int | float) and not isinstance(value, bool) and FIRST_MS <= value <= LAST_MS:
        return float(value)
    return None


def format_instant(seconds: float) -> str:
    """Return `2026-02-16T10:20:30.000Z` for seconds since 1970 (F-23)."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")[:23] + "Z"
