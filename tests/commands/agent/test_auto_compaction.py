"""`AgentSession.maybe_compact`: when the automatic check compacts, and for what reason (K-01, K-70..K-73)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import AgentSession, AgentSettings, CompactionSettings, Model, SessionManager

Make = Callable[..., Awaitable[SessionManager]]
Recording = Callable[..., Any]

MODEL = Model("acme", "m-1", 100)
OVERFLOW: dict[str, Any] = {
    "stopReason": "error",
    "errorMessage": "prompt is too long: 213462 tokens > 200000 maximum",
}


def settings(each: int = 1, **fields: Any) -> AgentSettings:
    """Each message counts as so many tokens; two are kept; more than 50 are too many."""
    compaction = CompactionSettings(**{"keep_recent_tokens": 2 * each, "threshold_tokens": 50, **fields})
    return AgentSettings(compaction=compaction, estimate_tokens=lambda _message: each)


def answer(usage: int | None = None, **fields: Any) -> dict[str, Any]:
    """What the model said; `usage`: the tokens of its context."""
    message = {"role": "assistant", "content": "text", "provider": "acme", "model": "m-1", "stopReason": "stop"}
    return {**message, **({"usage": {"totalTokens": usage}} if usage is not None else {}), **fields}


async def exchange(session: SessionManager, *answers: dict[str, Any]) -> None:
    """Append a user message before each answer."""
    for message in answers:
        await session.append_many([{"role": "user", "content": "text"}, message])


async def reason_of(agent: AgentSession, *, before_prompt: bool = False) -> str | None:
    """Check; the leaf moves exactly when the check was due."""
    leaf_id = agent.session.leaf_id
    done = await agent.maybe_compact(before_prompt=before_prompt)
    assert (agent.session.leaf_id != leaf_id) == (done is not None)
    return done.reason if done is not None else None


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (answer(50), None),
        (answer(51), "threshold"),
        (answer(51, stopReason="toolUse"), "threshold"),
        (answer(51, stopReason="length"), "threshold"),
        (answer(51, provider="other"), "threshold"),
        (answer(100), "threshold"),
        (answer(101), "overflow"),
        (answer(101, stopReason="toolUse"), "threshold"),
        (answer(101, model="m-0"), "threshold"),
        (answer(**OVERFLOW), "overflow"),
        (answer(**OVERFLOW, model="m-0"), None),
        (answer(**OVERFLOW, provider="other"), None),
        (answer(stopReason="error", errorMessage="overloaded"), None),
        (answer(stopReason="error", errorMessage=None), None),
        (answer(), None),
    ],
)
async def test_the_last_answer_decides(
    last: dict[str, Any], reason: str | None, session: SessionManager, recording: Recording
) -> None:
    """K-70, K-71, K-73, K-11: above the threshold; an overflow only where it is the agent's own model that failed."""
    await exchange(session, answer(), last)
    agent = AgentSession(session, summarizer=recording(), model=MODEL, settings=settings())
    assert await reason_of(agent) == reason


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (answer(stopReason="error", errorMessage="overloaded"), "threshold"),
        (answer(500, stopReason="error", errorMessage="overloaded"), "threshold"),
        (answer(7), None),
    ],
)
async def test_an_error_is_measured_by_the_last_answer_that_came(
    last: dict[str, Any], reason: str | None, session: SessionManager, recording: Recording
) -> None:
    """X-139, K-73, K-22: with an estimate of what followed it."""
    await exchange(session, answer(49), last)
    agent = AgentSession(session, summarizer=recording(), model=MODEL, settings=settings())
    assert await reason_of(agent) == reason


async def test_without_any_answer_that_came_an_error_is_measured_by_nothing(
    session: SessionManager, recording: Recording
) -> None:
    """X-139, K-73: the estimate alone is no reason then, as it is for an answer without usage."""
    await exchange(session, answer(), answer(stopReason="error", errorMessage="overloaded"))
    agent = AgentSession(session, summarizer=recording(), model=MODEL, settings=settings(each=20))
    assert await reason_of(agent) is None
    await exchange(session, answer())
    assert await reason_of(agent) == "threshold"


