"""The longest stall of the loop by a job on a whole session: on an idle loop, beside a task that never rests."""

from __future__ import annotations

from bench.main_session import main_session
from bench.rows import Row, Target, measured
from bench.samples import in_turn, measurement
from bench.settings import Settings

LONGEST_STALL = Target("≤", 20, judged="median")
_JOBS = {"open": "stall_of_opening", "replay": "stall_of_replay"}
_LOOPS = {"idle loop": False, "beside a busy task": True}


def run(settings: Settings) -> list[Row]:
    path = main_session(settings.entries)
    names = [f"{job}, {loop}" for job in _JOBS for loop in _LOOPS]
    calls = [
        measurement(f"loop:{measure}", path=path, busy=busy) for measure in _JOBS.values() for busy in _LOOPS.values()
    ]
    rows = []
    for name, samples in zip(names, in_turn(settings.repeat_long, *calls), strict=True):
        worst, quiet = max(samples.of("stall", 1e3)), max(samples.of("quiet", 1e3))
        note = f"worst {worst:.1f}; before {quiet:.1f}"
        rows += [
            measured(f"longest stall: {name}", "ms", samples.of("stall", 1e3), LONGEST_STALL, note=note),
            measured(name, "ms", samples.of("seconds", 1e3)),
        ]
    return rows
