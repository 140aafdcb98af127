"""Why a model stopped, in its provider's words: only some of them mean that the answer is whole (N-6B, K-55)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from sessiontree import AgentSession, SummaryError

AgentFor = Callable[..., Awaitable[AgentSession]]
Unchanged = Callable[[AgentSession], AbstractContextManager[None]]


@pytest.mark.parametrize("reason", ["tool_use", "pause_turn", "model_context_window_exceeded"])
async def test_anthropic_stopped_for_another_reason_is_no_summary(
    anthropic_form: Any, server: Any, agent_for: AgentFor, unchanged: Unchanged, flow: Any, reason: str
) -> None:
    """N-6B, K-55: the answer goes on somewhere, or would have."""
    server.reply(*anthropic_form.whole("half", reason=reason))
    agent = await agent_for(anthropic_form.summarizer())
    with unchanged(agent), pytest.raises(SummaryError, match=f"the model stopped with {reason}"):
        await flow(agent)


async def test_an_answer_that_openai_gave_up_is_no_summary(
    openai_form: Any, server: Any, agent_for: AgentFor, unchanged: Unchanged, flow: Any
) -> None:
    """N-6B, K-55: `abort` is how vLLM says that it gave up in the middle."""
    server.reply(*openai_form.whole("half", reason="abort"))
    agent = await agent_for(openai_form.summarizer())
    with unchanged(agent), pytest.raises(SummaryError):
        await flow(agent)


async def test_half_an_answer_is_not_the_reason_of_its_failure(
    openai_form: Any, server: Any, agent_for: AgentFor
) -> None:
    """N-6B, K-55: gateways say `error` where the model failed in the middle."""
    server.reply(*openai_form.whole("half of a summary", reason="error"))
    agent = await agent_for(openai_form.summarizer())
    with pytest.raises(SummaryError) as raised:
        await agent.compact()
    assert "half of a summary" not in raised.value.detail


async def test_a_server_cannot_abort(openai_form: Any, server: Any, agent_for: AgentFor, unchanged: Unchanged) -> None:
    """N-13, N-6B: only a signal aborts."""
    server.reply(*openai_form.whole("half", reason="aborted"))
    agent = await agent_for(openai_form.summarizer())
    with unchanged(agent), pytest.raises(SummaryError):
        await agent.navigate_tree("b", summarize=True)
