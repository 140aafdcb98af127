"""What reading costs whoever does it: counting newlines, decoding, and `json.loads` of every line."""

from __future__ import annotations

import json
import os
import sys
from time import perf_counter

from bench.figures import Figures
from sessiontree.eventstore.envelope import envelope_decoder

_BUFFER = 1 << 20
_CHUNK = 256 << 10


def count_newlines(path: str) -> Figures:
    """`readv` into one buffer of 1 MiB and `count`. Figures: `seconds`, `lines`."""
    buffer, lines = bytearray(_BUFFER), 0
    started = perf_counter()
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    while size := os.readv(descriptor, [buffer]):
        lines += buffer.count(b"\n", 0, size)
    os.close(descriptor)
    return {"seconds": perf_counter() - started, "lines": lines}


def decode_every_line(path: str) -> Figures:
    """Read chunks of 256 KiB and decode their envelopes at once, and number the ids in one dict: no scan does less.

    Figures: `seconds` of the decoder alone, `with_ids`, `lines`.
    """
    buffer, offset, numbers = bytearray(_CHUNK), 0, dict[str, int]()
    for_ids = 0.0
    started = perf_counter()
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    while (size := buffer.rfind(b"\n", 0, os.preadv(descriptor, [buffer], offset)) + 1) > 0:
        envelopes = envelope_decoder.decode_lines(memoryview(buffer)[:size])
        offset += size
        decoded = perf_counter()
        numbers.update(zip([envelope.id for envelope in envelopes], range(len(numbers), sys.maxsize), strict=False))
        for_ids += perf_counter() - decoded
    seconds = perf_counter() - started
    os.close(descriptor)
    return {"seconds": seconds - for_ids, "with_ids": seconds, "lines": len(numbers)}


def load_every_line(path: str) -> Figures:
    """`json.loads` of each line, every dict kept. Figures: `seconds`, `lines`."""
    started = perf_counter()
    with open(path, "rb") as file:
        kept = [json.loads(line) for line in file]
    return {"seconds": perf_counter() - started, "lines": len(kept)}
