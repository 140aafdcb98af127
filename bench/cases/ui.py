"""The tree selector in a terminal: from a key until its frame is out, and what reading all texts costs."""

from __future__ import annotations

from bench.main_session import main_session
from bench.rows import Row, Target, measured
from bench.samples import in_turn, measurement
from bench.settings import Settings

_FACTOR = 10
_FIRST, _MEMORY = Target("≤", 1.5, "median"), Target("≤", 150, "median")
_MOVE, _LETTER = Target("≤", 16, "median"), Target("≤", 60, "median")
_MOVE_FAR, _LETTER_FAR = Target("≤", 33, "median"), Target("≤", 300, "median")


def run(settings: Settings) -> list[Row]:
    rows = _rows(settings.entries, settings.repeat_long, (_FIRST, _MEMORY, _MOVE, _LETTER))
    if not settings.quick:
        # Once: reading the texts of a million entries takes about a minute.
        rows += _rows(_FACTOR * settings.entries, 1, (None, None, _MOVE_FAR, _LETTER_FAR))
    return rows


def _rows(entries: int, repeat: int, targets: tuple[Target | None, Target | None, Target, Target]) -> list[Row]:
    first, memory, move, letter = targets
    path = main_session(entries)
    moved, searched = in_turn(repeat, measurement("ui:move", path=path), measurement("ui:search", path=path))
    size = f"{entries:,} entries"
    return [
        measured("start to the first rows", "s", moved.of("first") + searched.of("first"), first, note=size),
        measured("start until all texts are read", "s", moved.of("read") + searched.of("read"), note=size),
        measured("Down", "ms", moved.of("down", 1e3), move, note="each a median of 40"),
        measured("… the worst", "ms", moved.of("worst_down", 1e3)),
        measured("Page Down", "ms", moved.of("page_down", 1e3), move),
        measured("Home, End", "ms", moved.of("jump", 1e3), move),
        measured("typed letter: the query shows it", "ms", searched.of("letter_shown", 1e3), letter),
        measured("… the rows stand", "ms", searched.of("letter", 1e3), letter),
        measured("erased letter: the rows stand", "ms", searched.of("erased", 1e3), letter),
        measured("… the worst letter of both", "ms", searched.of("worst", 1e3)),
        measured("peak memory, all texts read", "MB", moved.of("peak_mb"), memory, note=size),
        measured("peak memory, searched too", "MB", searched.of("peak_mb"), memory),
    ]
