"""What ends a session, or overtakes a flow, at the very moment when it lands (N-39, D4, D8)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AbortController,
    AbortError,
    AgentSession,
    AgentSettings,
    CompactionSettings,
    Hooks,
    LeafMovedError,
    SessionManager,
)

Make = Callable[..., Awaitable[SessionManager]]
Say = Callable[..., Awaitable[None]]
SMALL = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=1))
FLOWS: dict[str, Callable[[AgentSession], Awaitable[Any]]] = {
    "session_tree": lambda agent: agent.navigate_tree("a1", summarize=True),
    "session_compact": lambda agent: agent.compact(),
}


@pytest.fixture
async def talk(session: SessionManager, say: Say) -> SessionManager:
    """Two turns."""
    await say(session, "u1", "a1", "u2", "a2")
    return session


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("event", FLOWS)
async def test_a_session_that_is_closed_while_a_flow_lands_lets_it_land(
    talk: SessionManager, recording: Any, event: str, turns: int
) -> None:
    """N-39: the entry is recorded, the hooks were told, and the caller has the result."""
    hooks, told = Hooks(), list[Any]()
    hooks.on(event, told.append)
    agent = AgentSession(talk, hooks=hooks, summarizer=recording(), settings=SMALL)
    flow = asyncio.ensure_future(FLOWS[event](agent))
    while talk.leaf_id == "a2":  # noqa: ASYNC110 - the very turn of the loop is what is tested
        await asyncio.sleep(0)
    for _ in range(turns):
        await asyncio.sleep(0)
    await talk.close()
    await flow
    assert (talk.entry_count, len(told)) == (5, 1)


async def test_a_branch_ends_beside_those_who_never_stop_appending(make_file: Make, say: Say) -> None:
    """N-72: it waits for what was handed over before it, and for no more."""
    session = await make_file()
    await say(session, "u1", "a1", "u2")
    stop = False

    async def go_on() -> None:
        while not stop:
            await session.append_message({"role": "user", "content": "more"})

    appending = [asyncio.ensure_future(go_on()) for _ in range(3)]
    await asyncio.sleep(0)
    async with asyncio.timeout(20):
        result = await AgentSession(session).branch("u2")
    stop = True
    await asyncio.gather(*appending)
    assert (result.selected_text, session.path_ids()[:2]) == ("text of u2", ["u1", "a1"])


async def test_what_waits_for_the_appends_before_it_can_be_aborted(make_file: Make, say: Say, disk: Any) -> None:
    """D8: a fork by hand too."""
    session, controller = await make_file(), AbortController()
    await say(session, "u1")
    disk.hold()
    saying = asyncio.ensure_future(say(session, "a1"))
    await disk.holds()
    fork = asyncio.ensure_future(session.create_branched_session("u1", controller.signal))
    await asyncio.sleep(0)
    controller.abort()
    with pytest.raises(AbortError):
        await fork
    disk.go_on.set()
    await saying
    assert session.path_ids() == ["u1", "a1"]


@pytest.mark.parametrize("switch", ["fork", "new"])
async def test_a_branch_whose_session_was_switched_meanwhile_has_moved(make_file: Make, say: Say, switch: str) -> None:
    """N-70, case 50: a hook, or anybody else, went on in another file."""
    session = await make_file()
    await say(session, "u1", "a1", "u2")

    async def go_elsewhere(event: Any) -> None:
        await (session.create_branched_session("a1") if switch == "fork" else session.new_session())

    hooks, told = Hooks(), list[Any]()
    hooks.on("session_before_branch", go_elsewhere)
    hooks.on("session_branch", told.append)
    with pytest.raises(LeafMovedError):
        await AgentSession(session, hooks=hooks).branch("u2")
    directory = Path(str(session.session_file)).parent
    assert (told, len(list(directory.glob("*.jsonl")))) == ([], 2 if switch == "fork" else 1)


async def test_a_handler_of_appends_that_closes_the_agent_does_not_wait_for_itself(
    session: SessionManager, say: Say
) -> None:
    """D10: and those behind it are told all the same."""
    hooks, heard, agents = Hooks(), list[str](), list[AgentSession]()

    async def close(event: Any) -> None:
        heard.append(event.entry.id)
        await agents[0].close()

    hooks.on("session_append", close)
    agents.append(AgentSession(session, hooks=hooks))
    await say(session, "u1", "a1")
    async with asyncio.timeout(20):
        await agents[0].close()
    assert heard == ["u1", "a1"]


async def test_a_hook_may_change_the_lists_that_it_was_given(talk: SessionManager, recording: Any) -> None:
    """K-63: the compaction is made of what is in the session."""

    def clear(event: Any) -> None:
        event.preparation.messages_to_summarize.clear()
        event.preparation.file_operations.read.add("nobody.py")

    hooks, summarizer = Hooks(), recording()
    hooks.on("session_before_compact", clear)
    result = await AgentSession(talk, hooks=hooks, summarizer=summarizer, settings=SMALL).compact()
    assert summarizer.requests[0].messages
    assert result.details["readFiles"] == []
