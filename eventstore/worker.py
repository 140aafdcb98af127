"""Blocking file work: one shared pool of threads, and a loop that lets them run (design D4)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

_NUDGE_EVERY = 0.005
_NUDGE_SLEEP = 0.0001

_executor: ThreadPoolExecutor | None = None


def _pool() -> ThreadPoolExecutor:
    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(max_workers=8, thread_name_prefix="sessiontree")
    return _executor


def forget_pool() -> None:
    """Drop the pool in a forked child: its threads exist only in the parent."""
    global _executor
    _executor = None


class Finished(Generic[T]):
    """What work in a thread came to, and the cancellation that came meanwhile."""

    def __init__(self, value: T | None, error: BaseException | None, cancelled: asyncio.CancelledError | None) -> None:
        self._value = value
        self._error = error
        self.cancelled = cancelled

    def result(self) -> T:
        """Return what the work returned, or raise what it raised."""
        if self._error is not None:
            raise self._error
        return cast(T, self._value)


async def run_in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking work in a thread and return its result.

    Work that was begun is waited for, whatever is cancelled meanwhile; then the cancellation is raised.
    """
    finished = await finish_in_thread(work, *args, **kwargs)
    if finished.cancelled is not None:
        raise finished.cancelled
    return finished.result()


async def finish_in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Finished[T]:
    """Run blocking work in a thread to its end.

    For work whose result must be taken note of before a cancellation is raised.
    """
    loop = asyncio.get_running_loop()
    outcome: list[tuple[T | None, BaseException | None]] = []
    woken = loop.create_future()
    nudge: asyncio.TimerHandle

    def wake() -> None:
        if not woken.done():
            woken.set_result(None)

    def do() -> None:
        try:
            outcome.append((work(*args, **kwargs), None))
        except BaseException as error:  # noqa: BLE001 - raised where the work is waited for
            outcome.append((None, error))
        try:
            loop.call_soon_threadsafe(wake)
        except RuntimeError:
            # The loop was closed: nobody waits any more.
            return

    def let_thread_run() -> None:
        # While a loop always has a ready task, it takes the GIL back before the thread wakes; a short sleep
        # of the loop gives it away.
        nonlocal nudge
        time.sleep(_NUDGE_SLEEP)
        nudge = loop.call_later(_NUDGE_EVERY, let_thread_run)

    _pool().submit(do)
    nudge = loop.call_later(_NUDGE_EVERY, let_thread_run)
    cancelled: asyncio.CancelledError | None = None
    try:
        while not outcome:
            try:
                await woken
            except asyncio.CancelledError as error:
                cancelled = error
                woken = loop.create_future()
    finally:
        nudge.cancel()
    value, failure = outcome[0]
    return Finished(value, failure, cancelled)
