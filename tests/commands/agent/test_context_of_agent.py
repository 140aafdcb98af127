"""`AgentSession.get_context`: the context of where the agent stands, built when it is asked for (N-33)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from sessiontree import AgentSession, Model, SessionContext, SessionManager

Say = Callable[..., Coroutine[Any, Any, None]]
MakeFile = Callable[..., Awaitable[SessionManager]]


@pytest.fixture
async def talk(session: SessionManager, say: Say) -> SessionManager:
    """u1, a1, u2, a2 in one line; the leaf is a2."""
    await say(session, "u1", "a1", "u2", "a2")
    return session


def texts(context: SessionContext) -> list[str]:
    contents: list[Any] = [message.get("content", message.get("summary")) for message in context.messages]
    return [
        (content if isinstance(content, str) else content[0]["text"]).removeprefix("text of ") for content in contents
    ]


async def test_it_is_the_context_of_the_leaf(talk: SessionManager) -> None:
    """N-33, C-01: above all roots it is empty."""
    agent = AgentSession(talk)
    assert await agent.get_context() == await talk.build_session_context()
    assert texts(await agent.get_context()) == ["u1", "a1", "u2", "a2"]
    talk.reset_leaf()
    assert texts(await agent.get_context()) == []


async def test_it_is_built_once_for_each_position(talk: SessionManager) -> None:
    """N-33: the same one while nothing moves."""
    agent = AgentSession(talk)
    context = await agent.get_context()
    assert await agent.get_context() is context
    await agent.navigate_tree("a2")
    assert await agent.get_context() is context


async def test_it_follows_every_navigation(talk: SessionManager, recording: Any) -> None:
    """N-33: with a summary, to a message to be written anew, and back."""
    agent = AgentSession(talk, summarizer=recording("sum"))
    seen = []
    for target, summarize in (("u2", False), ("u1", False), ("a2", False), ("a1", True)):
        await agent.navigate_tree(target, summarize=summarize)
        seen.append([text.split()[-1] for text in texts(await agent.get_context())])
    assert seen == [["u1", "a1"], [], ["u1", "a1", "u2", "a2"], ["u1", "a1", "sum"]]


async def test_it_follows_appends_bare_moves_and_other_files(talk: SessionManager, say: Say) -> None:
    """N-33: whatever moves the leaf or the log."""
    agent = AgentSession(talk)
    await agent.get_context()
    await say(talk, "u3")
    assert texts(await agent.get_context())[-1] == "u3"
    talk.branch("a1")
    assert texts(await agent.get_context()) == ["u1", "a1"]
    await talk.append_compaction("sum", "a1", 1)
    assert texts(await agent.get_context()) == ["sum", "a1"]
    talk.branch("a2")
    await talk.create_branched_session("u2")
    assert texts(await agent.get_context()) == ["u1", "a1", "u2"]
    await talk.new_session()
    assert texts(await agent.get_context()) == []


async def test_a_new_file_of_the_same_shape_has_its_own(make_file: MakeFile, say: Say) -> None:
    """N-33: as many entries and the same leaf are not the same log."""
    session = await make_file()
    await say(session, "u1", "a1")
    agent = AgentSession(session)
    before = await agent.get_context()
    await session.create_branched_session("a1")
    after = await agent.get_context()
    assert after == before
    assert after is not before


async def test_it_waits_for_a_leaf_on_its_way(make_file: MakeFile, say: Say, disk: Any) -> None:
    """N-33, D4."""
    session = await make_file()
    await say(session, "u1")
    agent = AgentSession(session)
    await agent.get_context()
    disk.hold()
    pending = asyncio.create_task(say(session, "u2"))
    await disk.holds()
    asked = asyncio.create_task(agent.get_context())
    await asyncio.sleep(0)
    disk.go_on.set()
    assert texts(await asked) == ["u1", "u2"]
    await pending
    assert texts(await agent.get_context()) == ["u1", "u2"]


async def test_a_rewritten_file_is_read_anew(make_file: MakeFile, say: Say) -> None:
    """N-33, D5: the same ids with other texts."""
    writer = await make_file()
    await say(writer, "u1", "a1")
    await writer.close()
    path = Path(str(writer.session_file))
    async with await SessionManager.open(path) as session:
        agent = AgentSession(session)
        assert texts(await agent.get_context()) == ["u1", "a1"]
        path.write_bytes(path.read_bytes().replace(b"text of a1", b"TEXT of a1"))
        assert await session.refresh()
        assert texts(await agent.get_context()) == ["u1", "TEXT of a1"]


async def test_the_settings_on_the_new_path_do_not_become_the_agents(talk: SessionManager) -> None:
    """N-33: the context tells of them; what the agent runs on is its owner's choice."""
    await talk.append_model_change("acme/m-2")
    await talk.append_thinking_level_change("high")
    leaf = talk.leaf_id
    assert leaf is not None
    model = Model("acme", "m-1", 1000)
    agent = AgentSession(talk, model=model)
    await agent.navigate_tree("a1")
    assert (await agent.get_context()).models == {}
    await agent.navigate_tree(leaf)
    context = await agent.get_context()
    assert (context.models, context.thinking_level) == ({"default": "acme/m-2"}, "high")
    assert agent.model == model
