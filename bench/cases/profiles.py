"""Sessions of every profile: whatever they are made of, opening costs by their bytes and stalls nobody."""

from __future__ import annotations

from bench.cases.loop import LONGEST_STALL
from bench.fixtures import session
from bench.generate import chat_session
from bench.profile import PROFILES
from bench.rows import Row, measured, ratio
from bench.samples import in_turn, measurement
from bench.settings import Settings
from bench.shapes import chain_session


def run(settings: Settings) -> list[Row]:
    entries = settings.entries
    paths = {name: session(chat_session, entries=entries, profile=name) for name in PROFILES}
    paths["chain"] = session(chain_session, entries=entries)
    rows = []
    for name, path in paths.items():
        newlines, opened, replayed, worked = in_turn(
            settings.repeat_long,
            measurement("reading:count_newlines", path=str(path)),
            measurement("loop:stall_of_opening", path=str(path), busy=False),
            measurement("loop:stall_of_replay", path=str(path), busy=False),
            measurement("context:context_at_leaf", path=str(path)),
        )
        size = f"{path.stat().st_size / 1e6:,.0f} MB"
        window = f"{worked.same('messages'):,} messages"
        rows += [
            measured(f"{name}: open", "ms", opened.of("seconds", 1e3), note=size),
            ratio(f"{name}: open ÷ newline counting", opened.of("seconds"), newlines.of("seconds")),
            measured(f"{name}: peak memory, open", "MB", opened.peak_mb),
            measured(f"{name}: longest stall, open", "ms", opened.of("stall", 1e3), LONGEST_STALL),
            measured(f"{name}: replay", "ms", replayed.of("seconds", 1e3)),
            measured(f"{name}: peak memory, replay", "MB", replayed.peak_mb),
            measured(f"{name}: longest stall, replay", "ms", replayed.of("stall", 1e3), LONGEST_STALL),
            measured(f"{name}: context, first time", "ms", worked.of("first", 1e3), note=window),
        ]
    return rows