@pytest.mark.parametrize(
    ("earlier", "last", "reason"),
    [
        (answer(60), answer(stopReason="aborted"), "threshold"),
        (answer(10), answer(500, stopReason="aborted"), None),
        (answer(10), answer(60), "threshold"),
    ],
)
async def test_an_aborted_answer_counts_before_a_prompt_only(
    earlier: dict[str, Any], last: dict[str, Any], reason: str | None, session: SessionManager, recording: Recording
) -> None:
    """K-70, K-22: its own usage never does."""
    await exchange(session, earlier, last)
    agent = AgentSession(session, summarizer=recording(), model=MODEL, settings=settings())
    if last["stopReason"] == "aborted":
        assert await reason_of(agent) is None
    assert await reason_of(agent, before_prompt=True) == reason


@pytest.mark.parametrize("last", [answer(51), answer(101), answer(**OVERFLOW)])
@pytest.mark.parametrize("off", [{"enabled": False}, {"strategy": "off"}])
async def test_the_check_can_be_turned_off(
    off: dict[str, Any], last: dict[str, Any], session: SessionManager, recording: Recording
) -> None:
    """K-01, K-04, K-70: by hand a session is compacted all the same."""
    await exchange(session, answer(), last)
    agent = AgentSession(session, summarizer=recording(), model=MODEL, settings=settings(**off))
    assert await reason_of(agent) is None
    await agent.compact()


@pytest.mark.parametrize(
    ("model", "last", "reason"),
    [
        (None, answer(51), None),
        (None, answer(**OVERFLOW), None),
        (Model("acme", "m-1"), answer(500), None),
        (Model("acme", "m-1"), answer(**OVERFLOW), "overflow"),
    ],
)
async def test_what_is_not_known_of_the_model_is_no_reason(
    model: Model | None, last: dict[str, Any], reason: str | None, session: SessionManager, recording: Recording
) -> None:
    """K-11, K-71: without a window there is no threshold, but an overflow is one."""
    await exchange(session, answer(), last)
    agent = AgentSession(session, summarizer=recording(), model=model, settings=settings())
    assert await reason_of(agent) == reason


async def test_without_an_answer_there_is_nothing_to_check(session: SessionManager, recording: Recording) -> None:
    """K-70."""
    agent = AgentSession(session, summarizer=recording(), model=MODEL, settings=settings(each=40))
    assert await reason_of(agent) is None
    await session.append_many([{"role": "user", "content": "text"}] * 3)
    assert await reason_of(agent, before_prompt=True) is None


@pytest.mark.parametrize(
    ("next_answer", "reason"),
    [
        (None, None),
        (answer(), None),
        (answer(stopReason="error", errorMessage="overloaded"), None),
        (answer(51), "threshold"),
    ],
)
@pytest.mark.parametrize("kept", [answer(90), answer(101), answer(**OVERFLOW)])
async def test_an_answer_from_before_a_compaction_is_no_reason_for_another(
    kept: dict[str, Any],
    next_answer: dict[str, Any] | None,
    reason: str | None,
    session: SessionManager,
    recording: Recording,
) -> None:
    """X-139, K-71, K-73: nor is its usage, though it is kept."""
    await exchange(session, answer(40), kept)
    agent = AgentSession(session, summarizer=recording(), model=MODEL, settings=settings())
    result = await agent.compact()
    assert result.first_kept_entry_id == session.path_ids()[2]
    if next_answer is not None:
        await exchange(session, next_answer)
    assert await reason_of(agent) == reason


@pytest.mark.parametrize(
    ("made", "reason"), [(1_999_999, None), (2_000_000, "overflow"), (2_000_001, "overflow"), (None, "overflow")]
)
async def test_an_answer_that_is_older_than_the_compaction_is_no_reason(
    made: int | None, reason: str | None, make: Make, recording: Recording
) -> None:
    """K-72, X-139: by its own time, whatever its place; in milliseconds, and the same one is not older."""
    session = await make(clock=lambda: 2000.0)
    agent = AgentSession(session, summarizer=recording(), model=MODEL, settings=settings())
    await exchange(session, answer(), answer())
    await agent.compact()
    await exchange(session, answer(**OVERFLOW, **({"timestamp": made} if made is not None else {})))
    assert await reason_of(agent) == reason
