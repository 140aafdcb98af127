"""The regression check: what must not get worse, as ratios within one run, with bounds that noise does not reach.

Times are never judged: a machine that is slow or busy is as slow for the yardstick.
"""

from __future__ import annotations

from bench.fixtures import session
from bench.main_session import main_session
from bench.rows import Row, Target, ratio
from bench.samples import in_turn, measurement
from bench.settings import Settings
from bench.shapes import chain_session

_SMALL, _LARGE = 5_000, 20_000
_APPENDS = 2_000
_LINEAR, _BOUNDED = Target("≤", 8), Target("≤", 2)  # of 4 times the entries; what is quadratic takes 16


def run(settings: Settings) -> list[Row]:
    """`repeat` of the settings alone counts; the sizes are always the same."""
    small, large = (main_session(entries, window=200) for entries in (_SMALL, _LARGE))
    chain = str(session(chain_session, entries=_SMALL))
    load: dict[str, object] = {"durability": "os", "callers": 10, "appends": _APPENDS}
    newlines, loads, opened, linear_small, linear, bounded_small, bounded, thread, appended = in_turn(
        settings.repeat,
        measurement("reading:count_newlines", path=large),
        measurement("reading:load_every_line", path=large),
        measurement("opening:open_until_it_answers", path=large),
        measurement("growth:linear_jobs", path=small),
        measurement("growth:linear_jobs", path=large),
        measurement("growth:bounded_jobs", path=small),
        measurement("growth:bounded_jobs", path=large),
        measurement("writer_thread:append_ready_made", **load),
        measurement("appending:append_messages", path=chain, **load),
    )
    rows = [
        ratio("open ÷ newline counting", opened.of("seconds"), newlines.of("seconds"), Target("≤", 15)),
        ratio("open ÷ json.loads of each line", opened.of("seconds"), loads.of("seconds"), Target("≤", 0.6)),
        ratio("peak memory: open ÷ json.loads of each line", opened.peak_mb, loads.peak_mb, Target("≤", 0.6)),
        ratio("replay ÷ json.loads of each line", linear.of("replay"), loads.of("seconds"), Target("≤", 2)),
        ratio(
            "append ÷ writer thread, 10 callers",
            appended.of("per_second"),
            thread.of("per_second"),
            Target("≥", 0.04),
            choose=max,
        ),
    ]
    for job in "replay", "get_tree", "path_ids":
        rows.append(ratio(f"{job}: 4 × entries", linear.of(job), linear_small.of(job), _LINEAR))
    for job in "context", "path_ids", "append", "branch_append":
        rows.append(ratio(f"{job} at the leaf: 4 × entries", bounded.of(job), bounded_small.of(job), _BOUNDED))
    return rows
