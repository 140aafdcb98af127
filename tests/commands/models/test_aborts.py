"""An abort while a model is asked: the connection is closed, nothing has changed (N-13, N-39, K-66, D8)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from sessiontree import AbortController, AgentSession, CompactionCancelledError, NavigateResult

AgentFor = Callable[..., Awaitable[AgentSession]]
Unchanged = Callable[[AgentSession], AbstractContextManager[None]]


@pytest.fixture(params=["before the headers", "after the headers"])
def waiting(request: pytest.FixtureRequest, form: Any, server: Any) -> Callable[[], Awaitable[Any]]:
    """Lets the server begin an answer and then wait; returns the request once the client has what there is."""
    within = request.param == "after the headers"
    server.reply(*(form.begun("half") if within else ()), None, *form.ended(form.stop))

    async def waiting() -> Any:
        held = await server.held()
        if within:
            async with asyncio.timeout(20):
                await form.headers_came.wait()
        return held

    return waiting


async def test_an_abort_by_the_signal_cancels_a_navigation(
    form: Any, waiting: Any, agent_for: AgentFor, unchanged: Unchanged
) -> None:
    """N-13, N-39."""
    agent, controller = await agent_for(form.summarizer()), AbortController()
    with unchanged(agent):
        navigation = asyncio.ensure_future(agent.navigate_tree("b", summarize=True, signal=controller.signal))
        request = await waiting()
        controller.abort()
        assert await navigation == NavigateResult(cancelled=True, aborted=True)
        await request.is_closed()


async def test_an_abort_by_the_signal_cancels_a_compaction(
    form: Any, waiting: Any, agent_for: AgentFor, unchanged: Unchanged
) -> None:
    """K-66."""
    agent, controller = await agent_for(form.summarizer()), AbortController()
    with unchanged(agent), pytest.raises(CompactionCancelledError) as raised:
        compaction = asyncio.ensure_future(agent.compact(signal=controller.signal))
        request = await waiting()
        controller.abort("enough")
        await compaction
    assert (raised.value.aborted, raised.value.reason) == (True, "enough")
    await request.is_closed()


async def test_a_cancelled_task_closes_the_connection(
    form: Any, waiting: Any, agent_for: AgentFor, unchanged: Unchanged, flow: Any
) -> None:
    """D8, N-39: the cancellation is raised, nothing else."""
    agent = await agent_for(form.summarizer())
    with unchanged(agent), pytest.raises(asyncio.CancelledError):
        task = asyncio.ensure_future(flow(agent))
        request = await waiting()
        task.cancel()
        await task
    await request.is_closed()


async def test_after_an_abort_one_can_ask_again(form: Any, waiting: Any, server: Any, agent_for: AgentFor) -> None:
    """N-39, case 50: nothing runs any more, and the client is as good as before."""
    agent = await agent_for(form.summarizer())
    navigation = asyncio.ensure_future(agent.navigate_tree("b", summarize=True))
    request = await waiting()
    agent.abort_branch_summary()
    assert (await navigation).aborted
    await request.is_closed()
    server.reply(*form.whole("so far"))
    assert (await agent.navigate_tree("b", summarize=True)).summary_entry is not None


async def test_both_calls_of_a_split_turn_are_closed(
    form: Any, server: Any, agent_for: AgentFor, unchanged: Unchanged
) -> None:
    """K-53, K-66, K-76."""
    server.reply(None)
    server.reply(None)
    agent = await agent_for(form.summarizer())
    await agent.session.append_message({"role": "assistant", "content": [{"type": "text", "text": "the end"}]})
    with unchanged(agent), pytest.raises(CompactionCancelledError):
        compaction = asyncio.ensure_future(agent.compact())
        requests = [await server.held(), await server.held()]
        agent.abort_compaction()
        await compaction
    for request in requests:
        await request.is_closed()


async def test_an_abort_ends_the_wait_for_the_next_try(
    form: Any, server: Any, agent_for: AgentFor, unchanged: Unchanged
) -> None:
    """N-39: a server says when to come again, and nobody does."""
    server.reply(*form.error(429, "slow down", retry_after="40"))
    agent = await agent_for(form.summarizer(max_retries=1))
    with unchanged(agent):
        navigation = asyncio.ensure_future(agent.navigate_tree("b", summarize=True))
        async with asyncio.timeout(20):
            await form.headers_came.wait()
            agent.abort_branch_summary()
            assert (await navigation).aborted
    assert len(server.requests) == 1
