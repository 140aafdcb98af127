"""Aborted navigations: nothing is written, the leaf stays, and the result says so (N-08, N-13, N-39)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import (
    AbortController,
    AbortError,
    AbortSignal,
    AgentSession,
    Hooks,
    NavigateResult,
    SessionManager,
    SessionTreeEvent,
    SummaryResult,
)

Say = Callable[..., Awaitable[None]]
MakeSummarizer = Callable[..., Any]
Aborter = Callable[[AgentSession, AbortController], None]

ABORTED = NavigateResult(cancelled=True, aborted=True)


@pytest.fixture
async def talk(session: SessionManager, say: Say) -> SessionManager:
    """u1, a1, u2, a2 in one line; the leaf is a2."""
    await say(session, "u1", "a1", "u2", "a2")
    return session


@pytest.fixture(params=["own", "caller's"])
def abort(request: pytest.FixtureRequest) -> Aborter:
    """Aborts a navigation that was given the controller's signal, in one way, then in the other."""

    def abort(agent: AgentSession, controller: AbortController) -> None:
        if request.param == "own":
            agent.abort_branch_summary()
        else:
            controller.abort()

    return abort


def check_unchanged(session: SessionManager) -> None:
    assert (session.leaf_id, session.entry_count, session.labels) == ("a2", 4, {})


async def test_an_aborted_summary_leaves_entries_and_leaf(
    talk: SessionManager, blocked: MakeSummarizer, abort: Aborter
) -> None:
    """X-102, N-13, N-39: nobody is told, and the next navigation finds nothing of it."""
    told: list[Any] = []
    summarizer, controller = blocked("sum"), AbortController()
    agent = AgentSession(talk, summarizer=summarizer)
    agent.hooks.on("session_tree", told.append)
    navigation = asyncio.create_task(agent.navigate_tree("u1", summarize=True, label="x", signal=controller.signal))
    await summarizer.waits()
    abort(agent, controller)
    assert await navigation == ABORTED
    assert summarizer.cancelled == 1
    assert told == []
    check_unchanged(talk)
    summarizer.release.set()
    assert (await agent.navigate_tree("u1", summarize=True)).summary_entry is not None


async def test_a_summarizer_that_does_not_stop_is_not_waited_for(
    talk: SessionManager, blocked: MakeSummarizer
) -> None:
    """N-13, N-39: and what it says later is dropped."""
    summarizer = blocked("too late", stubborn=True)
    agent = AgentSession(talk, summarizer=summarizer)
    navigation = asyncio.create_task(agent.navigate_tree("u1", summarize=True))
    await summarizer.waits()
    agent.abort_branch_summary()
    assert await navigation == ABORTED
    summarizer.release.set()
    await summarizer.ended.wait()
    check_unchanged(talk)


@pytest.mark.parametrize(
    "answer", [SummaryResult("", stop_reason="aborted"), AbortError("no more")], ids=["says", "raises"]
)
async def test_a_summarizer_that_was_aborted_ends_the_navigation_as_aborted(
    talk: SessionManager, recording: MakeSummarizer, answer: Any
) -> None:
    """N-13, N-6B: by whomever."""
    agent = AgentSession(talk, summarizer=recording(answer))
    assert await agent.navigate_tree("u1", summarize=True) == ABORTED
    check_unchanged(talk)


@pytest.mark.parametrize("summarize", [False, True])
async def test_an_abort_beforehand_asks_nobody(
    talk: SessionManager, recording: MakeSummarizer, summarize: bool
) -> None:
    """N-39 as settled: without a summary too."""
    controller, seen, summarizer = AbortController(), list[Any](), recording()
    controller.abort("no")
    agent = AgentSession(talk, summarizer=summarizer)
    agent.hooks.on("session_before_tree", seen.append)
    assert await agent.navigate_tree("u1", summarize=summarize, signal=controller.signal) == ABORTED
    assert (seen, summarizer.requests) == ([], [])
    check_unchanged(talk)


