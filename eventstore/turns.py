"""Long work on the loop in turns of a millisecond, so that other tasks get theirs (design D6)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from time import perf_counter
from typing import TypeVar

from .abort import AbortSignal

T = TypeVar("T")

_TURN = 0.001


class Turns:
    """Says when a turn is over, and ends it: `if turns.over: await turns.next()`."""

    def __init__(self, signal: AbortSignal | None = None) -> None:
        """Raises `AbortError` when the signal is aborted already."""
        self._signal = signal
        self._raise_if_aborted()
        self._ends = perf_counter() + _TURN

    @property
    def over(self) -> bool:
        """Whether it is time for other tasks, or the work is to stop."""
        return perf_counter() > self._ends or (self._signal is not None and self._signal.aborted)

    async def next(self) -> None:
        """Let other tasks run, then begin a new turn. Raises `AbortError`."""
        self._raise_if_aborted()
        await asyncio.sleep(0)
        self._raise_if_aborted()
        self._ends = perf_counter() + _TURN

    def _raise_if_aborted(self) -> None:
        if self._signal is not None:
            self._signal.raise_if_aborted()


async def in_turns(items: Iterable[T], signal: AbortSignal | None = None) -> list[T]:
    """Return what an iterator gives; each step should be short. Raises `AbortError`."""
    turns = Turns(signal)
    taken: list[T] = []
    for item in items:
        taken.append(item)
        if turns.over:
            await turns.next()
    return taken
