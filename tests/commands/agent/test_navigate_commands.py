"""What a command of an extension may do (N-38, N-81)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import (
    AgentSession,
    CommandResult,
    EntryNotFoundError,
    ExtensionCommandContext,
    NoSummarizerError,
    NotAUserMessageError,
    SessionManager,
)

Say = Callable[..., Awaitable[None]]


@pytest.fixture
async def talk(session: SessionManager, say: Say) -> SessionManager:
    """u1, a1, u2, a2 in one line; the leaf is a2."""
    await say(session, "u1", "a1", "u2", "a2")
    return session


async def test_a_command_navigates_and_hears_only_whether_it_was_cancelled(
    talk: SessionManager, recording: Any
) -> None:
    """N-38: custom instructions are not for it."""
    commands = ExtensionCommandContext(AgentSession(talk, summarizer=recording()))
    assert await commands.navigate_tree("u2") == CommandResult(cancelled=False)
    assert (talk.leaf_id, talk.entry_count) == ("a1", 4)
    assert await commands.navigate_tree("u1", summarize=True) == CommandResult(cancelled=False)
    assert talk.path_ids() == talk.root_ids[1:]
    assert list(inspect.signature(commands.navigate_tree).parameters) == ["target_id", "summarize"]


@pytest.mark.parametrize("by", ["hook", "abort"])
async def test_a_command_hears_of_every_way_to_cancel(talk: SessionManager, by: str) -> None:
    """N-38."""
    agent = AgentSession(talk)
    agent.hooks.on(
        "session_before_tree", lambda event: {"cancel": True} if by == "hook" else agent.abort_branch_summary()
    )
    assert await ExtensionCommandContext(agent).navigate_tree("u1") == CommandResult(cancelled=True)
    assert talk.leaf_id == "a2"


async def test_a_command_branches(talk: SessionManager) -> None:
    """N-81."""
    agent = AgentSession(talk)
    cancel = agent.hooks.on("session_before_branch", lambda event: {"cancel": True})
    commands = ExtensionCommandContext(agent)
    assert await commands.branch("u2") == CommandResult(cancelled=True)
    assert talk.leaf_id == "a2"
    cancel()
    assert await commands.branch("u2") == CommandResult(cancelled=False)
    assert talk.entry_ids() == ["u1", "a1"]


async def test_what_is_refused_is_raised(talk: SessionManager) -> None:
    """N-03, N-04, N-70."""
    commands = ExtensionCommandContext(AgentSession(talk))
    with pytest.raises(EntryNotFoundError):
        await commands.navigate_tree("nope")
    with pytest.raises(NoSummarizerError):
        await commands.navigate_tree("u1", True)
    with pytest.raises(NotAUserMessageError):
        await commands.branch("a1")
    assert talk.leaf_id == "a2"
