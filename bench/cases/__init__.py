"""The cases of the benchmark, by name, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable

from bench.cases import (
    append,
    bounded,
    context,
    flows,
    following,
    linear,
    listing,
    loop,
    opening,
    peers,
    profiles,
    search,
    shape,
    startup,
    tips,
    ui,
)
from bench.rows import Row
from bench.settings import Settings

CASES: dict[str, Callable[[Settings], list[Row]]] = {
    "open": opening.run,
    "context": context.run,
    "shape": shape.run,
    "loop": loop.run,
    "profiles": profiles.run,
    "search": search.run,
    "append": append.run,
    "flows": flows.run,
    "follow": following.run,
    "linear": linear.run,
    "bounded": bounded.run,
    "tips": tips.run,
    "list": listing.run,
    "startup": startup.run,
    "ui": ui.run,
    "peers": peers.run,
}
