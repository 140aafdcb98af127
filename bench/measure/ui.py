"""The tree selector as a person sees it: the installed command, keys, and the frames in which they show."""

from __future__ import annotations

import re
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from bench.figures import Figures
from bench.measure.screen import Screen
from bench.measure.terminal import Terminal

_DOWN, _PAGE_DOWN, _HOME, _END = b"\x1b[B", b"\x1b[6~", b"\x1b[H", b"\x1b[F"
_ERASE, _CLOSE = b"\x7f", b"\x03"
_DOWNS, _PAGES, _JUMPS = 40, 10, 5
_WORD = "session"
_POSITION = re.compile(r"\(([\d,]+)/([\d,]+)\)")

_MOVED, _SEARCHED, _READ = 0.06, 0.3, 2.0
"""Seconds without a frame after which the screen is at rest: after a move, a letter, and the texts.

Limit: whoever paints nothing for longer and then goes on is measured too short.
"""
_LIMIT, _READING_LIMIT = 120, 900  # seconds


class _Place(NamedTuple):
    row: int
    rows: int


class _Seen(NamedTuple):
    """Seconds from a key to the first frame that shows it, and to the last that changed anything."""

    shown: float
    settled: float


def move(path: str) -> Figures:
    """Read all texts, then move.

    Figures: `first`, `read`; medians `down`, `page_down` and `jump` (End and Home), `worst_down`, until nothing
    changes any more; `peak_mb`. Times in seconds. Raises `TerminalError`.
    """
    with Terminal("tree", "-i", path) as terminal:
        figures = _start(terminal)
        _press(terminal, _HOME, lambda place, _: place.row == 1)
        jumps = []
        for _ in range(_JUMPS):
            jumps.append(_press(terminal, _END, lambda place, _: place.row == place.rows))
            jumps.append(_press(terminal, _HOME, lambda place, _: place.row == 1))
        pages = [_press(terminal, _PAGE_DOWN, lambda place, before: place.row > before.row) for _ in range(_PAGES)]
        downs = [_press(terminal, _DOWN, lambda place, before: place.row == before.row + 1) for _ in range(_DOWNS)]
        return {
            **figures,
            "down": median(downs),
            "worst_down": max(downs),
            "page_down": median(pages),
            "jump": median(jumps),
            "peak_mb": terminal.end(_CLOSE, limit=_LIMIT),
        }


def search(path: str) -> Figures:
    """Read all texts, then type a word, and erase it.

    Figures: `first`, `read`; medians `letter_shown` (until the query shows it), `letter` and `erased` (until
    nothing changes any more), `worst` of both; `peak_mb`. Times in seconds. Raises `TerminalError`.
    """
    with Terminal("tree", "-i", path) as terminal:
        figures = _start(terminal)
        typed = [_type(terminal, letter.encode(), _WORD[: at + 1]) for at, letter in enumerate(_WORD)]
        erased = [_type(terminal, _ERASE, _WORD[:left]) for left in reversed(range(len(_WORD)))]
        return {
            **figures,
            "letter_shown": median(seen.shown for seen in typed),
            "letter": median(seen.settled for seen in typed),
            "erased": median(seen.settled for seen in erased),
            "worst": max(seen.settled for seen in typed + erased),
            "peak_mb": terminal.end(_CLOSE, limit=_LIMIT),
        }


def _start(terminal: Terminal) -> Figures:
    """`first`: until rows are shown, perhaps without their texts; `read`: until all texts are read.

    Both since the start of the process. All is read when the footer does not say `reading`, and nothing paints.
    """
    first = terminal.frame_with(_has_rows, "rows of the tree", limit=_LIMIT)
    read = terminal.rest(first, quiet=_READ, limit=_READING_LIMIT, busy=lambda screen: "reading" in screen.foot)
    return {"first": first - terminal.started, "read": read - terminal.started}


def _press(terminal: Terminal, key: bytes, there: Callable[[_Place, _Place], bool]) -> float:
    """Seconds until a move is painted. `there` has the place that the footer tells, and the one before."""
    before = _place(terminal.screen)
    return _seen(terminal, key, lambda screen: there(_place(screen), before), f"{key!r}", _MOVED).settled


def _type(terminal: Terminal, key: bytes, query: str) -> _Seen:
    """`query` is what the key leaves in the footer; of an empty one, the footer has the first letter no more."""
    word = re.compile(rf"\b{query or _WORD[0]}\b")
    wanted = bool(query)
    what = f"search for {query!r}"
    return _seen(terminal, key, lambda screen: bool(word.search(screen.foot)) == wanted, what, _SEARCHED)


def _seen(terminal: Terminal, key: bytes, shown: Callable[[Screen], bool], what: str, quiet: float) -> _Seen:
    """When a key is seen. All frames are its own: the screen was at rest before, and is waited for until it is."""
    pressed = terminal.press(key)
    first = terminal.frame_with(shown, what, limit=_LIMIT)
    return _Seen(first - pressed, terminal.rest(first, quiet=quiet, limit=_LIMIT) - pressed)


def _has_rows(screen: Screen) -> bool:
    return _place(screen).row > 0 and any(line.startswith("› ") for line in screen.lines)


def _place(screen: Screen) -> _Place:
    """The selected row, counted from 1, and how many there are; zeros where the footer does not tell."""
    found = _POSITION.search(screen.foot)
    return _Place(*(int(number.replace(",", "")) for number in found.groups())) if found else _Place(0, 0)
