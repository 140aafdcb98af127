"""What the tests of the agent's flows share: summarizers, conversations, and the ways to stop a flow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sessiontree import AbortController, AbortSignal, Hooks, SessionManager, SummaryRequest, SummaryResult

Answer = str | SummaryResult | Exception
Stop = Callable[[AbortController, "asyncio.Task[Any]"], object]
Make = Callable[..., Awaitable[SessionManager]]
Say = Callable[..., Awaitable[None]]


class Recording:
    """A summarizer that gives its answers one after the other, the last one again and again; exceptions it raises."""

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[SummaryRequest] = []
        self.signals: list[AbortSignal] = []
        self._answers = answers or ("the summary",)

    async def summarize(self, request: SummaryRequest, *, signal: AbortSignal) -> SummaryResult | str:
        self.requests.append(request)
        self.signals.append(signal)
        answer = self._answers[min(len(self.requests), len(self._answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Blocked(Recording):
    """A recording summarizer that answers when `release` is set; `asked` and `ended` tell how far it is.

    Cancelled, by whoever has aborted its signal, it counts that in `cancelled` and ends; a `stubborn` one waits on.
    """

    def __init__(self, *answers: Answer, stubborn: bool = False) -> None:
        super().__init__(*answers)
        self.asked = asyncio.Event()
        self.release = asyncio.Event()
        self.ended = asyncio.Event()
        self.ended.set()
        self.cancelled = 0
        self._stubborn = stubborn

    async def waits(self) -> None:
        """Return when it was asked and waits."""
        async with asyncio.timeout(20):
            await self.asked.wait()

    async def summarize(self, request: SummaryRequest, *, signal: AbortSignal) -> SummaryResult | str:
        self.ended.clear()
        self.asked.set()
        try:
            while not self.release.is_set():
                try:
                    await self.release.wait()
                except asyncio.CancelledError:
                    self.cancelled += 1
                    if not self._stubborn:
                        raise
            return await super().summarize(request, signal=signal)
        finally:
            self.ended.set()


class Slow:
    """Takes a few turns, and one to end when it is cancelled; `running` have not ended, `most` ran at once."""

    running = most = 0

    async def summarize(self, request: SummaryRequest, *, signal: AbortSignal) -> str:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            for _ in range(2):
                await asyncio.sleep(0)
        finally:
            try:
                await asyncio.sleep(0)
            finally:
                self.running -= 1
        return request.purpose


@pytest.fixture
def slow() -> Callable[[], Any]:
    """Makes slow summarizers."""
    return Slow


@pytest.fixture
def recording() -> Callable[..., Any]:
    """Makes recording summarizers: `recording()`, `recording("text")`, `recording(SummaryResult(…), Error(…))`."""
    return Recording


@pytest.fixture
async def blocked() -> AsyncIterator[Callable[..., Any]]:
    """Makes blocked summarizers, with the answers of `recording`; what still waits at the end is released."""
    made: list[Blocked] = []

    def make(*answers: Answer, stubborn: bool = False) -> Blocked:
        made.append(Blocked(*answers, stubborn=stubborn))
        return made[-1]

    yield make
    for summarizer in made:
        summarizer.release.set()
        async with asyncio.timeout(20):
            await summarizer.ended.wait()


@pytest.fixture
def say() -> Callable[..., Awaitable[None]]:
    """Appends messages with these ids, one below the other: `a…` an assistant's, others a user's; `text of <id>`."""

    async def say(session: SessionManager, *ids: str) -> None:
        for entry_id in ids:
            text = f"text of {entry_id}"
            message: dict[str, Any] = {"role": "user", "content": text}
            if entry_id.startswith("a"):
                message = {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"}
            await session.append_message(message, entry_id=entry_id)

    return say


@pytest.fixture(params=["file", "memory"])
async def conversation(request: pytest.FixtureRequest, make_file: Make, say: Say, tmp_path: Path) -> Make:
    """Makes sessions of the same messages; a file was just opened, so that its lock is still to be taken."""
    first, numbers = await make_file(), count()

    async def conversation(*ids: str) -> SessionManager:
        if request.param == "memory":
            session = SessionManager.in_memory()
            await say(session, *ids)
            return session
        if not first.entry_count:
            await say(first, *ids)
        copy = tmp_path / f"{next(numbers)}.jsonl"
        copy.write_bytes(Path(str(first.session_file)).read_bytes())
        return await SessionManager.open(copy)

    return conversation


def cancel_twice(controller: AbortController, task: asyncio.Task[Any]) -> None:
    task.cancel()
    asyncio.get_running_loop().call_soon(task.cancel)


STOPS: dict[str, Stop] = {
    "signal": lambda controller, task: controller.abort("enough"),
    "cancel": lambda controller, task: task.cancel(),
    "cancel twice": cancel_twice,
}


@pytest.fixture(params=STOPS)
def way(request: pytest.FixtureRequest) -> str:
    """The name of a way to stop a flow."""
    return str(request.param)


@pytest.fixture
def stop(way: str) -> Stop:
    """Stops a flow that way."""
    return STOPS[way]


class Stopping:
    """Stops a flow on a session; `in_time` if its leaf had not moved by then, None if it was not called."""

    in_time: bool | None = None

    def __init__(self, stop: Stop, session: SessionManager) -> None:
        self._stop = stop
        self._session = session
        self._leaf_id = session.leaf_id
        self._controller = AbortController()
        self.signal = self._controller.signal

    def __call__(self, task: asyncio.Task[Any]) -> None:
        self.in_time = self._session.leaf_id == self._leaf_id
        self._stop(self._controller, task)


@pytest.fixture
def stopping(stop: Stop) -> Callable[[SessionManager], Any]:
    """Makes what stops a flow on a session that way, and sees whether that was in time."""
    return partial(Stopping, stop)


@pytest.fixture
def hooks_that_note() -> Callable[[str, list[Any]], Hooks]:
    """Makes hooks with a plain and a slow handler before and after; the latter note what they are told."""

    def hooks_that_note(flow: str, told: list[Any]) -> Hooks:
        hooks = Hooks()

        async def slow_before(event: Any) -> None:
            await asyncio.sleep(0)

        async def slow_after(event: Any) -> None:
            await asyncio.sleep(0)
            told.append(event)

        hooks.on(f"session_before_{flow}", lambda event: None)
        hooks.on(f"session_before_{flow}", slow_before)
        hooks.on(f"session_{flow}", told.append)
        hooks.on(f"session_{flow}", slow_after)
        return hooks

    return hooks_that_note
