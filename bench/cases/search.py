"""Full-text search of the whole session, beside what going through its bytes costs alone."""

from __future__ import annotations

from bench.cases.loop import LONGEST_STALL
from bench.main_session import main_session
from bench.rows import Row, Target, measured
from bench.samples import Samples, in_turn, measurement
from bench.settings import Settings

_NOWHERE, _SOME, _EVERYWHERE, _NOT_ASCII = "nothing-like-this", "module_build", "session", "日本語"
_ASCII, _ANY = Target("≥", 400), Target("≥", 100)


def run(settings: Settings) -> list[Row]:
    path = main_session(settings.entries)
    find, lower, fold, nowhere, some, everywhere, not_ascii, busy = in_turn(
        settings.repeat,
        measurement("scanning:find", path=path, query=_NOWHERE),
        measurement("scanning:lower", path=path),
        measurement("scanning:fold", path=path),
        measurement("search:search", path=path, query=_NOWHERE),
        measurement("search:search", path=path, query=_SOME),
        measurement("search:search", path=path, query=_EVERYWHERE),
        measurement("search:search", path=path, query=_NOT_ASCII),
        measurement("search:search", path=path, query=_EVERYWHERE, busy=True),
    )
    stalls = {
        "ASCII, no hit": nowhere,
        "most entries are hits": everywhere,
        "not ASCII": not_ascii,
        "most entries are hits, beside a busy task": busy,
    }
    return [
        _speed("yardstick: bytes.find", find),
        _speed("yardstick: bytes.lower", lower),
        _speed("yardstick: NFKC and casefold", fold),
        _speed("search: ASCII, no hit", nowhere, _ASCII),
        _speed("search: ASCII, few hits", some, _ASCII, f"{some.same('hits'):,} hits"),
        _speed("search: ASCII, most entries are hits", everywhere, note=f"{everywhere.same('hits'):,} hits"),
        _speed("search: not ASCII", not_ascii, _ANY, f"{not_ascii.same('hits'):,} hits"),
        *(measured(f"longest stall: {name}", "ms", of.of("stall", 1e3), LONGEST_STALL) for name, of in stalls.items()),
        measured("memory before the search, session open", "MB", everywhere.of("before_mb")),
        measured("peak memory of the process", "MB", everywhere.peak_mb),
    ]


def _speed(figure: str, samples: Samples, target: Target | None = None, note: str = "") -> Row:
    return measured(figure, "MB/s", samples.of("mb_per_s"), target, note=note, choose=max)
