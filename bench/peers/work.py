"""What every peer does: append messages one by one, load them in a new instance, branch, list the branches."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Protocol

from bench.figures import Figures

Mark = str | int
"""Names the place below a message in the peer's own way."""
Message = dict[str, str]

_BRANCHES = 10


class Peer(Protocol):
    """One conversation in a directory."""

    async def append(self, message: Message) -> Mark:
        """Append below the last message, as durably as the peer does by default."""

    async def load(self) -> int:
        """Read what a model gets at the last message; return how many messages it has."""

    async def branch(self, mark: Mark) -> None:
        """Go back: the next message comes below that place."""

    async def list_branches(self) -> int:
        """Return how many branches there are, the first one counted."""


Open = Callable[[Path], AbstractAsyncContextManager[Peer]]


async def do_work(open_peer: Open, messages: int) -> Figures:
    """Messages of 1.5 kB, user and assistant in turn.

    Figures, in seconds: `append` (median), `load` (opening with it), `branch` (in the middle, with one append;
    median of 10), `list`; and `mb`, what lies on the disk before there are branches.
    """
    assert messages % 4 == 0  # the middle is the end of a turn
    with tempfile.TemporaryDirectory(prefix="sessiontree-bench-") as name:
        directory = Path(name)
        marks, appending, branching = [], [], []
        async with open_peer(directory) as peer:
            for number in range(messages):
                message = _message(number)
                started = perf_counter()
                marks.append(await peer.append(message))
                appending.append(perf_counter() - started)
        megabytes = sum(entry.stat().st_size for entry in os.scandir(directory)) / 1e6
        started = perf_counter()
        async with open_peer(directory) as peer:
            assert await peer.load() == messages
            loaded = perf_counter() - started
            for _ in range(_BRANCHES):
                started = perf_counter()
                await peer.branch(marks[messages // 2 - 1])
                await peer.append(_message(messages // 2))
                branching.append(perf_counter() - started)
            assert await peer.load() == messages // 2 + 1
            started = perf_counter()
            assert await peer.list_branches() == 1 + _BRANCHES
            listed = perf_counter() - started
    return {
        "append": median(appending),
        "load": loaded,
        "branch": median(branching),
        "list": listed,
        "mb": megabytes,
    }


def _message(number: int) -> Message:
    text = "one line of a message that is as long as most are\n" * 29
    return {"role": "assistant" if number % 2 else "user", "content": f"{number:08d} {text}"}
