"""The flows of an agent session: navigation without a summary, an abort, the preparation of a compaction."""

from __future__ import annotations

from bench.fixtures import session
from bench.generate import KEPT, chat_session
from bench.main_session import main_session
from bench.rows import Row, Target, measured, ratio
from bench.samples import in_turn, measurement
from bench.settings import Settings

_NEAR = 100
_FACTOR = 10


def run(settings: Settings) -> list[Row]:
    path, shorter = main_session(settings.entries), main_session(settings.entries // _FACTOR)
    far = settings.entries // 20
    wide = str(session(chat_session, entries=settings.entries, tail=_FACTOR * 1000 - KEPT))
    near, farther, hooked, farther_hooked, abort, prepared, on_shorter, in_wider = in_turn(
        settings.repeat_long,
        measurement("flows:navigate", path=path, left=_NEAR),
        measurement("flows:navigate", path=path, left=_FACTOR * far),
        measurement("flows:navigate", path=path, left=far, hooked=True),
        measurement("flows:navigate", path=path, left=_FACTOR * far, hooked=True),
        measurement("flows:abort", path=shorter),
        measurement("flows:prepare", path=path),
        measurement("flows:prepare", path=shorter),
        measurement("flows:prepare", path=wide),
    )
    linear = farther_hooked.same("left") / hooked.same("left")
    wider = in_wider.same("entries") / prepared.same("entries")
    return [
        measured(
            "navigate, near", "ms", near.of("leave", 1e3), Target("≤", 1, "median"), note=f"{near.same('left')} left"
        ),
        measured("… and back", "ms", near.of("return", 1e3), Target("≤", 1, "median")),
        measured("navigate, far", "ms", farther.of("leave", 1e3), note=f"{farther.same('left'):,} entries left"),
        measured("… a hook gets what is left", "ms", hooked.of("leave", 1e3), note=f"{hooked.same('left'):,} left"),
        ratio(
            f"… linear ({linear:.1f} × entries)",
            farther_hooked.of("leave"),
            hooked.of("leave"),
            Target("≤", 1.5 * linear),
            note=f"{farther_hooked.same('left'):,} left",
        ),
        measured("abort: signal to result", "ms", abort.of("median", 1e3), Target("≤", 50, "median")),
        measured("… the worst of 20", "ms", abort.of("worst", 1e3), Target("≤", 50, "median")),
        measured(
            "prepare a compaction", "ms", prepared.of("seconds", 1e3), note=f"{prepared.same('entries'):,} entries"
        ),
        ratio(
            "prepare: by window, not by path (10 × path)",
            prepared.of("seconds"),
            on_shorter.of("seconds"),
            Target("≤", 1.5),
        ),
        ratio(
            f"prepare: linear ({wider:.1f} × window)",
            in_wider.of("seconds"),
            prepared.of("seconds"),
            Target("≤", 1.5 * wider),
            note=f"{in_wider.same('entries'):,} entries",
        ),
    ]
