"""Open until tree, labels, leaf and counts answer: first beside yardsticks of reading, and in a later process."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.main_session import main_session
from bench.process import run_fresh
from bench.rows import Row, Target, measured, ratio
from bench.samples import in_turn, measurement
from bench.settings import Settings

_FACTOR = 10


class _Limits(NamedTuple):
    """What is to be reached: times newline counting, MB, ms, MB."""

    first: float
    first_mb: float
    again: float
    again_mb: float


def run(settings: Settings) -> list[Row]:
    rows = _rows(settings.entries, settings.repeat, _Limits(first=3, first_mb=80, again=10, again_mb=45))
    if not settings.quick:
        limits = _Limits(first=4, first_mb=320, again=15, again_mb=50)
        rows += _rows(_FACTOR * settings.entries, settings.repeat, limits)
    return rows


def _rows(entries: int, repeat: int, limits: _Limits) -> list[Row]:
    path = main_session(entries, window=200)
    with TemporaryDirectory(prefix="sessiontree-bench-") as cache:
        run_fresh("bench.measure.opening:open_with_context", path=path, cache=cache)
        newlines, decoded, loads, opened, again = in_turn(
            repeat,
            measurement("reading:count_newlines", path=path),
            measurement("reading:decode_every_line", path=path),
            measurement("reading:load_every_line", path=path),
            measurement("opening:open_until_it_answers", path=path),
            measurement("opening:open_with_context", path=path, cache=cache),
        )
    group = f"open {opened.same('entries'):,} entries"
    seconds = opened.of("seconds")
    context = f"and a context of {again.same('messages'):,} messages"
    return [
        measured("newline counting", "ms", newlines.of("seconds", 1e3), group=group),
        measured("json.loads of each line", "ms", loads.of("seconds", 1e3), group=group),
        measured("sessiontree, first", "ms", opened.of("seconds", 1e3), group=group),
        measured(
            "sessiontree, again", "ms", again.of("seconds", 1e3), Target("≤", limits.again), note=context, group=group
        ),
        ratio("the JSON decoder alone ÷ newline counting", decoded.of("seconds"), newlines.of("seconds")),
        ratio("… and a dict of the ids", decoded.of("with_ids"), newlines.of("seconds")),
        ratio("first open ÷ newline counting", seconds, newlines.of("seconds"), Target("≤", limits.first)),
        ratio("json.loads ÷ first open", loads.of("seconds"), seconds, Target("≥", 8)),
        measured("memory before opening, library imported", "MB", opened.of("before_mb")),
        measured("peak memory, first open", "MB", opened.peak_mb, Target("≤", limits.first_mb)),
        measured("peak memory, again", "MB", again.peak_mb, Target("≤", limits.again_mb), note=context),
        measured("peak memory, json.loads of each line", "MB", loads.peak_mb),
    ]
