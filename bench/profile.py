"""What a generated conversation is made of: the profiles of sessions that the benchmark reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """Chances are for each turn, which has about eight entries."""

    result_lines: int = 176
    """Lines of the longest tool result; shorter ones are far more frequent."""
    branch: float = 8 / 200
    """Chance that the next turn is a branch: 50 entries back at most, so that the path still grows."""
    huge_results: int = 0
    """How many tool results of 10 MB, spread evenly over the session."""


PROFILES = {
    "chat": Profile(),
    "agent": Profile(result_lines=1000),
    "branches": Profile(branch=8 / 32),
    "huge": Profile(huge_results=4),
}
"""By name: entries of 1.5 kB and a branch now and then; large tool results; many branches; a few 10 MB entries."""
