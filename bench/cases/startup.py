"""From nothing to a library and to a command: whole processes, the start of the interpreter with them."""

from __future__ import annotations

import sys
from time import perf_counter

from bench.process import run_command
from bench.rows import Row, Target, measured
from bench.settings import Settings

_RUNS = 10
_SCRIPTS = {
    "the interpreter alone": ("pass", None),
    "import sessiontree": ("import sessiontree", Target("≤", 120, judged="median")),
    "from sessiontree import SessionManager": ("from sessiontree import SessionManager", None),
    "sessiontree --help": (
        "import sys; sys.argv[0] = 'sessiontree'; from sessiontree.app.cli import main; main()",
        Target("≤", 150, judged="median"),
    ),
}


def run(settings: Settings) -> list[Row]:
    milliseconds: dict[str, list[float]] = {name: [] for name in _SCRIPTS}
    for number in range(_RUNS + 1):
        for name, (script, _) in _SCRIPTS.items():
            started = perf_counter()
            run_command([sys.executable, "-P", "-c", script, "--help"])
            if number:  # the first run may have to compile
                milliseconds[name].append((perf_counter() - started) * 1e3)
    return [measured(name, "ms", milliseconds[name], target) for name, (_, target) in _SCRIPTS.items()]
