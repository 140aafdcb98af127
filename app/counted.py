"""Numbers of things in words."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Return `1 entry`, `1,000 entries`; `many` where it is not `one` with an s."""
    return f"1 {one}" if number == 1 else f"{number:,} {many or one + 's'}"


def all_entries(number: int) -> str:
    """Return `the one entry`, `all 1,000 entries`."""
    return "the one entry" if number == 1 else f"all {number:,} entries"
