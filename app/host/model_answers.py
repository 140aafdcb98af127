"""Answers of a model, streamed into the tree: what a person gets who types a message with `--model`."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

from ...projections.anthropic_messages import to_anthropic_messages
from ...projections.context import Message
from ...projections.openai_messages import to_openai_messages

_MOST_TOKENS = 8_192
_NO_USAGE: dict[str, Any] = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}


class Answers(Protocol):
    """Answers a conversation."""

    def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """Yield the parts of the answer as they come; raises what the client raises."""
        ...

    def message(self, text: str, stop_reason: str, error: str | None = None) -> Message:
        """Return the answer as a message in the file's own form."""
        ...


class _ModelAnswers:
    def __init__(self, client: Any, provider: str, model: str, api: str) -> None:
        self._client = client
        self._told = {"api": api, "provider": provider, "model": model}
        self._usage = dict(_NO_USAGE)

    def message(self, text: str, stop_reason: str, error: str | None = None) -> Message:
        """Return the answer as a message in the file's own form (F-61)."""
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
        self._usage = dict(_NO_USAGE)
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
                if chunk.usage is not None:
                    read, written = chunk.usage.prompt_tokens or 0, chunk.usage.completion_tokens or 0
                    self._usage |= {"input": read, "output": written, "totalTokens": read + written}


class AnthropicAnswers(_ModelAnswers):
    """Through an `anthropic.AsyncAnthropic`."""

    def __init__(self, client: Any, model: str) -> None:
        super().__init__(client, "anthropic", model, "anthropic-messages")

    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """See `Answers`."""
        self._usage = dict(_NO_USAGE)
        request = to_anthropic_messages(messages)
        options = {"system": request.system} if request.system else {}
        async with self._client.messages.stream(
            model=self._told["model"], max_tokens=_MOST_TOKENS, messages=request.messages, **options
        ) as stream:
            async for text in stream.text_stream:
                yield text
            usage = (await stream.get_final_message()).usage
        read, written = usage.input_tokens or 0, usage.output_tokens or 0
        self._usage |= {"input": read, "output": written, "totalTokens": read + written}
