"""The longest stall of the loop while a session opens: on an idle loop, beside a task that never rests."""

from __future__ import annotations

from bench.main_session import main_session
from bench.rows import Row, Target, measured
from bench.samples import in_turn, measurement
from bench.settings import Settings

_LONGEST = Target("≤", 20, judged="median")


def run(settings: Settings) -> list[Row]:
    path = main_session(settings.entries)
    idle, busy = in_turn(
        settings.repeat,
        measurement("loop:stall_of_opening", path=path, busy=False),
        measurement("loop:stall_of_opening", path=path, busy=True),
    )
    rows = []
    for name, samples in ("idle loop", idle), ("beside a busy task", busy):
        worst, quiet = max(samples.of("stall", 1e3)), max(samples.of("quiet", 1e3))
        note = f"worst {worst:.1f}; without opening {quiet:.1f}"
        rows += [
            measured(f"longest stall, {name}", "ms", samples.of("stall", 1e3), _LONGEST, note=note),
            measured(f"open, {name}", "ms", samples.of("seconds", 1e3)),
        ]
    return rows
