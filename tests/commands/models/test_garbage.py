"""A server that answers with something else than a stream of messages (N-6B, K-55)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from sessiontree import AgentSession, SummaryError

AgentFor = Callable[..., Awaitable[AgentSession]]
Unchanged = Callable[[AgentSession], AbstractContextManager[None]]

HEAD = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: "
STREAM = HEAD + b"text/event-stream\r\n\r\n"
NO_STREAM = {
    "nothing": STREAM,
    "a page": HEAD + b"text/html\r\n\r\n<html></html>",
    "one object": HEAD + b'application/json\r\n\r\n{"choices": [{"message": {"content": "so far"}}]}',
}
ODD_EVENTS = {
    "broken JSON": STREAM + b'event: message_start\ndata: {"type\n\n',
    "another value": STREAM + b"event: message_start\ndata: [1]\n\n",
    "bad UTF-8": STREAM + b"event: message_start\ndata: \xff\n\n",
}
OTHER_SHAPES = {
    "openai": b'data: {"choices": null}\n\n',
    "anthropic": b'event: message_start\ndata: {"type": "message_start", "message": 3}\n\n',
}
GARBAGE = {**NO_STREAM, **ODD_EVENTS, **{f"odd {name}": STREAM + event for name, event in OTHER_SHAPES.items()}}


@pytest.mark.parametrize("reply", GARBAGE.values(), ids=GARBAGE)
async def test_garbage_is_an_error_and_nothing_has_changed(
    form: Any, server: Any, agent_for: AgentFor, unchanged: Unchanged, flow: Any, reply: bytes
) -> None:
    """N-6B, K-55."""
    server.reply(reply)
    agent = await agent_for(form.summarizer())
    with unchanged(agent), pytest.raises(SummaryError):
        await flow(agent)


async def detail_of(form: Any, agent_for: AgentFor) -> str:
    agent = await agent_for(form.summarizer())
    with pytest.raises(SummaryError) as raised:
        await agent.compact()
    return raised.value.detail


SPEAKS_OF_THE_ANSWER = ("server", "stream", "answer", "response")


def is_clear(detail: str) -> bool:
    """Whether one who reads it learns that what the server sent is wrong."""
    return any(word in detail for word in SPEAKS_OF_THE_ANSWER)


@pytest.mark.parametrize("reply", NO_STREAM.values(), ids=NO_STREAM)
async def test_what_is_no_stream_from_openai_is_told(
    openai_form: Any, server: Any, agent_for: AgentFor, reply: bytes
) -> None:
    """N-6B, K-55."""
    server.reply(reply)
    assert is_clear(await detail_of(openai_form, agent_for))


@pytest.mark.parametrize("reply", NO_STREAM.values(), ids=NO_STREAM)
async def test_what_is_no_stream_from_anthropic_is_told(
    anthropic_form: Any, server: Any, agent_for: AgentFor, reply: bytes
) -> None:
    """N-6B, K-55."""
    server.reply(reply)
    assert is_clear(await detail_of(anthropic_form, agent_for))


@pytest.mark.parametrize("reply", ODD_EVENTS.values(), ids=ODD_EVENTS)
async def test_events_that_cannot_be_read_are_told(form: Any, server: Any, agent_for: AgentFor, reply: bytes) -> None:
    """N-6B, K-55."""
    server.reply(reply)
    assert is_clear(await detail_of(form, agent_for))
