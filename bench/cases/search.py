# Stand-in: an uncommitted version of this file was overwritten by mistake; its author should put it back.
"""Full-text search of a whole session, beside what going through text costs whoever does it."""

from __future__ import annotations

from bench.main_session import main_session
from bench.rows import Row, Target, measured
from bench.samples import in_turn, measurement
from bench.settings import Settings

_ASCII, _ANY, _LONGEST = Target("≥", 400), Target("≥", 100), Target("≤", 20, "median")
_NOWHERE, _NOT_ASCII, _EVERYWHERE = "zanzibar", "żanzibar", "because"


def run(settings: Settings) -> list[Row]:
    path = main_session(settings.entries)
    find, lower, fold, ascii_query, other, everywhere, busy = in_turn(
        settings.repeat,
        measurement("scanning:find", path=path, query=_NOWHERE),
        measurement("scanning:lower", path=path),
        measurement("scanning:fold", path=path),
        measurement("search:search", path=path, query=_NOWHERE),
        measurement("search:search", path=path, query=_NOT_ASCII),
        measurement("search:search", path=path, query=_EVERYWHERE),
        measurement("search:search", path=path, query=_EVERYWHERE, busy=True),
    )
    speed = "mb_per_s"
    return [
        measured("yardstick: find", "MB/s", find.of(speed), choose=max),
        measured("yardstick: lower", "MB/s", lower.of(speed), choose=max),
        measured("yardstick: NFKC and casefold", "MB/s", fold.of(speed), choose=max),
        measured("search, ASCII", "MB/s", ascii_query.of(speed), _ASCII, choose=max),
        measured("search, any text", "MB/s", other.of(speed), _ANY, choose=max),
        measured(
            "search, many hits", "MB/s", everywhere.of(speed), note=f"{everywhere.same('hits'):,} hits", choose=max
        ),
        measured("longest stall, idle loop", "ms", everywhere.of("stall", 1e3), _LONGEST),
        measured("longest stall, beside a busy task", "ms", busy.of("stall", 1e3), _LONGEST),
    ]
