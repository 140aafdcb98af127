"""An operation that begins while the writer is busy waits for the entry that it begins at; it can be aborted there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from sessiontree import (
    AbortController,
    AbortSignal,
    AgentSession,
    AgentSettings,
    CompactionSettings,
    EntryNotFoundError,
    SessionManager,
)

Flow = Callable[[AgentSession, AbortSignal], Awaitable[Any]]

SETTINGS = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=2), estimate_tokens=lambda _message: 1)


@pytest.fixture
async def agent(
    make_file: Callable[..., Awaitable[SessionManager]],
    say: Callable[..., Awaitable[None]],
    recording: Callable[..., Any],
    disk: Any,
) -> AsyncIterator[AgentSession]:
    """On a session whose leaf, `u3`, is being written; the writer goes on with `disk.go_on`."""
    session = await make_file()
    await say(session, "u1", "a1", "u2", "a2")
    disk.hold()
    saying = asyncio.ensure_future(say(session, "u3"))
    await disk.holds()
    yield AgentSession(session, summarizer=recording(), settings=SETTINGS)
    disk.go_on.set()
    await asyncio.gather(saying, return_exceptions=True)


async def test_a_leaf_that_is_never_recorded_is_not_prepared(agent: AgentSession, disk: Any) -> None:
    """D4, K-62: a compaction takes what that fell back to."""
    disk.errors.append(OSError(28, "No space left on device"))
    compaction = asyncio.ensure_future(agent.compact())
    await asyncio.sleep(0)
    assert agent.session.leaf_id == "u3"
    disk.go_on.set()
    result = await compaction
    assert agent.session.path_ids() == ["u1", "a1", "u2", "a2", result.entry_id]
    assert result.first_kept_entry_id == "u2"


async def test_a_message_that_is_never_recorded_cannot_be_branched_at(agent: AgentSession, disk: Any) -> None:
    """N-70."""
    disk.errors.append(OSError(28, "No space left on device"))
    branching = asyncio.ensure_future(agent.branch("u3"))
    await asyncio.sleep(0)
    disk.go_on.set()
    with pytest.raises(EntryNotFoundError):
        await branching
    assert agent.session.entry_ids() == ["u1", "a1", "u2", "a2"]


@pytest.mark.parametrize(
    "flow",
    [
        lambda agent, signal: agent.compact(signal=signal),
        lambda agent, signal: agent.branch("u3", signal=signal),
        lambda agent, signal: agent.maybe_compact(signal=signal),
    ],
    ids=["a compaction", "a branch", "an automatic check"],
)
async def test_who_waits_for_an_entry_can_be_aborted(flow: Flow, agent: AgentSession, disk: Any) -> None:
    """K-66, D8: at once, however long the writer takes."""
    controller = AbortController()
    operation = asyncio.ensure_future(flow(agent, controller.signal))
    await asyncio.sleep(0)
    controller.abort()
    for _ in range(20):
        await asyncio.sleep(0)
    ended = operation.done()
    disk.go_on.set()
    await asyncio.gather(operation, return_exceptions=True)
    assert ended
