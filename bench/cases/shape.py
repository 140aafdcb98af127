"""`path_ids` and `get_tree`: linear, and on a chain as deep as sessions get."""

from __future__ import annotations

from bench.fixtures import session
from bench.main_session import main_session
from bench.rows import Row, Target, measured, ratio
from bench.samples import in_turn, measurement
from bench.settings import Settings
from bench.shapes import chain_session

_LINEAR = Target("≤", 6)


def run(settings: Settings) -> list[Row]:
    deep = settings.chain
    chain_4th, chain, chat_4th, chat = in_turn(
        settings.repeat,
        measurement("shape:path_and_tree", path=str(session(chain_session, entries=deep // 4))),
        measurement("shape:path_and_tree", path=str(session(chain_session, entries=deep))),
        measurement("shape:path_and_tree", path=main_session(settings.entries // 4)),
        measurement("shape:path_and_tree", path=main_session(settings.entries)),
    )
    rows = []
    for name, small, large in ("chain", chain_4th, chain), ("chat", chat_4th, chat):
        size = f"{name}, {large.same('nodes'):,} entries"
        rows += [
            measured(f"path_ids, {size}", "ms", large.of("path_ids", 1e3), note=f"depth {large.same('depth'):,}"),
            ratio(f"path_ids, {name}: 4 × entries", large.of("path_ids"), small.of("path_ids"), _LINEAR),
            measured(f"get_tree, {size}", "ms", large.of("get_tree", 1e3)),
            ratio(f"get_tree, {name}: 4 × entries", large.of("get_tree"), small.of("get_tree"), _LINEAR),
            measured(f"get_tree, {name}: peak memory", "MB", large.peak_mb),
        ]
    return rows
