"""Chains of 10,000 and 40,000 entries: no step takes more than its share, and an append costs the same."""

from __future__ import annotations

from bench.fixtures import session
from bench.rows import Row, Target, measured, ratio
from bench.samples import in_turn, measurement
from bench.settings import Settings
from bench.shapes import chain_session

_SMALL, _LARGE = 10_000, 40_000
_LINEAR = Target("≤", 6)


def run(settings: Settings) -> list[Row]:
    small, large = in_turn(
        settings.repeat,
        measurement("work:open_read_append", path=str(session(chain_session, entries=_SMALL))),
        measurement("work:open_read_append", path=str(session(chain_session, entries=_LARGE))),
    )
    rows = []
    for step in "open", "get_tree", "context":
        rows += [
            measured(f"{step}, {_LARGE:,} entries", "ms", large.of(step, 1e3)),
            ratio(f"{step}: 4 × entries", large.of(step), small.of(step), _LINEAR),
        ]
    rows += [
        measured(f"one of 200 appends, {_LARGE:,} entries", "µs", large.of("append", 1e6)),
        ratio("append: 4 × entries", large.of("append"), small.of("append"), Target("≤", 1.5)),
        measured(f"peak memory, {_LARGE:,} entries", "MB", large.peak_mb),
        ratio("peak memory: 4 × entries", large.peak_mb, small.peak_mb, _LINEAR),
    ]
    return rows