async def test_an_aborted_signal_does_not_matter_where_nothing_is_done(talk: SessionManager) -> None:
    """N-02, N-39."""
    controller = AbortController()
    controller.abort()
    assert await AgentSession(talk).navigate_tree("a2", signal=controller.signal) == NavigateResult()


@pytest.mark.parametrize("summarize", [False, True])
async def test_an_abort_ends_a_hook_that_waits_at_once(
    talk: SessionManager, recording: MakeSummarizer, abort: Aborter, summarize: bool
) -> None:
    """N-39 as settled, N-09: it counts as an abort, not as a fault of the hook; those behind it are not asked."""
    controller, waits, faults, seen = AbortController(), asyncio.Event(), list[Any](), list[Any]()
    hooks = Hooks()
    hooks.on_error(faults.append)

    @hooks.on("session_before_tree")
    async def wait(event: Any) -> None:
        waits.set()
        await asyncio.Event().wait()

    hooks.on("session_before_tree", seen.append)
    hooks.on("session_tree", seen.append)
    summarizer = recording()
    agent = AgentSession(talk, hooks=hooks, summarizer=summarizer)
    navigation = asyncio.create_task(agent.navigate_tree("u1", summarize=summarize, signal=controller.signal))
    async with asyncio.timeout(20):
        await waits.wait()
        abort(agent, controller)
        assert await navigation == ABORTED
    assert (faults, seen, summarizer.requests) == ([], [], [])
    check_unchanged(talk)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("summarize", [False, True])
@pytest.mark.parametrize("answer", [None, {"summary": {"summary": "supplied"}}, {"cancel": True}], ids=str)
async def test_the_signal_is_looked_at_again_after_the_hooks(
    talk: SessionManager, recording: MakeSummarizer, answer: Any, summarize: bool, asynchronous: bool
) -> None:
    """N-39 as settled: whatever they answer."""
    summarizer = recording()
    agent = AgentSession(talk, summarizer=summarizer)

    def abort_and_answer(event: Any) -> Any:
        agent.abort_branch_summary()
        assert event.signal.aborted
        return answer

    async def abort_and_answer_slowly(event: Any) -> Any:
        return abort_and_answer(event)

    agent.hooks.on("session_before_tree", abort_and_answer_slowly if asynchronous else abort_and_answer)
    assert await agent.navigate_tree("u1", summarize=summarize) == ABORTED
    assert summarizer.requests == []
    check_unchanged(talk)


async def test_an_abort_counts_though_the_summary_is_there(talk: SessionManager) -> None:
    """N-39 as settled: it is looked at once more before anything is applied."""

    class Aborting:
        async def summarize(self, request: Any, *, signal: AbortSignal) -> str:
            agent.abort_branch_summary()
            return "sum"

    agent = AgentSession(talk, summarizer=Aborting())
    assert await agent.navigate_tree("u1", summarize=True) == ABORTED
    check_unchanged(talk)


async def test_an_abort_while_the_hooks_are_told_comes_too_late(talk: SessionManager, abort: Aborter) -> None:
    """N-39, N-34."""
    controller, told = AbortController(), list[Any]()
    agent = AgentSession(talk)
    agent.hooks.on("session_tree", lambda event: abort(agent, controller))
    agent.hooks.on("session_tree", told.append)
    assert await agent.navigate_tree("u1", signal=controller.signal) == NavigateResult("text of u1")
    assert told == [SessionTreeEvent(None, "a2")]
    assert talk.leaf_id is None


async def test_where_no_navigation_runs_there_is_nothing_to_abort(talk: SessionManager, say: Say) -> None:
    """N-39: neither before nor after one; and a branch is none."""
    agent = AgentSession(talk)
    agent.abort_branch_summary()
    assert await agent.navigate_tree("a1") == NavigateResult()
    agent.abort_branch_summary()
    agent.hooks.on("session_before_branch", lambda event: agent.abort_branch_summary())
    assert not (await agent.branch("u2")).cancelled
    assert talk.path_ids() == ["u1", "a1"]
