"""Handlers that stop a flow, or do not stop with it (N-39, K-66, design D8, D10)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from sessiontree import (
    AbortController,
    AbortError,
    AbortSignal,
    AgentSession,
    AgentSettings,
    CompactionSettings,
    Model,
    NavigateResult,
    SessionManager,
)

Recording = Callable[..., Any]
Say = Callable[..., Awaitable[None]]
Flow = Callable[[AgentSession, AbortSignal | None], Awaitable[Any]]

SETTINGS = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=1, threshold_tokens=1))
FLOWS: dict[str, tuple[str, Flow]] = {
    "navigate": ("session_before_tree", lambda agent, signal: agent.navigate_tree("a1", signal=signal)),
    "navigate, summary": (
        "session_before_tree",
        lambda agent, signal: agent.navigate_tree("a1", summarize=True, signal=signal),
    ),
    "compact": ("session_before_compact", lambda agent, signal: agent.compact(signal=signal)),
    "compact, asked": ("session.compacting", lambda agent, signal: agent.compact(signal=signal)),
    "maybe_compact": ("session_before_compact", lambda agent, signal: agent.maybe_compact(signal=signal)),
    "branch": ("session_before_branch", lambda agent, signal: agent.branch("u2", signal=signal)),
    "branch at a root": ("session_before_branch", lambda agent, signal: agent.branch("u1", signal=signal)),
}
flows = pytest.mark.parametrize(("event", "flow"), FLOWS.values(), ids=FLOWS)


class Stubborn:
    """A handler that goes on, whoever cancels it, until it is let go; then it answers."""

    def __init__(self) -> None:
        self.asked, self.go_on, self.ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def __call__(self, event: object) -> dict[str, Any]:
        self.asked.set()
        while not self.go_on.is_set():
            try:
                await self.go_on.wait()
            except asyncio.CancelledError:
                continue
        self.ended.set()
        return {"cancel": True}


@pytest.fixture
async def stubborn() -> AsyncIterator[Stubborn]:
    handler = Stubborn()
    yield handler
    handler.go_on.set()
    if handler.asked.is_set():
        await handler.ended.wait()


@pytest.fixture
async def agent(say: Say, recording: Recording) -> AgentSession:
    session = SessionManager.in_memory()
    await say(session, "u1", "a1", "u2", "a2")
    return AgentSession(session, summarizer=recording(), model=Model("acme", "m-1", 1000), settings=SETTINGS)


def state(session: SessionManager) -> tuple[Any, ...]:
    return session.session_id, session.leaf_id, session.entry_ids()


def was_aborted(outcome: Any) -> bool:
    if isinstance(outcome, NavigateResult):
        return outcome.cancelled and outcome.aborted
    return isinstance(outcome, AbortError) or bool(outcome.aborted)


@flows
@pytest.mark.parametrize("stop", ["signal", "cancel", "close"])
async def test_a_handler_that_does_not_stop_holds_nobody_up(
    agent: AgentSession, stubborn: Stubborn, event: str, flow: Flow, stop: str
) -> None:
    """N-39, K-66, D8: the flow ends while the handler goes on; what it answers late is dropped."""
    session, controller = agent.session, AbortController()
    before = state(session)
    agent.hooks.on(event, stubborn)
    task = asyncio.ensure_future(flow(agent, controller.signal))
    async with asyncio.timeout(20):
        await stubborn.asked.wait()
        if stop == "signal":
            controller.abort()
        elif stop == "cancel":
            task.cancel()
        else:
            await agent.close()
        await asyncio.wait((task,))
    assert not stubborn.ended.is_set()
    assert state(session) == before
    assert task.cancelled() if stop == "cancel" else was_aborted(task.exception() or task.result())
    stubborn.go_on.set()
    await stubborn.ended.wait()
    assert state(session) == before


@flows
async def test_a_handler_that_aborts_the_flow_is_the_last_that_is_asked(
    agent: AgentSession, event: str, flow: Flow
) -> None:
    """N-39 as settled, K-66, N-51: whatever it answers itself; the next flow works."""
    controller, asked, before = AbortController(), list[Any](), state(agent.session)
    removers = [
        agent.hooks.on(event, lambda _: controller.abort("enough")),
        agent.hooks.on(event, asked.append),
    ]
    [outcome] = await asyncio.gather(flow(agent, controller.signal), return_exceptions=True)
    assert was_aborted(outcome)
    assert (asked, state(agent.session)) == ([], before)
    for remove in removers:
        remove()
    await flow(agent, None)
    assert state(agent.session) != before


@flows
async def test_a_handler_that_cancels_the_flow_does_not_leave_it_half_way(
    agent: AgentSession, event: str, flow: Flow
) -> None:
    """N-39 as settled, D8: at the next await all of it has happened and was told, or nothing."""
    session, told, before = agent.session, list[Any](), state(agent.session)
    for after in ("session_tree", "session_compact", "session_branch"):
        agent.hooks.on(after, told.append)

    def cancel(_: object) -> None:
        task.cancel()

    agent.hooks.on(event, cancel)
    task: asyncio.Task[Any] = asyncio.ensure_future(flow(agent, None))
    await asyncio.wait((task,))
    assert task.cancelled()
    assert (state(session) != before) == bool(told)
