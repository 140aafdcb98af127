"""Summaries by any server that speaks OpenAI's chat completions (design D11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...eventstore.abort import AbortSignal
from ...projections.content_blocks import texts_of
from .model_answer import model_answer, readable_answer
from .summarizer import SummaryRequest, SummaryResult

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import CompletionUsage
    from openai.types.chat.chat_completion_chunk import ChoiceDelta

_OPENAI = (".openai.com", ".openai.azure.com")
_STOP_REASONS = {"stop": "stop", "eos": "stop", "length": "length"}


class OpenAISummarizer:
    """Asks a model through the caller's own `openai.AsyncOpenAI`: its address, key, time limits and retries hold.

    Works with every compatible address: llama.cpp, ollama, vLLM. The answer is streamed, and the request is
    closed as soon as the signal is aborted.
    """

    def __init__(self, client: AsyncOpenAI, model: str) -> None:
        self._client = client
        self._model = model

    async def summarize(self, request: SummaryRequest, *, signal: AbortSignal) -> SummaryResult:
        """Return the model's answer. Raises `AbortError`, and what the client raises."""
        return await signal.run(self._ask(request))

    async def _ask(self, request: SummaryRequest) -> SummaryResult:
        # OpenAI's newer models refuse the older name, and many compatible servers know no other.
        limit = "max_completion_tokens" if self._client.base_url.host.endswith(_OPENAI) else "max_tokens"
        options: dict[str, Any] = {limit: request.max_tokens}
        parts: list[str] = []
        reason: str | None = None
        usage: dict[str, Any] | None = None
        stream = await self._client.chat.completions.create(
            model=self._model,
            messages=[
                {"role": "system", "content": request.system_prompt},
                {"role": "user", "content": request.prompt},
            ],
            stream=True,
            stream_options={"include_usage": True},
            **options,
        )
        any_chunk = False
        async with stream:
            with readable_answer():
                async for chunk in stream:
                    any_chunk = True
                    # Compatible servers leave out, or set to null, what OpenAI always sends.
                    for choice in chunk.choices or ():
                        parts += _texts(choice.delta)
                        reason = choice.finish_reason or reason
                    if chunk.usage is not None:
                        usage = _usage(chunk.usage)
        if not any_chunk:
            return SummaryResult("the server's answer is no stream of chat completions", "error")
        return model_answer("".join(parts), reason, _STOP_REASONS, usage)


def _texts(delta: ChoiceDelta | None) -> list[str]:
    content: Any = delta.content if delta is not None else None
    return [content] if isinstance(content, str) else texts_of(content)


def _usage(usage: CompletionUsage) -> dict[str, Any]:
    details = usage.prompt_tokens_details
    cached = (details.cached_tokens if details is not None else None) or 0
    read, written = usage.prompt_tokens or 0, usage.completion_tokens or 0
    return {
        "input": read - cached,
        "output": written,
        "cacheRead": cached,
        "cacheWrite": 0,
        "totalTokens": usage.total_tokens or read + written,
    }
