"""What the tests of the agent's flows share: summarizers that record what they are asked, or wait to be released."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from sessiontree import AbortSignal, SessionManager, SummaryRequest, SummaryResult

Answer = str | SummaryResult | Exception


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
