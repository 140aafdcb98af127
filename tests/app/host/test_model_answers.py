"""Answers of both kinds of client, without a network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from types import SimpleNamespace as Has
from typing import Any

import pytest

from sessiontree.app.host.model_answers import Answers, AnthropicAnswers, OpenAIAnswers

CONVERSATION = [{"role": "user", "content": "hello", "timestamp": 1}]


class Stream:
    """A stream of either client; `error` is raised at its end."""

    def __init__(
        self, items: Iterable[Any], usage: Any = None, error: Exception | None = None, reason: str | None = None
    ) -> None:
        self._items = items
        self._answer = Has(usage=usage, stop_reason=reason)
        self._error = error
        self.closed = False

    async def __aenter__(self) -> Stream:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closed = True

    async def __aiter__(self) -> AsyncIterator[Any]:
        for item in self._items:
            yield item
        if self._error is not None:
            raise self._error

    @property
    def text_stream(self) -> AsyncIterator[str]:
        return self.__aiter__()

    async def get_final_message(self) -> Any:
        return self._answer


class OpenAI:
    """Stands for an `openai.AsyncOpenAI`."""

    def __init__(self, stream: Stream) -> None:
        self.chat = Has(completions=self)
        self.asked: dict[str, Any] = {}
        self._stream = stream

    async def create(self, **asked: Any) -> Stream:
        self.asked = asked
        return self._stream


class Anthropic:
    """Stands for an `anthropic.AsyncAnthropic`."""

    def __init__(self, stream: Stream) -> None:
        self.messages = self
        self.asked: dict[str, Any] = {}
        self._stream = stream

    def stream(self, **asked: Any) -> Stream:
        self.asked = asked
        return self._stream


def chunk(*texts: str | None, usage: Any = None, delta: bool = True, reason: str | None = None) -> Any:
    choices = [Has(delta=Has(content=text) if delta else None, finish_reason=reason) for text in texts]
    return Has(choices=choices, usage=usage)


async def parts(answers: Answers, messages: Any = CONVERSATION) -> list[str]:
    return [part async for part in answers.stream(messages)]


async def test_openai_streams_what_chunks_hold() -> None:
    """F-61, F-66: parts without text, without a choice, and the usage at the end."""
    stream = Stream(
        [
            chunk(None),
            chunk("", "a"),
            chunk("x", delta=False),
            chunk("b"),
            Has(choices=None, usage=Has(prompt_tokens=7, completion_tokens=2)),
        ]
    )
    client = OpenAI(stream)
    answers = OpenAIAnswers(client, "m-1")
    assert await parts(answers) == ["a", "b"]
    assert stream.closed
    assert client.asked == {
        "model": "m-1",
        "messages": [{"role": "user", "content": "hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    message = answers.message("ab", "stop")
    assert (message["provider"], message["model"], message["api"]) == ("openai", "m-1", "openai-completions")
    assert [message["usage"][name] for name in ("input", "output", "totalTokens")] == [7, 2, 9]


async def test_anthropic_streams_its_texts() -> None:
    """F-61, F-66."""
    stream = Stream(["a", "b"], Has(input_tokens=7, output_tokens=None))
    client = Anthropic(stream)
    answers = AnthropicAnswers(client, "m-2")
    assert await parts(answers) == ["a", "b"]
    assert stream.closed
    assert client.asked["model"] == "m-2"
    assert client.asked["max_tokens"] > 0
    assert [message["role"] for message in client.asked["messages"]] == ["user"]
    assert "system" not in client.asked
    message = answers.message("ab", "stop")
    assert (message["provider"], message["model"], message["api"]) == ("anthropic", "m-2", "anthropic-messages")
    assert [message["usage"][name] for name in ("input", "output", "totalTokens")] == [7, 0, 7]


async def test_anthropic_is_told_the_system_text_apart() -> None:
    """M-lines: a developer message is no turn."""
    client = Anthropic(Stream([], Has(input_tokens=1, output_tokens=1)))
    developer = {"role": "developer", "content": "be brief", "timestamp": 1}
    await parts(AnthropicAnswers(client, "m"), [developer, *CONVERSATION])
    assert "be brief" in str(client.asked.get("system", "") or client.asked["messages"])


@pytest.mark.parametrize("made", [OpenAIAnswers, AnthropicAnswers])
async def test_what_the_client_raises_comes_through(made: Any) -> None:
    """Issue 4: after the parts that came, the stream closed."""
    stream = Stream([chunk("a") if made is OpenAIAnswers else "a"], error=RuntimeError("gone"))
    answers = made((OpenAI if made is OpenAIAnswers else Anthropic)(stream), "m")
    came = []
    with pytest.raises(RuntimeError, match="gone"):
        async for part in answers.stream(CONVERSATION):
            came.append(part)
    assert (came, stream.closed) == (["a"], True)


@pytest.mark.parametrize(
    ("provider", "reason", "recorded"),
    [
        ("openai", "stop", "stop"),
        ("openai", None, "stop"),
        ("openai", "length", "length"),
        ("openai", "content_filter", "error"),
        ("anthropic", "end_turn", "stop"),
        ("anthropic", None, "stop"),
        ("anthropic", "max_tokens", "length"),
        ("anthropic", "model_context_window_exceeded", "length"),
        ("anthropic", "refusal", "error"),
    ],
)
async def test_an_answer_is_recorded_as_the_provider_ended_it(
    provider: str, reason: str | None, recorded: str
) -> None:
    """F-61: unless it was stopped or failed here; of another end it is told that it is no answer."""
    if provider == "openai":
        answers: Any = OpenAIAnswers(OpenAI(Stream([chunk("a"), chunk(None, reason=reason), chunk()])), "m")
    else:
        answers = AnthropicAnswers(Anthropic(Stream(["a"], Has(input_tokens=1, output_tokens=1), None, reason)), "m")
    await parts(answers)
    message = answers.message("a")
    assert message["stopReason"] == recorded
    assert message.get("errorMessage") == (f"the provider ended the answer: {reason}" if recorded == "error" else None)
    assert answers.message("a", "aborted")["stopReason"] == "aborted"
    assert "errorMessage" not in answers.message("a", "aborted")


@pytest.mark.parametrize("made", [OpenAIAnswers, AnthropicAnswers])
def test_an_answer_has_the_form_of_the_file(made: Any) -> None:
    """F-61: an error is only where there is one, a text too."""
    answers = made(None, "m")
    whole, failed = answers.message("said", "stop"), answers.message("", "error", "gone")
    assert whole["content"] == [{"type": "text", "text": "said"}]
    assert (whole["role"], whole["stopReason"]) == ("assistant", "stop")
    assert "errorMessage" not in whole
    assert (failed["content"], failed["stopReason"], failed["errorMessage"]) == ([], "error", "gone")
    assert whole["timestamp"] > 1_700_000_000_000
    assert set(whole["usage"]) == {"input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost"}


async def test_the_usage_of_an_answer_is_not_that_of_the_one_before() -> None:
    """F-66: it is counted once."""
    client = OpenAI(Stream([chunk("a", usage=Has(prompt_tokens=7, completion_tokens=2))]))
    answers = OpenAIAnswers(client, "m")
    await parts(answers)
    client._stream = Stream([], error=RuntimeError("gone"))
    with pytest.raises(RuntimeError):
        await parts(answers)
    assert answers.message("", "error", "gone")["usage"]["totalTokens"] == 0
