"""Requests to a summarizer when their flow is aborted or cancelled: none is waited for, none is left, none counts."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from sessiontree import (
    AbortController,
    AbortSignal,
    AgentSession,
    AgentSettings,
    CompactionCancelledError,
    CompactionSettings,
    NavigateResult,
    SessionManager,
    SummaryError,
    SummaryRequest,
    SummaryResult,
)

Summarizers = Callable[..., Any]
Say = Callable[..., Awaitable[None]]
Flow = Callable[[AgentSession, AbortSignal | None], Awaitable[Any]]
Stop = Callable[[AgentSession, AbortController, "asyncio.Task[Any]"], object]

SMALL = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=1))
ABORTED = NavigateResult(cancelled=True, aborted=True)
FLOWS: dict[str, Flow] = {
    "navigate": lambda agent, signal: agent.navigate_tree("a1", summarize=True, signal=signal),
    "compact": lambda agent, signal: agent.compact(signal=signal),
}
flows = pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)


def abort_all(agent: AgentSession, controller: AbortController, task: asyncio.Task[Any]) -> None:
    agent.abort_branch_summary()
    agent.abort_compaction()


def abort_in_thread(agent: AgentSession, controller: AbortController, task: asyncio.Task[Any]) -> None:
    thread = threading.Thread(target=controller.abort)
    thread.start()
    thread.join()


STOPS: dict[str, Stop] = {
    "signal": lambda agent, controller, task: controller.abort(),
    "signal, in a thread": abort_in_thread,
    "abort method": abort_all,
    "cancel": lambda agent, controller, task: task.cancel(),
}
stops = pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS)


async def outcome_of(task: asyncio.Future[Any]) -> Any:
    async with asyncio.timeout(20):
        await asyncio.wait((task,))
    return asyncio.CancelledError() if task.cancelled() else task.exception() or task.result()


def was_stopped(outcome: Any) -> bool:
    return isinstance(outcome, asyncio.CancelledError | CompactionCancelledError) or outcome == ABORTED


def state(session: SessionManager) -> tuple[Any, ...]:
    return session.leaf_id, session.entry_ids()


@pytest.fixture(autouse=True)
async def faults() -> AsyncIterator[list[Any]]:
    """What the loop has to complain of, such as an exception that nobody asked for."""
    faults: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    yield faults
    gc.collect()
    assert faults == []


@pytest.fixture
async def session(say: Say) -> SessionManager:
    """A session whose last turn is split by a compaction: two requests at once."""
    session = SessionManager.in_memory()
    await say(session, "u1", "a1", "u2", "a2", "a3")
    return session


@flows
@stops
async def test_a_request_has_ended_when_its_flow_has(
    session: SessionManager, blocked: Summarizers, flow: Flow, stop: Stop
) -> None:
    """N-13, K-66, D8: cancelled once, with its signal aborted where the flow's is, and without a task left."""
    summarizer, controller, before = blocked(), AbortController(), (state(session), asyncio.all_tasks())
    agent = AgentSession(session, summarizer=summarizer, settings=SMALL)
    task = asyncio.ensure_future(flow(agent, controller.signal))
    await summarizer.asked.wait()
    stop(agent, controller, task)
    assert was_stopped(await outcome_of(task))
    assert summarizer.ended.is_set()
    assert summarizer.cancelled == (1 if flow is FLOWS["navigate"] else 2)
    assert (state(session), asyncio.all_tasks()) == before


@flows
@stops
@pytest.mark.parametrize("late", ["an answer", SummaryResult("cut", "length"), ValueError("late")], ids=repr)
async def test_a_summarizer_that_ignores_its_signal_holds_nobody_up(
    session: SessionManager, blocked: Summarizers, flow: Flow, stop: Stop, late: Any
) -> None:
    """D8, D11: the flow ends while the request goes on; what comes late is dropped, whatever it is."""
    summarizer, controller, before = blocked(late, stubborn=True), AbortController(), state(session)
    agent = AgentSession(session, summarizer=summarizer, settings=SMALL)
    task = asyncio.ensure_future(flow(agent, controller.signal))
    await summarizer.asked.wait()
    stop(agent, controller, task)
    assert was_stopped(await outcome_of(task))
    assert not summarizer.ended.is_set()
    assert state(session) == before
    stragglers = asyncio.all_tasks() - {asyncio.current_task()}
    summarizer.release.set()
    async with asyncio.timeout(20):
        await asyncio.gather(*stragglers, return_exceptions=True)
    assert state(session) == before
    agent.summarizer = None
    await agent.navigate_tree("a1")


