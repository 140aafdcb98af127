"""Jobs that go through a whole session: twice the entries take twice as long, up to a million of them."""

from __future__ import annotations

from bench.main_session import main_session
from bench.rows import Growth, Row, Target, measured, slope
from bench.samples import in_turn, measurement
from bench.settings import Settings

_SLOPE = Target("≤", 1.05)
_JOBS = {"replay": "replay of all entries", "get_tree": "get_tree", "path_ids": "path_ids of the leaf"}


def run(settings: Settings) -> list[Row]:
    sizes = settings.sizes
    paths = [main_session(entries, window=200) for entries in sizes]
    opened = in_turn(
        settings.repeat_long, *(measurement("opening:open_until_it_answers", path=path) for path in paths)
    )
    worked = in_turn(settings.repeat_long, *(measurement("growth:linear_jobs", path=path) for path in paths))
    growths = {
        "open": Growth.of("ms", sizes, [samples.of("seconds", 1e3) for samples in opened]),
        **{name: Growth.of("ms", sizes, [samples.of(job, 1e3) for samples in worked]) for job, name in _JOBS.items()},
        "peak memory, open": Growth.of("MB", sizes, [samples.peak_mb for samples in opened]),
    }
    rows = []
    for name, growth in growths.items():
        largest = growth.points[-1]
        rows += [
            measured(f"{name}, {largest.entries:,} entries", growth.unit, largest.samples),
            slope(name, growth, _SLOPE),
        ]
    return rows
