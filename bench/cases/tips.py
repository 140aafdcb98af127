"""1,500 shared entries under 800 tips, and under twice as many: each step about doubles at most."""

from __future__ import annotations

from bench.fixtures import session
from bench.rows import Row, Target, measured, ratio
from bench.samples import in_turn, measurement
from bench.settings import Settings
from bench.shapes import tips_session

_SHARED, _TIPS = 1500, 800
_LINEAR = Target("≤", 3)


def run(settings: Settings) -> list[Row]:
    parent_id = f"n{_SHARED - 1:04d}"
    few, many = in_turn(
        settings.repeat,
        *(
            measurement(
                "shape:tree_and_children",
                path=str(session(tips_session, shared=_SHARED, tips=tips)),
                parent_id=parent_id,
            )
            for tips in (_TIPS, 2 * _TIPS)
        ),
    )
    rows = []
    for step in "open", "get_tree", "child_ids", "get_children":
        rows += [
            measured(f"{step}, {_TIPS:,} tips", "ms", few.of(step, 1e3)),
            ratio(f"{step}: 2 × tips", many.of(step), few.of(step), _LINEAR),
        ]
    return rows
