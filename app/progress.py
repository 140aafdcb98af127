"""Progress of what takes longer than a second: one line on standard error, only on a terminal."""

from __future__ import annotations

import asyncio
import shutil
import sys
from time import monotonic
from types import TracebackType
from typing import Self

from .cells import fit

_FIRST_AFTER = 1.0
_AGAIN_AFTER = 0.1
_ERASE = "\r\x1b[K"


class Progress:
    """Shows what is being done, from the second second on, and leaves nothing behind.

    `async with Progress("reading")` shows the time that it takes; called with (done, of) it shows counts.
    """

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._started = monotonic()
        self._drawn_at = 0.0
        self._counts: tuple[int, int] | None = None
        self._ticker: asyncio.Task[None] | None = None
        self._shown = sys.stderr.isatty()

    def __call__(self, done: int, of: int) -> None:
        self._counts = done, of
        self._draw()

    async def __aenter__(self) -> Self:
        if self._shown:
            self._ticker = asyncio.create_task(self._tick())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ticker is not None:
            self._ticker.cancel()
        self.erase()

    def erase(self) -> None:
        """Take the line away, before something else is printed; it comes again while the work goes on."""
        if self._drawn_at:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
            self._drawn_at = 0.0

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_AGAIN_AFTER)
            self._draw()

    def _draw(self) -> None:
        now = monotonic()
        if not self._shown or now - self._started < _FIRST_AFTER or now - self._drawn_at < _AGAIN_AFTER:
            return
        self._drawn_at = now
        so_far = f"{now - self._started:.0f} s" if self._counts is None else "{:,} of {:,}".format(*self._counts)
        text = f"{self._doing} … {so_far}"
        sys.stderr.write(_ERASE + fit(text, max(1, shutil.get_terminal_size().columns - 1)))
        sys.stderr.flush()
