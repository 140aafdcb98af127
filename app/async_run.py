"""Running a command's coroutine."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; an interrupt cancels it and is raised when it has ended."""
    import asyncio  # a third of the time that `--help` may take

    return asyncio.run(coroutine)
