"""Cancellation: steps that must not stop half way, and whose cancellation it is (design D8)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def carry_out(work: Coroutine[Any, Any, T]) -> T:
    """Run work to its end in a task of its own and return its result; a cancellation meanwhile is raised then.

    What the work raises is the cause of that cancellation.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled from None if task.cancelled() else task.exception()
    return task.result()


def is_being_cancelled() -> bool:
    """Tell whether the running task is being cancelled, or a `CancelledError` came from what it waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
