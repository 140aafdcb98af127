"""Listing a directory of many small sessions, the newest 50 or all of them counted: first, and from the cache."""

from __future__ import annotations

from bench.fixtures import fixture
from bench.rows import Row, measured
from bench.samples import in_turn, measurement
from bench.settings import Settings
from bench.shapes import small_sessions


def run(settings: Settings) -> list[Row]:
    directory = str(fixture(small_sessions, count=settings.sessions))
    newest, every = in_turn(
        settings.repeat,
        measurement("listing:list_twice", directory=directory, limit=50),
        measurement("listing:list_twice", directory=directory, limit=None),
    )
    rows = []
    for name, listed in ("newest 50 counted", newest), ("all counted", every):
        size = f"{listed.same('sessions'):,} sessions"
        rows += [
            measured(f"list, {name}", "ms", listed.of("first", 1e3), note=size),
            measured(f"list, {name}: again, from the cache", "ms", listed.of("again", 1e3), note=size),
            measured(f"list, {name}: peak memory", "MB", listed.peak_mb),
        ]
    return rows
