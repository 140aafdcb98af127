"""What reading costs whoever does it: counting newlines, and `json.loads` of every line."""

from __future__ import annotations

import json
import os
from time import perf_counter

from bench.figures import Figures

_BUFFER = 1 << 20


def count_newlines(path: str) -> Figures:
    """`readv` into one buffer of 1 MiB and `count`. Figures: `seconds`, `lines`."""
    buffer, lines = bytearray(_BUFFER), 0
    started = perf_counter()
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    while size := os.readv(descriptor, [buffer]):
        lines += buffer.count(b"\n", 0, size)
    os.close(descriptor)
    return {"seconds": perf_counter() - started, "lines": lines}


def load_every_line(path: str) -> Figures:
    """`json.loads` of each line, every dict kept. Figures: `seconds`, `lines`."""
    started = perf_counter()
    with open(path, "rb") as file:
        kept = [json.loads(line) for line in file]
    return {"seconds": perf_counter() - started, "lines": len(kept)}
