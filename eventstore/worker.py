"""Blocking file work: one shared pool of threads, and a loop that lets them run (design D4)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

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


async def run_in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking work in a thread and return its result.

    Work that was begun is waited for, whatever is cancelled meanwhile; then the cancellation is raised.
    """
    future, cancelled = await finish_in_thread(work, *args, **kwargs)
    if cancelled is not None:
        raise cancelled
    return future.result()


async def finish_in_thread(
    work: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> tuple[asyncio.Future[T], asyncio.CancelledError | None]:
    """Run blocking work in a thread to its end; return its done future, and the cancellation that came meanwhile.

    For work whose result must be taken note of before the cancellation is raised.
    """
    loop = asyncio.get_running_loop()
    future = loop.run_in_executor(_pool(), lambda: work(*args, **kwargs))
    nudge: asyncio.TimerHandle

    def let_thread_run() -> None:
        # While a loop always has a ready task, it takes the GIL back before the thread wakes; a short sleep
        # of the loop gives it away.
        nonlocal nudge
        time.sleep(_NUDGE_SLEEP)
        nudge = loop.call_later(_NUDGE_EVERY, let_thread_run)

    nudge = loop.call_later(_NUDGE_EVERY, let_thread_run)
    cancelled: asyncio.CancelledError | None = None
    try:
        while not future.done():
            try:
                await asyncio.wait((future,))
            except asyncio.CancelledError as error:
                cancelled = error
    finally:
        nudge.cancel()
    if cancelled is not None:
        # Mark the outcome as looked at: the caller may raise the cancellation instead.
        future.exception()
    return future, cancelled
