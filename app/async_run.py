"""Running a command's coroutine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def run(work: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **options: P.kwargs) -> T:
    """Run a coroutine function to its end; an interrupt cancels it and is raised when it has ended."""
    with asyncio.Runner() as runner:
        runner.get_loop()
        coroutine = work(*args, **options)
        try:
            return runner.run(coroutine)
        finally:
            coroutine.close()  # one that an interrupt kept from starting
