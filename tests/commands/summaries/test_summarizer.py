"""What counts as the answer of a summarizer (N-6B, K-55, design D8 and D11)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import AbortController, AbortError, AbortSignal, SummaryError, SummaryRequest, SummaryResult
from sessiontree.commands.summaries.summarizer import make_summary

REQUEST = SummaryRequest("branch", "system", "prompt", 2_048, [])


class Stub:
    """Calls a function for its answer, and keeps what it was asked."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer
        self.asked: list[tuple[SummaryRequest, AbortSignal]] = []

    async def summarize(self, request: SummaryRequest, *, signal: AbortSignal) -> Any:
        self.asked.append((request, signal))
        answer = self.answer()
        return await answer if isinstance(answer, Awaitable) else answer


class OverloadedError(Exception):
    """As of a client."""


async def made(answer: Callable[[], Any]) -> SummaryResult:
    return await make_summary(Stub(answer), REQUEST, AbortController().signal)


def fails(error: BaseException) -> Callable[[], Any]:
    def answer() -> Any:
        raise error

    return answer


async def test_a_summarizer_is_asked_once_with_the_request_and_the_signal() -> None:
    """D11, N-69."""
    signal = AbortController().signal
    stub = Stub(lambda: "text")
    assert await make_summary(stub, REQUEST, signal) == SummaryResult("text", "stop")
    assert stub.asked == [(REQUEST, signal)]


@pytest.mark.parametrize("stop_reason", ["stop", "toolUse", "end_turn", ""])
async def test_a_whole_answer_is_the_summary_as_it_is(stop_reason: str) -> None:
    """N-6B: all but what says that it failed, was aborted or cut."""
    answer = SummaryResult(" text ", stop_reason, {"input": 1}, {"k": 1})
    assert await made(lambda: answer) is answer


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        (SummaryResult("overloaded", "error"), "overloaded"),
        (SummaryResult(" ", "error"), "the summarizer gave no reason"),
        (SummaryResult("half a", "length"), "cut"),
        (SummaryResult("half a", "max_tokens"), "cut"),
        (SummaryResult("", "length"), "cut"),
        (SummaryResult(""), "empty"),
        (SummaryResult(" \n"), "empty"),
        ("", "empty"),
        (" \n", "empty"),
        (None, "NoneType"),
        ({"text": "text"}, "dict"),
        (SummaryResult(None), "no string"),  # type: ignore[arg-type]
    ],
)
async def test_a_failed_a_cut_an_empty_or_no_summary_is_an_error(answer: object, detail: str) -> None:
    """N-6B, K-55 as settled: a cut or empty summary is not stored."""
    with pytest.raises(SummaryError, match=f"^summarization failed: .*{detail}") as caught:
        await made(lambda: answer)
    assert detail in caught.value.detail


async def test_an_answer_that_says_it_was_aborted_is_no_error_of_the_summarizer() -> None:
    """N-6B."""
    with pytest.raises(AbortError):
        await made(lambda: SummaryResult("half a", "aborted"))


@pytest.mark.parametrize(
    ("error", "detail"),
    [(OverloadedError("try later"), "try later"), (TimeoutError(), "TimeoutError")],
)
async def test_what_a_summarizer_raises_is_the_cause_of_the_error(error: Exception, detail: str) -> None:
    """N-6B, K-55, X-130: so that its HTTP status is not lost."""
    with pytest.raises(SummaryError, match=f"summarization failed: .*{detail}$") as caught:
        await made(fails(error))
    assert caught.value.__cause__ is error


async def test_an_error_of_ours_is_raised_as_it_is() -> None:
    """N-6B, D14."""
    error = SummaryError("x")
    with pytest.raises(SummaryError) as caught:
        await made(fails(error))
    assert caught.value is error


async def test_a_summarizer_that_is_no_coroutine_is_an_error() -> None:
    """K-55: it raises at the call, or returns what nobody can wait for."""

    class Plain:
        def summarize(self, request: SummaryRequest, *, signal: AbortSignal) -> Any:
            if request.purpose == "history":
                raise OverloadedError("at once")
            return "text"

    signal = AbortController().signal
    with pytest.raises(SummaryError, match="at once"):
        await make_summary(Plain(), SummaryRequest("history", "", "", 1, []), signal)
    with pytest.raises(SummaryError):
        await make_summary(Plain(), REQUEST, signal)


async def test_an_abort_of_its_own_is_passed_on() -> None:
    """D8: whoever aborted it."""
    error = AbortError("by the summarizer")
    with pytest.raises(AbortError) as caught:
        await made(fails(error))
    assert caught.value is error


async def test_once_aborted_a_summarizer_is_not_asked() -> None:
    """D8, N-39."""
    controller = AbortController()
    controller.abort()
    stub = Stub(lambda: "text")
    with pytest.raises(AbortError):
        await make_summary(stub, REQUEST, controller.signal)
    assert stub.asked == []


async def test_an_abort_ends_the_wait_and_cancels_the_summarizer() -> None:
    """D8, K-66, X-102."""
    controller, asked, cancelled = AbortController(), asyncio.Event(), asyncio.Event()

    async def answer() -> str:
        asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return "never"

    async with asyncio.timeout(20):
        summary = asyncio.ensure_future(make_summary(Stub(answer), REQUEST, controller.signal))
        await asked.wait()
        controller.abort("enough")
        with pytest.raises(AbortError, match="enough"):
            await summary
        await cancelled.wait()


async def test_a_summarizer_that_cancels_itself_has_failed() -> None:
    """K-55, D8: nobody cancelled the caller, so no cancellation leaves."""
    with pytest.raises(SummaryError, match="cancelled itself") as caught:
        await made(fails(asyncio.CancelledError()))
    assert isinstance(caught.value.__cause__, asyncio.CancelledError)


async def test_a_cancellation_of_the_caller_stays_one() -> None:
    """D8."""
    asked = asyncio.Event()

    async def answer() -> None:
        asked.set()
        await asyncio.Event().wait()

    async with asyncio.timeout(20):
        summary = asyncio.ensure_future(made(answer))
        await asked.wait()
        summary.cancel()
        with pytest.raises(asyncio.CancelledError):
            await summary
    assert summary.cancelled()


@pytest.mark.parametrize("result", [SummaryResult("x", usage=5), SummaryResult("x", details=[1])])  # type: ignore[arg-type]
async def test_usage_and_details_are_mappings(result: SummaryResult) -> None:
    """D14, K-55."""
    with pytest.raises(SummaryError, match="usage or details"):
        await made(lambda: result)
