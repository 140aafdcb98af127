"""Appends by concurrent callers, beside the same callers with one writer thread and ready-made bytes."""

from __future__ import annotations

from bench.fixtures import session
from bench.rows import Row, Target, measured, ratio
from bench.samples import in_turn, measurement
from bench.settings import Settings
from bench.shapes import chain_session


def run(settings: Settings) -> list[Row]:
    path = str(session(chain_session, entries=1000))
    rows = []
    for durability in ("os", "always"):
        for callers in (1, 10, 100):
            load: dict[str, object] = {
                "durability": durability,
                "callers": callers,
                "appends": settings.appends(durability, callers),
            }
            yardstick, ours = in_turn(
                settings.repeat,
                measurement("writer_thread:append_ready_made", **load),
                measurement("appending:append_messages", path=path, **load),
            )
            name = f"{durability}, {callers} caller" + "s" * (callers > 1)
            theirs, own = yardstick.of("per_second"), ours.of("per_second")
            rows += [
                measured(f"yardstick: {name}", "/s", theirs, choose=max),
                measured(f"append: {name}", "/s", own, choose=max),
                ratio(f"append ÷ yardstick: {name}", own, theirs, Target("≥", 0.8), choose=max),
            ]
    return rows
