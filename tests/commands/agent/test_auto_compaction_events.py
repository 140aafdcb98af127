"""What the automatic check tells, and what comes of it when a compaction does not (K-74..K-76)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

import pytest

from sessiontree import (
    AbortController,
    AbortError,
    AgentSession,
    AgentSettings,
    AutoCompactionEndEvent,
    AutoCompactionResult,
    AutoCompactionStartEvent,
    CompactionSettings,
    Hooks,
    Model,
    SessionBusyError,
    SessionManager,
)

Blocked = Callable[..., Any]
MakeAgent = Callable[..., AgentSession]
Reason = Literal["threshold", "overflow"]
Recording = Callable[..., Any]

OVERFLOW: dict[str, Any] = {"stopReason": "error", "errorMessage": "prompt is too long"}
FAILURES: dict[Reason, str] = {
    "threshold": "Auto-compaction failed: ",
    "overflow": "Context overflow recovery failed: ",
}


def answer(**fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "text", "provider": "acme", "model": "m-1", "stopReason": "stop"}
    return {**message, **fields}


@pytest.fixture(params=["threshold", "overflow"])
async def reason(request: pytest.FixtureRequest, session: SessionManager) -> Reason:
    """Makes the session one that has to be compacted for this reason, and returns it."""
    last = answer(**OVERFLOW) if request.param == "overflow" else answer(usage={"totalTokens": 99})
    user = {"role": "user", "content": "text"}
    await session.append_many([user, answer(), user, last])
    reason: Reason = request.param
    return reason


@pytest.fixture
def events() -> list[Any]:
    """What the hooks of `make_agent` were told of automatic compactions."""
    return []


@pytest.fixture
def hooks(events: list[Any]) -> Hooks:
    hooks = Hooks()
    hooks.on("auto_compaction_start", events.append)
    hooks.on("auto_compaction_end", events.append)
    return hooks


@pytest.fixture
def make_agent(session: SessionManager, hooks: Hooks) -> MakeAgent:
    """Makes agents that keep two messages."""

    def make(summarizer: Any = None, **fields: Any) -> AgentSession:
        compaction = CompactionSettings(**{"keep_recent_tokens": 2, "threshold_tokens": 50, **fields})
        settings = AgentSettings(compaction=compaction, estimate_tokens=lambda _message: 1)
        model = Model("acme", "m-1", 100)
        return AgentSession(session, summarizer=summarizer, model=model, hooks=hooks, settings=settings)

    return make


def of(done: AutoCompactionResult) -> list[Any]:
    """The events of one automatic compaction."""
    end = AutoCompactionEndEvent(done.result, done.aborted, done.will_retry, done.error_message)
    return [AutoCompactionStartEvent(done.reason), end]


async def test_a_compaction_is_told_from_its_beginning_to_its_end(
    session: SessionManager, reason: Reason, make_agent: MakeAgent, recording: Recording, events: list[Any]
) -> None:
    """X-137, K-74: the result is that of the one by hand, and only an overflow is worth another try."""
    done = await make_agent(recording("so far")).maybe_compact()
    assert done is not None
    assert done.result is not None
    assert (done.reason, done.aborted, done.error_message) == (reason, False, None)
    assert done.will_retry is (reason == "overflow")
    assert (done.result.summary, done.result.entry_id) == ("so far", session.leaf_id)
    assert events == of(done)


async def test_nothing_is_told_when_nothing_is_due(make_agent: MakeAgent, events: list[Any]) -> None:
    """K-70."""
    assert await make_agent().maybe_compact() is None
    assert events == []


async def test_the_hooks_are_those_of_a_compaction_by_hand(
    reason: Reason, make_agent: MakeAgent, recording: Recording, hooks: Hooks, events: list[Any]
) -> None:
    """K-75: without instructions; in between start and end."""
    for name in ("session_before_compact", "session.compacting", "session_compact"):
        hooks.on(name, events.append)
    assert await make_agent(recording()).maybe_compact() is not None
    assert [event.type for event in events] == [
        "auto_compaction_start",
        "session_before_compact",
        "session.compacting",
        "session_compact",
        "auto_compaction_end",
    ]
    assert events[1].custom_instructions is None


@pytest.mark.parametrize("lacking", ["a summarizer", "something to summarize"])
async def test_what_cannot_be_compacted_ends_without_a_result(
    lacking: str, reason: Reason, make_agent: MakeAgent, recording: Recording, events: list[Any]
) -> None:
    """K-74: that is no failure."""
    agent = make_agent() if lacking == "a summarizer" else make_agent(recording(), keep_recent_tokens=9)
    done = await agent.maybe_compact()
    assert done == AutoCompactionResult(reason)
    assert events == of(done)


async def test_a_failure_is_told_and_not_raised(
    session: SessionManager, reason: Reason, make_agent: MakeAgent, recording: Recording, events: list[Any]
) -> None:
    """K-74, K-55: by what was attempted, and nothing is written."""
    leaf_id = session.leaf_id
    done = await make_agent(recording(RuntimeError("no network"))).maybe_compact()
    message = FAILURES[reason] + "summarization failed: no network"
    assert done == AutoCompactionResult(reason, error_message=message)
    assert (events, session.leaf_id) == (of(done), leaf_id)


async def test_a_leaf_that_has_moved_is_told_too(
    session: SessionManager, reason: Reason, make_agent: MakeAgent, blocked: Blocked, events: list[Any]
) -> None:
    """K-74, and "two operations at once" as settled."""
    summarizer = blocked()
    checking = asyncio.ensure_future(make_agent(summarizer).maybe_compact())
    await summarizer.waits()
    session.reset_leaf()
    summarizer.release.set()
    done = await checking
    assert done is not None
    assert str(done.error_message).startswith(FAILURES[reason] + "the leaf has moved")
    assert (events, session.leaf_id) == (of(done), None)


async def test_a_hook_that_cancels_makes_it_aborted(
    reason: Reason, make_agent: MakeAgent, recording: Recording, hooks: Hooks, events: list[Any]
) -> None:
    """K-74."""
    hooks.on("session_before_compact", lambda _event: {"cancel": True})
    done = await make_agent(recording()).maybe_compact()
    assert done == AutoCompactionResult(reason, aborted=True)
    assert events == of(done)


@pytest.mark.parametrize("way", ["by its signal", "by the agent"])
async def test_an_automatic_compaction_can_be_aborted(
    way: str, reason: Reason, make_agent: MakeAgent, blocked: Blocked, events: list[Any]
) -> None:
    """K-74, K-76: as the one by hand."""
    summarizer = blocked()
    agent = make_agent(summarizer)
    controller = AbortController()
    checking = asyncio.ensure_future(agent.maybe_compact(signal=controller.signal))
    await summarizer.waits()
    agent.abort_compaction() if way == "by the agent" else controller.abort()
    done = await checking
    assert done == AutoCompactionResult(reason, aborted=True)
    assert events == of(done)


async def test_a_signal_that_is_aborted_already_checks_nothing(
    reason: Reason, make_agent: MakeAgent, recording: Recording, events: list[Any]
) -> None:
    """D8."""
    controller = AbortController()
    controller.abort()
    with pytest.raises(AbortError):
        await make_agent(recording()).maybe_compact(signal=controller.signal)
    assert events == []


@pytest.mark.parametrize("cancelled_at", ["the summary", "the end"])
async def test_a_cancellation_is_raised_once_the_end_was_told(
    cancelled_at: str, reason: Reason, make_agent: MakeAgent, blocked: Blocked, hooks: Hooks, events: list[Any]
) -> None:
    """K-74, D8: hooks that wait are heard to their end."""
    ending, go_on, heard = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @hooks.on("auto_compaction_end")
    async def listen(_event: object) -> None:
        ending.set()
        await go_on.wait()
        heard.set()

    summarizer = blocked()
    checking = asyncio.ensure_future(make_agent(summarizer).maybe_compact())
    await summarizer.waits()
    if cancelled_at == "the summary":
        checking.cancel()
    else:
        summarizer.release.set()
    async with asyncio.timeout(20):
        await ending.wait()
    checking.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await checking
    assert heard.is_set()
    assert [event.type for event in events] == ["auto_compaction_start", "auto_compaction_end"]
    assert events[1].aborted is (cancelled_at == "the summary")


async def test_a_fault_of_the_callers_own_code_is_told_and_raised(
    session: SessionManager, reason: Reason, recording: Recording, hooks: Hooks, events: list[Any]
) -> None:
    """K-74: who was told of a beginning is told of an end."""
    begun: list[object] = []
    hooks.on("auto_compaction_start", begun.append)
    settings = AgentSettings(
        compaction=CompactionSettings(keep_recent_tokens=2, threshold_tokens=50),
        estimate_tokens=lambda _message: 1 // (not begun),
    )
    model = Model("acme", "m-1", 100)
    agent = AgentSession(session, summarizer=recording(), model=model, hooks=hooks, settings=settings)
    with pytest.raises(ZeroDivisionError):
        await agent.maybe_compact()
    assert events[1].error_message.startswith(FAILURES[reason])
    assert (events[1].result, events[1].aborted) == (None, False)


async def test_a_check_is_refused_while_another_operation_runs(
    reason: Reason, make_agent: MakeAgent, blocked: Blocked, events: list[Any]
) -> None:
    """Case 50 as settled: it is raised, not told, and no event is."""
    summarizer = blocked()
    agent = make_agent(summarizer)
    compaction = asyncio.ensure_future(agent.compact())
    await summarizer.waits()
    with pytest.raises(SessionBusyError):
        await agent.maybe_compact()
    assert events == []
    summarizer.release.set()
    await compaction


async def test_of_two_checks_at_once_the_second_is_refused(
    reason: Reason, make_agent: MakeAgent, recording: Recording, hooks: Hooks, events: list[Any]
) -> None:
    """Case 50 as settled: while the start of the first is told, too; then there is one start, and one end."""
    agent = make_agent(recording())
    refused: list[object] = []

    @hooks.on("auto_compaction_start")
    async def check_again(_event: object) -> None:
        if not refused:
            refused.append(None)
            refused[0] = (await asyncio.gather(agent.maybe_compact(), return_exceptions=True))[0]

    done = await agent.maybe_compact()
    assert isinstance(refused[0], SessionBusyError)
    assert done is not None
    assert events == of(done)


async def test_who_is_told_of_the_start_can_abort(
    session: SessionManager,
    reason: Reason,
    make_agent: MakeAgent,
    recording: Recording,
    hooks: Hooks,
    events: list[Any],
) -> None:
    """K-74, K-76: from the start on there is something to abort."""
    agent = make_agent(recording())
    leaf_id = session.leaf_id
    hooks.on("auto_compaction_start", lambda _event: agent.abort_compaction())
    done = await agent.maybe_compact()
    assert done == AutoCompactionResult(reason, aborted=True)
    assert (events, session.leaf_id) == (of(done), leaf_id)
