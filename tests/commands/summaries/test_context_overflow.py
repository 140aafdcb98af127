"""Which answers failed because the context was too long (K-71)."""

from __future__ import annotations

from typing import Any

import pytest

from sessiontree.commands.context_overflow import is_context_overflow

Fields = dict[str, Any]

OVERFLOWS = {
    "Anthropic": "prompt is too long: 213462 tokens > 200000 maximum",
    "OpenAI": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "OpenAI chat": "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545.",
    "Google": "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "Bedrock": "Input is too long for requested model.",
    "Copilot": "prompt token count of 130001 exceeds the limit of 128000",
    "llama.cpp": "the request exceeds the available context size, try increasing it",
    "LM Studio": "The number of tokens to keep from the initial prompt is greater than the context length",
    "Ollama": "prompt too long; exceeded max context length by 4 tokens",
    "Mistral": "Prompt contains 40000 tokens; too large for model with 32768 maximum context length",
    "MiniMax": "invalid params, context window exceeds limit",
    "Kimi": "Your request exceeded model token limit: 262144 (requested: 291351)",
    "xAI": "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    "Groq": "Please reduce the length of the messages or completion",
    "Anthropic 413": '413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
    "a code": '400 {"error":{"code":"context_length_exceeded"}}',
    "a stop reason": "model_context_window_exceeded",
    "in capitals": "TOO MANY TOKENS",
}
OTHERS = {
    "nothing": None,
    "empty": "",
    "overloaded": "529 overloaded_error: Overloaded",
    "timeout": "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
    "length of the answer": "max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens",
    "rate": "Rate limit reached: too many tokens",
    "rate by the minute": "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 8000",
    "rate by the day": "Limit of tokens per day exceeded",
    "quota": "You exceeded your current quota of tokens, please check your plan",
    "throttled": "ThrottlingException: Too many tokens, please wait before trying again.",
    "code": 413,
}


def failed(message: object, **fields: Any) -> Fields:
    return {"role": "assistant", "content": [], "stopReason": "error", "errorMessage": message, **fields}


@pytest.mark.parametrize("message", OVERFLOWS.values(), ids=OVERFLOWS.keys())
def test_what_providers_say_of_an_overflow_is_understood(message: str) -> None:
    """K-71: whether the window is known or not."""
    assert is_context_overflow(failed(message), 0)
    assert is_context_overflow(failed(message), 200_000)


@pytest.mark.parametrize("message", OTHERS.values(), ids=OTHERS.keys())
def test_other_failures_are_no_overflow(message: object) -> None:
    """K-71: rates and quotas above all, which speak of tokens as well."""
    assert not is_context_overflow(failed(message), 200_000)


@pytest.mark.parametrize(
    "message",
    ["max_tokens (64000) exceeds the maximum output tokens (32000)", "Your OAuth token has exceeded its lifetime"],
)
def test_a_compaction_does_not_help_where_other_things_exceed(message: str) -> None:
    """K-71: it would replace the history for nothing."""
    assert not is_context_overflow(failed(message), 200_000)


@pytest.mark.parametrize(
    ("stop_reason", "usage", "window", "overflow"),
    [
        ("stop", {"input": 101}, 100, True),
        ("stop", {"input": 1, "cacheRead": 100}, 100, True),
        ("stop", {"contextTokens": 101}, 100, True),
        ("stop", {"input": 2}, 1, True),
        ("stop", {"input": 100}, 100, False),
        ("stop", {"input": 101}, 0, False),
        ("stop", {"input": 101}, -1, False),
        ("stop", None, 100, False),
        ("stop", "101", 100, False),
        ("aborted", {"input": 101}, 100, False),
        ("toolUse", {"input": 101}, 100, False),
        ("error", {"input": 101}, 100, False),
        (None, {"input": 101}, 100, False),
    ],
)
def test_an_answer_to_more_than_the_window_holds_is_an_overflow(
    stop_reason: str | None, usage: object, window: int, overflow: bool
) -> None:
    """K-71, K-13: some servers cut the context without a word."""
    message = {"role": "assistant", "content": [], "stopReason": stop_reason, "usage": usage}
    assert is_context_overflow(message, window) == overflow


@pytest.mark.parametrize("stop_reason", ["stop", "length", "aborted", None])
def test_what_an_answer_says_counts_only_where_it_failed(stop_reason: str | None) -> None:
    """K-71."""
    assert not is_context_overflow(failed("prompt is too long", stopReason=stop_reason), 0)
