"""A thousand followers in one process, of one session and of a thousand."""

from __future__ import annotations

from bench.rows import Row, measured
from bench.samples import in_turn, measurement
from bench.settings import Settings

_FOLLOWERS = 1000


def run(settings: Settings) -> list[Row]:
    files = (1,) if settings.quick else (1, _FOLLOWERS)
    calls = [measurement("following:follow", followers=_FOLLOWERS, files=count) for count in files]
    rows = []
    for count, samples in zip(files, in_turn(settings.repeat_long, *calls), strict=True):
        name = "one session" if count == 1 else f"{count:,} sessions"
        rows += [
            measured(f"{_FOLLOWERS:,} followers of {name}, at rest", "% of a core", samples.of("share", 100)),
            measured("… an entry is heard of after", "ms", samples.of("delay", 1e3)),
        ]
    return rows
