"""Jobs at a leaf: what they cost does not depend on how long the session is, up to a million entries."""

from __future__ import annotations

from bench.main_session import main_session
from bench.rows import Growth, Row, Target, measured, slope
from bench.samples import in_turn, measurement
from bench.settings import Settings

_SLOPE = Target("≤", 0.1)
_JOBS = {
    "context_first": ("context, first time", Target("≤", 3)),
    "context": ("context, again", Target("≤", 3)),
    "path_ids": ("path_ids(limit=200)", None),
    "append": ("append", None),
    "branch_append": ("branch and append", Target("≤", 1)),
}


def run(settings: Settings) -> list[Row]:
    sizes = settings.sizes
    calls = [measurement("growth:bounded_jobs", path=main_session(entries, window=200)) for entries in sizes]
    worked = in_turn(settings.repeat, *calls)
    rows = []
    for job, (name, target) in _JOBS.items():
        growth = Growth.of("ms", sizes, [samples.of(job, 1e3) for samples in worked])
        largest = growth.points[-1]
        window = f"{worked[-1].same('messages'):,} messages" if job.startswith("context") else ""
        rows += [
            measured(f"{name}, {largest.entries:,} entries", "ms", largest.samples, target, note=window),
            slope(name, growth, _SLOPE),
        ]
    at_once = worked[-1].of("at_once", 1e3)
    rows.append(measured("branch and append, at once after a first open", "ms", at_once, Target("≤", 1)))
    return rows
