"""What going through text costs whoever does it: looking for bytes, lower case, and folding."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from time import perf_counter

from bench.figures import Figures

_BUFFER = 256 << 10


def find(path: str, query: str) -> Figures:
    """`bytes.find` of a query that is not there. Figures: `mb_per_s`."""
    needle = query.encode()
    return _scan(path, lambda data: data.find(needle))


def lower(path: str) -> Figures:
    """`bytes.lower`. Figures: `mb_per_s`."""
    return _scan(path, bytes.lower)


def fold(path: str) -> Figures:
    """NFKC and case folding of all bytes as text. Figures: `mb_per_s`."""
    return _scan(path, lambda data: unicodedata.normalize("NFKC", data.decode("utf-8", "replace")).casefold())


def _scan(path: str, work: Callable[[bytes], object]) -> Figures:
    """Do the work on each 256 KiB of a file."""
    size = 0
    started = perf_counter()
    with open(path, "rb", buffering=0) as file:
        while data := file.read(_BUFFER):
            work(data)
            size += len(data)
    return {"mb_per_s": size / (perf_counter() - started) / 1e6}
