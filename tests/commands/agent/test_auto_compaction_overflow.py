"""Recovery from an answer that failed since the context was too long for the model (K-71, K-73)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sessiontree import AgentSession, AgentSettings, AutoCompactionResult, CompactionSettings, Model, SessionManager
from sessiontree.commands.context_overflow import is_context_overflow

Recording = Callable[..., Any]

MODEL = Model("acme", "m-1", 100)
SETTINGS = AgentSettings(
    compaction=CompactionSettings(keep_recent_tokens=2, threshold_tokens=50), estimate_tokens=lambda _message: 1
)
USER = {"role": "user", "content": "text"}
ANSWER = {"role": "assistant", "content": "text", "provider": "acme", "model": "m-1", "stopReason": "stop"}
OVERFLOW = {**ANSWER, "content": [], "stopReason": "error", "errorMessage": "prompt is too long"}
SILENT = {**ANSWER, "content": "cut off in silence", "usage": {"totalTokens": 101}}


async def check(agent: AgentSession, *messages: dict[str, Any]) -> AutoCompactionResult:
    """Append messages and check."""
    await agent.session.append_many(messages)
    done = await agent.maybe_compact()
    assert done is not None
    assert done.reason == "overflow"
    return done


def is_refused(done: AutoCompactionResult) -> bool:
    """Tell whether nothing was done since this turn was recovered before; else it was compacted."""
    if done.result is not None:
        assert (done.will_retry, done.error_message) == (True, None)
        return False
    assert done.error_message is not None
    assert done.error_message.startswith("Context overflow recovery failed: ")
    assert (done.aborted, done.will_retry) == (False, False)
    return True


@pytest.mark.parametrize(
    "text",
    [
        "prompt is too long: 213462 tokens > 200000 maximum",
        "The model returned the following errors: Input is too long for requested model.",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "400 This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens.",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        '{"error":{"code":"context_length_exceeded","message":"too much"}}',
        "prompt token count of 140000 exceeds the limit of 128000",
        "the request exceeds the available context size, try increasing it",
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        "invalid params, context window exceeds limit",
        "Your request exceeded model token limit: 262144 (requested: 291351)",
        "Too many tokens in the request",
        "PROMPT IS TOO LONG",
    ],
)
def test_an_overflow_is_known_by_what_providers_say_of_it(text: str) -> None:
    """K-71: in any case, and whatever the window is."""
    assert is_context_overflow({"stopReason": "error", "errorMessage": text}, 0)
    assert not is_context_overflow({"stopReason": "stop", "errorMessage": text}, 0)


@pytest.mark.parametrize(
    "text",
    [
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Please reduce the length of the messages or completion.",
        '413 {"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
    ],
)
def test_an_overflow_is_known_in_the_words_of_further_providers(text: str) -> None:
    """K-71: xAI, Groq, and Anthropic for a body that is too large."""
    assert is_context_overflow({"stopReason": "error", "errorMessage": text}, 0)


@pytest.mark.parametrize(
    "text",
    [
        "Rate limit reached for gpt-4o: limit 30000 tokens per minute, your request exceeds it",
        "You exceeded your current quota, please check your plan: too many tokens",
        "ThrottlingException: Too many tokens, please wait before trying again.",
        "Too many tokens per day",
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
        "Overloaded",
        "",
        None,
        7,
    ],
)
def test_other_errors_are_no_overflow(text: object) -> None:
    """K-71: what passes by waiting, most of all."""
    assert not is_context_overflow({"stopReason": "error", "errorMessage": text}, 100)


@pytest.mark.parametrize(
    ("usage", "window", "overflows"),
    [
        ({"totalTokens": 101}, 100, True),
        ({"totalTokens": 100}, 100, False),
        ({"input": 60, "cacheRead": 41}, 100, True),
        ({"totalTokens": 101}, 0, False),
        ("much", 100, False),
        (None, 100, False),
    ],
)
def test_an_answer_that_read_more_than_the_window_overflowed_in_silence(
    usage: object, window: int, overflows: bool
) -> None:
    """K-71, K-13."""
    assert is_context_overflow({"stopReason": "stop", "usage": usage}, window) is overflows


async def test_the_turn_that_failed_is_worth_another_try(session: SessionManager, recording: Recording) -> None:
    """K-71: the answer that failed is in the session, and not in the context."""
    agent = AgentSession(session, summarizer=recording(), model=MODEL, settings=SETTINGS)
    done = await check(agent, USER, ANSWER, USER, OVERFLOW)
    assert done.will_retry
    assert done.result is not None
    assert session.leaf_id == done.result.entry_id
    assert OVERFLOW in [getattr(entry, "message", None) for entry in await session.get_branch()]
    assert OVERFLOW not in (await agent.get_context()).messages


async def test_an_answer_that_overflowed_in_silence_stands_and_is_not_tried_again(
    session: SessionManager, recording: Recording
) -> None:
    """K-71, and what `AutoCompactionResult.will_retry` says: an answer is there, and it is in the context."""
    agent = AgentSession(session, summarizer=recording(), model=MODEL, settings=SETTINGS)
    done = await check(agent, USER, ANSWER, USER, SILENT)
    assert (done.reason, done.will_retry) == ("overflow", False)
    assert SILENT in (await agent.get_context()).messages


async def test_an_overflow_is_recovered_once_in_a_turn(session: SessionManager, recording: Recording) -> None:
    """K-73, X-139: a turn begins with a user message, and the next one may be recovered again."""
    summarizer = recording()
    agent = AgentSession(session, summarizer=summarizer, model=MODEL, settings=SETTINGS)
    assert not is_refused(await check(agent, USER, ANSWER, USER, ANSWER, USER, OVERFLOW))
    asked, leaf_id = len(summarizer.requests), await session.append_message(OVERFLOW)
    assert is_refused(await check(agent))
    assert (len(summarizer.requests), session.leaf_id) == (asked, leaf_id)
    assert not is_refused(await check(agent, ANSWER, USER, OVERFLOW))


async def test_a_recovery_that_failed_may_be_tried_again(session: SessionManager, recording: Recording) -> None:
    """K-73: it is compactions that count."""
    summarizer = recording(RuntimeError("no network"), "so far")
    agent = AgentSession(session, summarizer=summarizer, model=MODEL, settings=SETTINGS)
    failed = await check(agent, USER, ANSWER, USER, OVERFLOW)
    assert failed.error_message == "Context overflow recovery failed: summarization failed: no network"
    assert not is_refused(await check(agent))


@pytest.mark.parametrize("by_hand", [True, False])
async def test_another_compaction_is_no_recovery(by_hand: bool, session: SessionManager, recording: Recording) -> None:
    """K-73: neither one by hand nor one that was due by the threshold counts for the turn."""
    agent = AgentSession(session, summarizer=recording(), model=MODEL, settings=SETTINGS)
    await session.append_many([USER, ANSWER, USER, {**ANSWER, "usage": {"totalTokens": 99}}])
    if by_hand:
        await agent.compact()
    else:
        done = await agent.maybe_compact()
        assert done is not None
        assert (done.reason, done.will_retry) == ("threshold", False)
    assert not is_refused(await check(agent, OVERFLOW))


async def test_a_turn_without_a_user_message_is_recovered_too(session: SessionManager, recording: Recording) -> None:
    """K-71: one that a custom message began, say."""
    await session.append_custom_message_entry("job", "begin", True)
    agent = AgentSession(session, summarizer=recording(), model=MODEL, settings=SETTINGS)
    assert not is_refused(await check(agent, ANSWER, ANSWER, OVERFLOW))


async def test_a_turn_that_a_compaction_has_split_is_the_same_turn(
    session: SessionManager, recording: Recording
) -> None:
    """K-73: its user message is summarized by the first recovery, and there is no second one."""
    agent = AgentSession(session, summarizer=recording(), model=MODEL, settings=SETTINGS)
    assert not is_refused(await check(agent, USER, ANSWER, ANSWER, OVERFLOW))
    assert is_refused(await check(agent, ANSWER, OVERFLOW))
