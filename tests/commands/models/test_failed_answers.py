"""No key, a server that refuses, hangs or stops too early: a clear error, and nothing has changed (N-6B, K-55)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from sessiontree import AgentSession, SummaryError

AgentFor = Callable[..., Awaitable[AgentSession]]
Unchanged = Callable[[AgentSession], AbstractContextManager[None]]

ERROR_EVENT = (
    b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "too busy"}}\n\n'
)


def begun(form: Any, rest: bytes) -> list[Any]:
    """An answer that has begun, and then these bytes as a chunk of its body."""
    return [*form.begun("half"), b"%x\r\n%b\r\n" % (len(rest), rest), b"0\r\n\r\n"]


FAILURES: dict[str, tuple[Callable[[Any], list[Any]], str]] = {
    "wrong key": (lambda form: form.error(401, "no such key"), "401.*no such key"),
    "unknown model": (lambda form: form.error(404, "no such model"), "404.*no such model"),
    "too many": (lambda form: form.error(429, "slow down"), "429.*slow down"),
    "broken": (lambda form: form.error(500, "out of order"), "500.*out of order"),
    "not HTTP": (lambda form: [b"\x00\xff\r\n\r\n"], "Connection error"),
    "no answer": (lambda form: [], "Connection error"),
    "broken off": (lambda form: form.begun("half"), "Connection error|peer closed connection"),
    "no end": (lambda form: [*form.begun("half"), b"0\r\n\r\n"], "the stream ended in the middle"),
    "error event": (lambda form: begun(form, ERROR_EVENT), "too busy"),
    "no text": (lambda form: form.whole(), "the summary is empty"),
    "empty": (lambda form: form.whole(""), "the summary is empty"),
    "blank": (lambda form: form.whole(" ", "\n"), "the summary is empty"),
    "cut": (lambda form: form.whole("half", reason=form.cut), "the summary was cut"),
    "withheld": (lambda form: form.whole("half", reason=form.withheld), "content_filter|refusal"),
}


@pytest.mark.parametrize(("reply", "detail"), FAILURES.values(), ids=FAILURES)
async def test_a_failed_answer_is_a_clear_error_and_nothing_has_changed(
    form: Any,
    server: Any,
    agent_for: AgentFor,
    unchanged: Unchanged,
    flow: Any,
    reply: Callable[[Any], list[Any]],
    detail: str,
) -> None:
    """N-6B, K-55 as settled: no empty and no cut summary either."""
    server.reply(*reply(form))
    agent = await agent_for(form.summarizer())
    with unchanged(agent), pytest.raises(SummaryError, match=f"^summarization failed: .*({detail})"):
        await flow(agent)


@pytest.mark.parametrize("sent", [0, 2], ids=["before the answer", "within the answer"])
async def test_a_server_that_hangs_is_waited_for_as_long_as_the_client_is_told(
    form: Any, server: Any, agent_for: AgentFor, unchanged: Unchanged, flow: Any, sent: int
) -> None:
    """N-6B, K-55: the time limit is the client's own, and the connection is closed."""
    server.reply(*form.begun("half")[:sent], None)
    agent = await agent_for(form.summarizer(timeout=0.05))
    with unchanged(agent), pytest.raises(SummaryError, match=r"timed out|ReadTimeout"):
        await flow(agent)
    for request in server.requests:
        await request.is_closed()


async def test_no_server_is_a_clear_error(form: Any, agent_for: AgentFor, unchanged: Unchanged, flow: Any) -> None:
    """N-6B, K-55."""
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        host, port = nobody_listens.getsockname()
        agent = await agent_for(form.summarizer(base_url=f"http://{host}:{port}"))
        with unchanged(agent), pytest.raises(SummaryError, match="Connection error"):
            await flow(agent)


async def test_no_key_is_a_clear_error(
    anthropic_form: Any,
    server: Any,
    agent_for: AgentFor,
    unchanged: Unchanged,
    flow: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """N-6B, K-55: OpenAI's client is not even made without one."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    agent = await agent_for(anthropic_form.summarizer(api_key=None))
    with unchanged(agent), pytest.raises(SummaryError, match="authentication method"):
        await flow(agent)
    assert server.requests == []


async def test_after_a_failure_one_can_ask_again(form: Any, server: Any, agent_for: AgentFor, flow: Any) -> None:
    """N-6B, K-55, case 50: nothing runs any more."""
    server.reply(*form.error(500, "out of order"))
    server.reply(*form.whole("so far"))
    agent = await agent_for(form.summarizer())
    with pytest.raises(SummaryError):
        await flow(agent)
    await flow(agent)
    assert agent.session.entry_count == 4


async def test_when_one_of_two_calls_fails_the_other_is_closed(
    form: Any, server: Any, agent_for: AgentFor, unchanged: Unchanged
) -> None:
    """K-53, K-55: a turn that is split asks twice, at once."""
    server.reply(None, *form.error(500, "out of order"))
    server.reply(None)
    agent = await agent_for(form.summarizer())
    await agent.session.append_message({"role": "assistant", "content": [{"type": "text", "text": "the end"}]})
    compaction = asyncio.ensure_future(agent.compact())
    first, second = await server.held(), await server.held()
    with unchanged(agent), pytest.raises(SummaryError, match="out of order"):
        first.go_on.set()
        await compaction
    await second.is_closed()


async def test_a_refusal_in_the_place_of_a_text_is_no_summary(
    openai_form: Any, server: Any, agent_for: AgentFor, unchanged: Unchanged, flow: Any
) -> None:
    """N-6B, K-55."""
    refusal = {"index": 0, "delta": {"refusal": "I will not."}, "finish_reason": None}
    server.reply(*openai_form.begun(), openai_form.event(refusal), *openai_form.ended("stop"))
    agent = await agent_for(openai_form.summarizer())
    with unchanged(agent), pytest.raises(SummaryError, match="the summary is empty"):
        await flow(agent)
