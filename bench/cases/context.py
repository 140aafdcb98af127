"""The context at the deepest leaf: first and again, and the same window on a path ten times as long."""

from __future__ import annotations

from bench.main_session import main_session
from bench.rows import Row, Target, measured, ratio
from bench.samples import in_turn, measurement
from bench.settings import Settings


def run(settings: Settings) -> list[Row]:
    short, long = in_turn(
        settings.repeat,
        measurement("context:context_at_leaf", path=main_session(settings.entries // 10)),
        measurement("context:context_at_leaf", path=main_session(settings.entries)),
    )
    window = f"{long.same('messages'):,} messages of {settings.entries:,} entries"
    return [
        measured("first time", "ms", long.of("first", 1e3), note=window),
        measured("again", "ms", long.of("again", 1e3), Target("≤", 1), note=window),
        ratio(
            "first: by window, not by path (10 × path)",
            long.of("first"),
            short.of("first"),
            Target("≤", 1.5),
            note=f"{short.same('messages'):,} messages of {settings.entries // 10:,} entries",
        ),
    ]
