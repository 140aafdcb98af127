"""A compaction that is aborted, or whose summary fails: an error, and nothing else comes of it (K-55, K-66, K-69)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import (
    AbortController,
    AbortError,
    AgentSession,
    AgentSettings,
    CompactionCancelledError,
    CompactionSettings,
    Hooks,
    InvalidEntryError,
    NothingToCompactError,
    SessionManager,
    SummaryError,
    SummaryResult,
)

Blocked = Callable[..., Any]
Recording = Callable[..., Any]
Say = Callable[..., Awaitable[None]]

SETTINGS = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=2), estimate_tokens=lambda _message: 1)


@pytest.fixture
async def spoken(session: SessionManager, say: Say) -> SessionManager:
    """A session of two turns."""
    await say(session, "u1", "a1", "u2", "a2")
    return session


@pytest.fixture
def told() -> list[Any]:
    """What the hooks of `hooks` were told after a compaction."""
    return []


@pytest.fixture
def hooks(told: list[Any]) -> Hooks:
    hooks = Hooks()
    hooks.on("session_compact", told.append)
    return hooks


async def expect_untouched(agent: AgentSession, told: list[Any]) -> None:
    """Nothing was written, no leaf moved, nobody was told; and the next compaction works."""
    session = agent.session
    assert (session.leaf_id, session.entry_ids(), told) == ("a2", ["u1", "a1", "u2", "a2"], [])
    assert len((await agent.get_context()).messages) == 4
    result = await agent.compact()
    assert [event.compaction_entry.id for event in told] == [result.entry_id] == [session.leaf_id]


@pytest.mark.parametrize("way", ["by its signal", "by the agent"])
async def test_a_compaction_can_be_aborted_while_it_is_summarized(
    way: str, spoken: SessionManager, blocked: Blocked, recording: Recording, hooks: Hooks, told: list[Any]
) -> None:
    """K-66, K-69, K-76: "Compaction cancelled", nothing appended, nothing left armed."""
    summarizer = blocked()
    agent = AgentSession(spoken, summarizer=summarizer, hooks=hooks, settings=SETTINGS)
    controller = AbortController()
    compaction = asyncio.ensure_future(agent.compact(signal=controller.signal))
    await summarizer.waits()
    agent.abort_compaction() if way == "by the agent" else controller.abort()
    with pytest.raises(CompactionCancelledError, match="Compaction cancelled") as caught:
        await compaction
    assert caught.value.aborted
    assert summarizer.cancelled == 1
    agent.summarizer = recording()
    await expect_untouched(agent, told)


async def test_a_signal_that_is_aborted_already_asks_nobody(
    spoken: SessionManager, recording: Recording, hooks: Hooks, told: list[Any]
) -> None:
    """K-66, D8: the reason is told."""
    summarizer = recording()
    agent = AgentSession(spoken, summarizer=summarizer, hooks=hooks, settings=SETTINGS)
    controller = AbortController()
    controller.abort("changed my mind")
    with pytest.raises(CompactionCancelledError) as caught:
        await agent.compact(signal=controller.signal)
    assert (caught.value.reason, summarizer.requests) == ("changed my mind", [])
    await expect_untouched(agent, told)


@pytest.mark.parametrize("event", ["session_before_compact", "session.compacting"])
async def test_an_abort_while_a_hook_decides_ends_the_compaction(
    event: str, spoken: SessionManager, recording: Recording, hooks: Hooks, told: list[Any]
) -> None:
    """K-63, K-66: the signal that the hook was given is the one that `abort_compaction` aborts."""
    summarizer = recording()
    agent = AgentSession(spoken, summarizer=summarizer, hooks=hooks, settings=SETTINGS)

    async def abort(given: Any) -> None:
        agent.abort_compaction()
        if event == "session_before_compact":
            assert given.signal.aborted
        await asyncio.Event().wait()

    remove = hooks.on(event, abort)
    with pytest.raises(CompactionCancelledError):
        await agent.compact()
    remove()
    assert summarizer.requests == []
    await expect_untouched(agent, told)


async def test_a_compaction_of_a_hook_that_was_aborted_is_not_taken(
    spoken: SessionManager, recording: Recording, hooks: Hooks, told: list[Any]
) -> None:
    """K-66, N-39 as settled: the signal is looked at after the hooks."""
    agent = AgentSession(spoken, summarizer=recording(), hooks=hooks, settings=SETTINGS)

    def supply(_event: object) -> dict[str, Any]:
        agent.abort_compaction()
        return {"compaction": {"summary": "too late", "first_kept_entry_id": "u2", "tokens_before": 1}}

    remove = hooks.on("session_before_compact", supply)
    with pytest.raises(CompactionCancelledError):
        await agent.compact()
    remove()
    await expect_untouched(agent, told)


async def test_a_hook_that_is_told_cannot_take_a_compaction_back(spoken: SessionManager, recording: Recording) -> None:
    """K-66, K-68: from the hand-over on an abort comes too late."""
    hooks = Hooks()
    agent = AgentSession(spoken, summarizer=recording(), hooks=hooks, settings=SETTINGS)
    hooks.on("session_compact", lambda _event: agent.abort_compaction())
    assert (await agent.compact()).entry_id == spoken.leaf_id


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (RuntimeError("no network"), SummaryError, "summarization failed: no network"),
        (SummaryResult("overloaded", "error"), SummaryError, "summarization failed: overloaded"),
        (SummaryResult("so f", "length"), SummaryError, "summarization failed: .* cut"),
        (" \n", SummaryError, "summarization failed: .* empty"),
        (SummaryResult("", "aborted"), CompactionCancelledError, "Compaction cancelled"),
        (AbortError("stopped"), CompactionCancelledError, "Compaction cancelled: aborted: stopped"),
        (SummaryResult("so far", details={"raw": object()}), InvalidEntryError, "cannot be written"),
    ],
)
async def test_a_summary_that_fails_is_not_stored(
    answer: Any,
    error: type[Exception],
    message: str,
    spoken: SessionManager,
    recording: Recording,
    hooks: Hooks,
    told: list[Any],
) -> None:
    """K-55 and "a summary cut by length" as settled, K-66."""
    agent = AgentSession(spoken, summarizer=recording(answer, "good"), hooks=hooks, settings=SETTINGS)
    with pytest.raises(error, match=message):
        await agent.compact()
    await expect_untouched(agent, told)


async def test_what_says_nothing_is_not_compacted_away(session: SessionManager, recording: Recording) -> None:
    """K-47, K-53: nobody is asked, and the images stay in the context."""
    image = {"type": "image", "data": "QUJD", "mimeType": "image/png"}
    await session.append_many([{"role": "user", "content": [image]}] * 2)
    await session.append_message({"role": "user", "content": "z" * 200})
    settings = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=40))
    summarizer = recording()
    with pytest.raises(NothingToCompactError, match="says nothing"):
        await AgentSession(session, summarizer=summarizer, settings=settings).compact()
    assert (summarizer.requests, session.entry_count) == ([], 3)
