"""What a model is asked, as its server sees it (design D11; N-69, K-50..K-53)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from sessiontree import AbortController, AgentSession, Prompts, SummaryRequest

AgentFor = Callable[..., Awaitable[AgentSession]]

REQUEST = SummaryRequest("branch", "who you are", "what is asked", 300, [])


async def ask(summarizer: Any) -> None:
    await summarizer.summarize(REQUEST, signal=AbortController().signal)


async def test_openai_gets_a_system_and_one_user_message(openai_form: Any, server: Any) -> None:
    """D11, N-69: streamed, with the usage at the end, by the name of the limit that every such server knows."""
    server.reply(*openai_form.whole("so far"))
    await ask(openai_form.summarizer())
    [request] = server.requests
    assert (request.path, request.headers["authorization"]) == ("/v1/chat/completions", "Bearer sk-test")
    assert request.body == {
        "model": "a-model",
        "messages": [{"role": "system", "content": "who you are"}, {"role": "user", "content": "what is asked"}],
        "max_tokens": 300,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_openai_itself_gets_the_newer_name_of_the_limit(openai_form: Any, server: Any) -> None:
    """D11: its newer models refuse the older one."""
    server.reply(*openai_form.whole("so far"))
    # The server stands as a proxy here, so that no name is looked up.
    summarizer = openai_form.summarizer(base_url="http://api.openai.com/v1", proxy=server.url)
    await ask(summarizer)
    [request] = server.requests
    assert request.path == "http://api.openai.com/v1/chat/completions"
    assert request.body["max_completion_tokens"] == 300
    assert "max_tokens" not in request.body


async def test_anthropic_gets_a_system_text_and_one_user_message(anthropic_form: Any, server: Any) -> None:
    """D11, N-69: streamed."""
    server.reply(*anthropic_form.whole("so far"))
    await ask(anthropic_form.summarizer())
    [request] = server.requests
    assert request.path == "/v1/messages"
    # Older clients have a header of their own for the key.
    assert "sk-test" in request.headers.get("x-api-key", request.headers.get("authorization", ""))
    assert request.body == {
        "model": "a-model",
        "system": "who you are",
        "messages": [{"role": "user", "content": "what is asked"}],
        "max_tokens": 300,
        "stream": True,
    }


def asked(form: Any, request: Any) -> tuple[str, str]:
    """Return the system text and the prompt of a request."""
    texts = [message["content"] for message in request.body["messages"]]
    system, prompt = texts if form.path == "/v1/chat/completions" else (request.body["system"], *texts)
    return system, prompt


async def test_a_navigation_asks_for_the_branch_that_is_left(form: Any, server: Any, agent_for: AgentFor) -> None:
    """N-67, N-69, N-6A: the conversation and then the instructions; at most 2,048 tokens."""
    server.reply(*form.whole("so far"))
    agent = await agent_for(form.summarizer())
    await agent.navigate_tree("b", summarize=True, custom_instructions="the café")
    [request] = server.requests
    system, prompt = asked(form, request)
    assert system == Prompts().text("system")
    assert prompt.startswith("<conversation>\n[User]: text of c\n</conversation>\n\n")
    assert prompt.endswith(f"{Prompts().text('branch_summary')}\n\nAdditional focus: the café")
    assert request.body["max_tokens"] == 2_048


async def test_a_compaction_asks_for_what_is_no_longer_kept(form: Any, server: Any, agent_for: AgentFor) -> None:
    """K-50..K-52: of the default reserve, four fifths are for the answer."""
    server.reply(*form.whole("so far"))
    agent = await agent_for(form.summarizer(), prompts=Prompts(system="who", compaction="what"))
    await agent.compact("the café")
    [request] = server.requests
    conversation = "<conversation>\n[User]: text of a\n\n[Assistant]: text of b\n</conversation>"
    assert asked(form, request) == ("who", f"{conversation}\n\nwhat\n\nAdditional focus: the café")
    assert request.body["max_tokens"] == 13_107


async def test_half_an_emoji_in_the_log_does_not_stop_a_request(
    form: Any, server: Any, agent_for: AgentFor, flow: Any
) -> None:
    """D15, N-67: JavaScript writes such halves, and no request can hold one."""
    server.reply(*form.whole("so far"))
    agent = await agent_for(form.summarizer())
    for role in ("assistant", "user"):
        await agent.session.append_message({"role": role, "content": [{"type": "text", "text": "half \ud83d"}]})
    await flow(agent)
    assert "half \ufffd" in asked(form, server.requests[0])[1]


async def test_half_an_emoji_in_an_earlier_summary_does_not_stop_a_request(
    form: Any, server: Any, agent_for: AgentFor
) -> None:
    """D15, K-50: a summary from another program's file is cut like any text."""
    server.reply(*form.whole("so far"))
    agent = await agent_for(form.summarizer())
    await agent.session.append_compaction("half \ud83d", "c", 1)
    for role in ("assistant", "user"):
        await agent.session.append_message({"role": role, "content": [{"type": "text", "text": "more"}]})
    await agent.compact()
    assert "<previous-summary>\nhalf \ufffd\n</previous-summary>" in asked(form, server.requests[0])[1]
