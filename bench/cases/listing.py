"""Listing a directory of many small sessions, first and again."""

from __future__ import annotations

from bench.fixtures import fixture
from bench.rows import Row, measured
from bench.samples import in_turn, measurement
from bench.settings import Settings
from bench.shapes import small_sessions


def run(settings: Settings) -> list[Row]:
    directory = str(fixture(small_sessions, count=settings.sessions))
    (listed,) = in_turn(settings.repeat, measurement("listing:list_twice", directory=directory))
    size = f"{listed.same('sessions'):,} sessions"
    return [
        measured(f"list {size}", "ms", listed.of("first", 1e3)),
        measured(f"list {size} again, same process", "ms", listed.of("again", 1e3)),
        measured("peak memory of the process", "MB", listed.peak_mb),
    ]