class Halves:
    """Answers the request for the history with what it is given; the one for the turn's beginning waits."""

    def __init__(self, history: Exception | SummaryResult, *, stubborn: bool) -> None:
        self._history = history
        self._stubborn = stubborn
        self.release = asyncio.Event()
        self.asked = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.waiting = False

    async def summarize(self, request: SummaryRequest, *, signal: AbortSignal) -> SummaryResult | str:
        if request.purpose == "history":
            await self.asked.wait()
            if isinstance(self._history, Exception):
                raise self._history
            return self._history
        self.waiting = True
        self.asked.set()
        try:
            while not self.release.is_set():
                try:
                    await self.release.wait()
                except asyncio.CancelledError:
                    self.cancelled.set()
                    if not self._stubborn:
                        raise
            raise ValueError("late")
        finally:
            self.waiting = False


@pytest.mark.parametrize(
    ("history", "error"),
    [
        (ValueError("no answer"), SummaryError),
        (SummaryResult("cut", "length"), SummaryError),
        (SummaryResult("", "aborted"), CompactionCancelledError),
    ],
)
@pytest.mark.parametrize("stubborn", [False, True])
async def test_when_one_of_two_requests_fails_the_other_is_cancelled(
    session: SessionManager, history: Any, error: type[Exception], stubborn: bool
) -> None:
    """K-53, K-55, K-66: nothing is written, and a stubborn one holds nobody up."""
    summarizer, before = Halves(history, stubborn=stubborn), state(session)
    tasks = asyncio.all_tasks()
    with pytest.raises(error):
        async with asyncio.timeout(20):
            await AgentSession(session, summarizer=summarizer, settings=SMALL).compact()
    assert (state(session), summarizer.waiting) == (before, stubborn)
    summarizer.release.set()
    await asyncio.gather(*asyncio.all_tasks() - tasks, return_exceptions=True)
    assert state(session) == before


async def test_a_cancellation_while_the_other_request_ends_waits_for_that(session: SessionManager) -> None:
    """K-53, D8: it wins over the failure, and no request and no task is left."""
    summarizer, before = Halves(ValueError("no answer"), stubborn=True), (state(session), asyncio.all_tasks())
    task = asyncio.ensure_future(AgentSession(session, summarizer=summarizer, settings=SMALL).compact())
    await summarizer.cancelled.wait()
    task.cancel()
    summarizer.release.set()
    assert isinstance(await outcome_of(task), asyncio.CancelledError)
    assert not summarizer.waiting
    assert (state(session), asyncio.all_tasks()) == before


async def test_a_summarizer_that_says_it_was_aborted_ends_a_compaction_as_aborted(
    session: SessionManager, recording: Summarizers
) -> None:
    """K-66: though nobody has aborted the flow."""
    agent = AgentSession(session, summarizer=recording(SummaryResult("", "aborted")), settings=SMALL)
    with pytest.raises(CompactionCancelledError) as caught:
        await agent.compact()
    assert (caught.value.aborted, session.leaf_id) == (True, "a3")


@pytest.mark.parametrize(
    ("flow", "other"),
    [
        (FLOWS["navigate"], AgentSession.abort_compaction),
        (FLOWS["compact"], AgentSession.abort_branch_summary),
    ],
    ids=FLOWS,
)
async def test_the_abort_of_one_kind_of_flow_is_not_the_others(
    session: SessionManager, blocked: Summarizers, flow: Flow, other: Callable[[AgentSession], None]
) -> None:
    """N-39, K-76: and without a flow it does nothing, now or later."""
    summarizer = blocked()
    agent = AgentSession(session, summarizer=summarizer, settings=SMALL)
    agent.abort_branch_summary()
    agent.abort_compaction()
    task = asyncio.ensure_future(flow(agent, None))
    await summarizer.asked.wait()
    other(agent)
    summarizer.release.set()
    assert not was_stopped(await outcome_of(task))
    assert session.entry_count == 6


@flows
async def test_closing_an_agent_session_aborts_what_runs(
    session: SessionManager, blocked: Summarizers, flow: Flow
) -> None:
    """D8: the session itself stays open."""
    summarizer, before = blocked(), state(session)
    agent = AgentSession(session, summarizer=summarizer, settings=SMALL)
    task = asyncio.ensure_future(flow(agent, None))
    await summarizer.asked.wait()
    await agent.close()
    assert was_stopped(await outcome_of(task))
    assert state(session) == before
    await agent.navigate_tree("a1")
