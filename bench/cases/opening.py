"""Open until tree, labels, leaf and counts answer, beside the two yardsticks of reading."""

from __future__ import annotations

from bench.main_session import main_session
from bench.rows import Row, Target, measured, ratio
from bench.samples import in_turn, measurement
from bench.settings import Settings


def run(settings: Settings) -> list[Row]:
    path = main_session(settings.entries)
    newlines, loads, opened = in_turn(
        settings.repeat,
        measurement("reading:count_newlines", path=path),
        measurement("reading:load_every_line", path=path),
        measurement("opening:open_until_it_answers", path=path),
    )
    seconds = opened.of("seconds")
    return [
        measured("yardstick: newline counting", "ms", newlines.of("seconds", 1e3)),
        measured("yardstick: json.loads of each line", "ms", loads.of("seconds", 1e3)),
        measured("yardstick: its peak memory", "MB", loads.peak_mb),
        measured(f"open {opened.same('entries'):,} entries", "ms", opened.of("seconds", 1e3)),
        ratio("open ÷ newline counting", seconds, newlines.of("seconds"), Target("≤", 4)),
        ratio("json.loads ÷ open", loads.of("seconds"), seconds, Target("≥", 8)),
        measured("memory before opening, library imported", "MB", opened.of("before_mb")),
        measured("peak memory of the process", "MB", opened.peak_mb, Target("≤", 90)),
    ]
