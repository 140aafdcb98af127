"""The hook `session_append`: each entry that a session records is told, in order, beside the appends (D10)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import AgentSession, AppendError, SessionManager

Say = Callable[..., Awaitable[None]]


def listening(session: SessionManager) -> tuple[AgentSession, list[str]]:
    """An agent session, and the ids of the entries that it is told of."""
    agent, told = AgentSession(session), list[str]()
    agent.hooks.on("session_append", lambda event: told.append(event.entry.id))
    return agent, told


async def test_every_entry_is_told_in_order(session: SessionManager, say: Say) -> None:
    """By whichever cursor, of every type, and those of a batch too; what was there before is not."""
    await say(session, "u0")
    agent, told = listening(session)
    await say(session, "u1", "a1")
    many = await session.append_many([{"role": "user", "content": text} for text in "ab"])
    label = await session.append_label_change("u1", "x")
    other = await session.cursor("u1").append_custom_entry("c")
    await agent.close()
    assert told == ["u1", "a1", *many, label, other]


async def test_what_is_told_is_the_entry_as_it_is_recorded(session: SessionManager) -> None:
    agent, told = AgentSession(session), list[Any]()
    agent.hooks.on("session_append", told.append)
    entry_id = await session.append_custom_entry("c", {"x": [1]})
    await agent.close()
    assert [(event.type, event.entry) for event in told] == [("session_append", await session.get_entry(entry_id))]


async def test_an_append_waits_for_no_handler(session: SessionManager, say: Say) -> None:
    """They are told one after the other all the same, and closing waits for it."""
    agent, go_on, told = AgentSession(session), asyncio.Event(), list[str]()

    @agent.hooks.on("session_append")
    async def wait(event: Any) -> None:
        await go_on.wait()
        told.append(event.entry.id)

    await say(session, "u1", "a1", "u2")
    closing = asyncio.create_task(agent.close())
    await asyncio.sleep(0)
    assert (told, closing.done()) == ([], False)
    go_on.set()
    await closing
    assert told == ["u1", "a1", "u2"]


async def test_a_handler_may_append_itself(session: SessionManager, say: Say) -> None:
    """Its entries are told too."""
    agent, told = listening(session)

    @agent.hooks.on("session_append")
    async def answer(event: Any) -> None:
        if event.entry.id == "u1":
            await say(session, "a1")

    await say(session, "u1")
    await agent.close()
    assert (told, session.path_ids()) == (["u1", "a1"], ["u1", "a1"])


async def test_a_handler_that_fails_misses_only_its_entry(session: SessionManager, say: Say) -> None:
    """N-53."""
    agent, told = listening(session)
    agent.hooks.on("session_append", lambda event: 1 / 0)
    agent.hooks.on("session_append", lambda event: told.append("second " + event.entry.id))
    await say(session, "u1", "a1")
    await agent.close()
    assert told == ["u1", "second u1", "a1", "second a1"]


async def test_a_handler_is_told_from_when_it_comes_to_when_it_goes(session: SessionManager, say: Say) -> None:
    agent, told = AgentSession(session), list[str]()
    await say(session, "u1")
    remove = agent.hooks.on("session_append", lambda event: told.append(event.entry.id))
    await say(session, "a1")
    await agent.close()
    remove()
    await say(session, "u2")
    await agent.close()
    assert told == ["a1"]


async def test_what_a_navigation_writes_is_told(session: SessionManager, say: Say, recording: Any) -> None:
    await say(session, "u1", "a1")
    agent, told = listening(session)
    agent.summarizer = recording()
    await agent.navigate_tree("u1", summarize=True, label="x")
    await agent.close()
    assert told == session.path_ids()


async def test_a_session_that_goes_on_in_another_file_is_followed(session: SessionManager, say: Say) -> None:
    """D10: what is appended there is told; what was copied is not."""
    await say(session, "u1", "a1")
    agent, told = listening(session)
    await session.create_branched_session("u1")
    await say(session, "u2")
    await agent.close()
    assert told == ["u2"]


async def test_of_a_failed_batch_what_is_on_the_disk_is_told(make_file: Callable[..., Any], disk: Any) -> None:
    """D4: the whole lines that were kept."""
    session = await make_file()
    first = await session.append_custom_entry("c", "x" * 100)
    agent, told = listening(session)
    disk.left = len(await session.get_line(first)) * 2
    with pytest.raises(AppendError):
        await session.append_many([{"role": "user", "content": "x" * 100} for _ in range(2)])
    await agent.close()
    assert told == session.entry_ids()[1:]
    assert len(told) == 1
