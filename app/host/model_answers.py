"""Answers of a model, streamed into the tree: what a person gets who types a message with `--model`."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

from ...projections.anthropic_messages import to_anthropic_messages
from ...projections.context import Message
from ...projections.openai_messages import to_openai_messages

_MOST_TOKENS = 8_192
_STOP_REASONS = {
    "length": "length",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "error",
    "refusal": "error",
}
"""What F-61 calls the ends of an answer that the providers tell; all others are `stop`."""
_NO_USAGE: dict[str, Any] = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}


class Answers(Protocol):
    """Answers a conversation."""

    def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """Yield the parts of the answer as they come; raises what the client raises."""
        ...

    def message(self, text: str, stop_reason: str | None = None, error: str | None = None) -> Message:
        """Return the answer as a message in the file's own form; `stop_reason` None: as the provider ended it."""
        ...


class _ModelAnswers:
    def __init__(self, client: Any, provider: str, model: str, api: str) -> None:
        self._client = client
        self._told = {"api": api, "provider": provider, "model": model}
        self._begin()

    def _begin(self) -> None:
        self._usage = dict(_NO_USAGE)
        self._ended = ""

    def message(self, text: str, stop_reason: str | None = None, error: str | None = None) -> Message:
        """Return the answer as a message in the file's own form (F-61)."""
        if stop_reason is None:
            stop_reason = _STOP_REASONS.get(self._ended, "stop")
            error = f"the provider ended the answer: {self._ended}" if stop_reason == "error" else None
        cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
        message: Message = {
            "role": "assistant",
            "content": [{"type": "text", "text": text}] if text else [],
            **self._told,
            "usage": {**self._usage, "cost": cost},
            "stopReason": stop_reason,
            "timestamp": int(time.time() * 1000),
        }
        return {**message, "errorMessage": error} if error is not None else message


class OpenAIAnswers(_ModelAnswers):
    """Through an `openai.AsyncOpenAI`."""

    def __init__(self, client: Any, model: str) -> None:
        super().__init__(client, "openai", model, "openai-completions")

    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """See `Answers`."""
        self._begin()
        stream = await self._client.chat.completions.create(
            model=self._told["model"],
            messages=to_openai_messages(messages),
            stream=True,
            stream_options={"include_usage": True},
        )
        async with stream:
            async for chunk in stream:
                for choice in chunk.choices or ():
                    if choice.delta is not None and choice.delta.content:
                        yield choice.delta.content
                    self._ended = choice.finish_reason or self._ended
                if chunk.usage is not None:
                    read, written = chunk.usage.prompt_tokens or 0, chunk.usage.completion_tokens or 0
                    self._usage |= {"input": read, "output": written, "totalTokens": read + written}


class AnthropicAnswers(_ModelAnswers):
    """Through an `anthropic.AsyncAnthropic`."""

    def __init__(self, client: Any, model: str) -> None:
        super().__init__(client, "anthropic", model, "anthropic-messages")

    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """See `Answers`."""
        self._begin()
        request = to_anthropic_messages(messages)
        options = {"system": request.system} if request.system else {}
        async with self._client.messages.stream(
            model=self._told["model"], max_tokens=_MOST_TOKENS, messages=request.messages, **options
        ) as stream:
            async for text in stream.text_stream:
                yield text
            answer = await stream.get_final_message()
        usage, self._ended = answer.usage, answer.stop_reason or ""
        read, written = usage.input_tokens or 0, usage.output_tokens or 0
        self._usage |= {"input": read, "output": written, "totalTokens": read + written}
