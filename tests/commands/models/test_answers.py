"""What becomes of a model's answer: its text, and the usage of the call (N-6C, K-56, T-95)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import AbortController, AgentSession, SummaryRequest, SummaryResult, Usage

AgentFor = Callable[..., Awaitable[AgentSession]]


async def answer_of(form: Any) -> SummaryResult:
    request = SummaryRequest("branch", "who you are", "what is asked", 300, [])
    result: SummaryResult = await form.summarizer().summarize(request, signal=AbortController().signal)
    return result


async def test_the_parts_of_an_answer_are_one_text(form: Any, server: Any) -> None:
    """D11, N-6B."""
    server.reply(*form.whole("The café", "\n", "is open."))
    answer = await answer_of(form)
    assert (answer.text, answer.stop_reason) == ("The café\nis open.", "stop")


async def test_blocks_of_text_are_joined_and_thinking_is_left_out(anthropic_form: Any, server: Any) -> None:
    """N-6C."""
    form = anthropic_form
    blocks = [form.block(0, "thinking", "hm"), form.block(1, "text", "one"), form.block(2, "text", "two")]
    server.reply(*form.started(), *(part for block in blocks for part in block), *form.ended("end_turn"))
    assert (await answer_of(form)).text == "one\ntwo"


async def test_an_answer_that_meets_a_stop_sequence_is_whole(anthropic_form: Any, server: Any) -> None:
    """N-6B."""
    server.reply(*anthropic_form.whole("so far", reason="stop_sequence"))
    assert (await answer_of(anthropic_form)).stop_reason == "stop"


async def test_a_slow_answer_is_waited_for(form: Any, server: Any, agent_for: AgentFor) -> None:
    """D11: nothing is written before it is whole, and other work goes on."""
    begun, rest = form.begun("The café "), form.whole("is open.")[2:]
    server.reply(None, *begun, None, *rest)
    agent = await agent_for(form.summarizer())
    navigation = asyncio.ensure_future(agent.navigate_tree("b", summarize=True))
    for _ in range(2):
        request = await server.held()
        assert (agent.session.leaf_id, agent.session.entry_count) == ("c", 3)
        request.go_on.set()
        request.go_on = asyncio.Event()
    entry = (await navigation).summary_entry
    assert entry is not None
    assert entry.summary.endswith("The café is open.")
    assert agent.session.leaf_id == entry.id


async def test_a_refused_call_is_made_again_as_the_client_is_told(form: Any, server: Any, agent_for: AgentFor) -> None:
    """D11: retries are the client's own."""
    server.reply(*form.error(429, "slow down", retry_after_ms="1"))
    server.reply(*form.whole("so far"))
    agent = await agent_for(form.summarizer(max_retries=1))
    await agent.compact()
    assert len(server.requests) == 2


OPENAI_USAGE = [
    ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}, 100, 0),
    ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, "prompt_tokens_details": {}}, 100, 0),
    (
        {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 70},
        },
        30,
        70,
    ),
]


@pytest.mark.parametrize(("usage", "fresh", "cached"), OPENAI_USAGE, ids=["plain", "no details", "cached"])
async def test_openai_counts_what_was_cached_as_part_of_the_prompt(
    openai_form: Any, server: Any, usage: dict[str, Any], fresh: int, cached: int
) -> None:
    """T-95: in the file `input` is what was not read from the cache."""
    server.reply(*openai_form.begun("so far"), *openai_form.ended("stop", usage))
    expected = {"input": fresh, "output": 20, "cacheRead": cached, "cacheWrite": 0, "totalTokens": 120}
    assert (await answer_of(openai_form)).usage == expected


async def test_a_server_that_tells_no_usage_is_none_the_worse(openai_form: Any, server: Any) -> None:
    """D11: not every compatible server knows `stream_options`."""
    server.reply(*openai_form.whole("so far"))
    assert await answer_of(openai_form) == SummaryResult("so far", "stop", None)


@pytest.mark.parametrize(
    ("cached", "read", "written"),
    [
        ({}, 0, 0),
        ({"cache_read_input_tokens": None, "cache_creation_input_tokens": None}, 0, 0),
        ({"cache_read_input_tokens": 70, "cache_creation_input_tokens": 30}, 70, 30),
    ],
    ids=["plain", "null", "cached"],
)
async def test_anthropic_counts_what_was_cached_apart(
    anthropic_form: Any, server: Any, cached: dict[str, Any], read: int, written: int
) -> None:
    """T-95: the last count of the output holds."""
    block = anthropic_form.block(0, "text", "so far")
    server.reply(*anthropic_form.started(**cached), *block, *anthropic_form.ended("end_turn", {"output_tokens": 20}))
    total = 10 + 20 + read + written
    expected = {"input": 10, "output": 20, "cacheRead": read, "cacheWrite": written, "totalTokens": total}
    assert (await answer_of(anthropic_form)).usage == expected


def counted(form: Any) -> dict[str, int]:
    """Usage of one call, in a provider's words: 10 in, 20 out, nothing cached."""
    if form.path == "/v1/messages":
        return {"output_tokens": 20}
    return {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}


IN_FILE = {"input": 10, "output": 20, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 30}


async def test_the_usage_of_a_call_is_in_the_entry_and_in_the_sum(
    form: Any, server: Any, agent_for: AgentFor, flow: Any, records: Any
) -> None:
    """T-95 as settled, N-6C, K-56."""
    server.reply(*form.begun("so far"), *form.ended(form.stop, counted(form)))
    agent = await agent_for(form.summarizer())
    await flow(agent)
    assert records(agent.session)[-1]["details"]["usage"] == IN_FILE
    assert agent.session.usage == Usage(input=10, output=20, total_tokens=30)


async def test_the_two_calls_of_a_split_turn_are_counted_together(form: Any, server: Any, agent_for: AgentFor) -> None:
    """K-53, T-95 as settled."""
    for text in ("one", "two"):
        server.reply(*form.begun(text), *form.ended(form.stop, counted(form)))
    agent = await agent_for(form.summarizer())
    await agent.session.append_message({"role": "assistant", "content": [{"type": "text", "text": "the end"}]})
    result = await agent.compact()
    assert result.details["usage"] == {name: 2 * count for name, count in IN_FILE.items()}
    assert agent.session.usage == Usage(input=20, output=40, total_tokens=60)


@pytest.mark.parametrize(
    "last",
    [
        {"choices": [{"index": 0, "delta": None, "finish_reason": "stop"}]},
        {"choices": [{"index": 0, "finish_reason": "stop"}]},
        {"choices": [{"index": 0, "delta": {"content": []}, "finish_reason": "stop"}]},
        {"choices": [{"index": 0, "delta": {"content": [{"type": "text", "text": ""}]}, "finish_reason": "stop"}]},
    ],
)
async def test_what_compatible_servers_leave_out_is_not_missed(openai_form: Any, server: Any, last: Any) -> None:
    """D11: nulls for lists and counts, blocks for a text."""
    usage = {"prompt_tokens": 5, "completion_tokens": None, "total_tokens": None}
    form = openai_form
    nulls = form.event(choices=None, usage=usage)
    server.reply(*form.begun("whole"), form.event(*last["choices"]), nulls, b"0\r\n\r\n")
    answer = await answer_of(form)
    assert (answer.text, answer.stop_reason) == ("whole", "stop")
    assert answer.usage == {"input": 5, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 5}
