"""Summaries by Anthropic's messages API (design D11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...eventstore.abort import AbortSignal
from .model_answer import model_answer, readable_answer
from .summarizer import SummaryRequest, SummaryResult

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Usage

_STOP_REASONS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}


class AnthropicSummarizer:
    """Asks a model through the caller's own `anthropic.AsyncAnthropic`: its address, key and retries hold.

    The answer is streamed, and the request is closed as soon as the signal is aborted.
    """

    def __init__(self, client: AsyncAnthropic, model: str) -> None:
        self._client = client
        self._model = model

    async def summarize(self, request: SummaryRequest, *, signal: AbortSignal) -> SummaryResult:
        """Return the model's answer. Raises `AbortError`, and what the client raises."""
        return await signal.run(self._ask(request))

    async def _ask(self, request: SummaryRequest) -> SummaryResult:
        async with self._client.messages.stream(
            model=self._model,
            max_tokens=request.max_tokens,
            system=request.system_prompt,
            messages=[{"role": "user", "content": request.prompt}],
        ) as stream:
            with readable_answer():
                answer = await stream.get_final_message()
        text = "\n".join(block.text for block in answer.content if block.type == "text")
        return model_answer(text, answer.stop_reason, _STOP_REASONS, _usage(answer.usage))


def _usage(usage: Usage) -> dict[str, Any]:
    counts = {
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cacheRead": usage.cache_read_input_tokens or 0,
        "cacheWrite": usage.cache_creation_input_tokens or 0,
    }
    return {**counts, "totalTokens": sum(counts.values())}
