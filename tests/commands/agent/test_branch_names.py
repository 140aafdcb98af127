"""The name of a session goes with a branch at its root: `SessionManager.new_session(keep_name=True)` (N-73, F-55)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from sessiontree import AgentSession, SessionManager

Records = Callable[[SessionManager], list[dict[str, Any]]]
Say = Callable[..., Awaitable[None]]
WriteFile = Callable[..., Path]


async def test_a_root_branch_keeps_the_name_and_who_gave_it(write_file: WriteFile, say: Say, records: Records) -> None:
    """X-119, N-73: a title that a person gave stays one."""
    path = write_file([{"id": "u1"}], title="my title", titleSource="user", additionalDirectories=["/x"])
    async with await SessionManager.open(path) as session:
        await AgentSession(session).branch("u1")
        assert session.session_name == "my title"
        await say(session, "u2")
        header, *entries = records(session)
    assert (header["title"], header["titleSource"]) == ("my title", "user")
    assert (header["additionalDirectories"], header["parentSession"]) == (["/x"], str(path))
    assert [entry["id"] for entry in entries] == ["u2"]


async def test_the_name_that_is_kept_is_the_one_that_holds(session: SessionManager, say: Say) -> None:
    """N-73, F-55 as settled: in the header's title, as the entry that gave it stays behind."""
    await say(session, "u1")
    await session.set_session_name("first")
    await session.set_session_name("the name")
    await session.new_session(keep_name=True)
    assert (session.session_name, session.header.title, session.entry_count) == ("the name", "the name", 0)
    await session.set_session_name("another")
    assert session.session_name == "another"


async def test_a_session_without_a_name_leaves_none(session: SessionManager, say: Say) -> None:
    """N-73: nor anything else in the header."""
    await say(session, "u1")
    names = set(session.header.fields)
    await session.new_session(keep_name=True)
    assert session.session_name is None
    assert set(session.header.fields) == names


async def test_only_a_branch_keeps_the_name(write_file: WriteFile) -> None:
    """T-81: a new session has none, and no further directories."""
    path = write_file([{"id": "u1"}], title="my title", additionalDirectories=["/x"])
    async with await SessionManager.open(path) as session:
        await session.new_session(str(path))
        assert session.session_name is None
        assert session.header.parent_session == str(path)
        assert "additionalDirectories" not in session.header.fields


async def test_a_name_on_its_way_is_kept_too(session: SessionManager, say: Say) -> None:
    """N-72, N-73: what was handed over before is recorded before."""
    await say(session, "u1")
    naming = asyncio.ensure_future(session.set_session_name("the name"))
    await asyncio.sleep(0)
    await session.new_session(keep_name=True)
    await naming
    assert session.session_name == "the name"


async def test_a_name_is_not_given_the_source_of_another_title(write_file: WriteFile) -> None:
    """X-119, N-73: else a name that a person gave counts as made up, and would be replaced."""
    path = write_file([{"id": "u1"}], title="made up", titleSource="auto")
    async with await SessionManager.open(path) as session:
        await session.set_session_name("my name")
        await session.new_session(keep_name=True)
        assert (session.header.title, session.header.title_source) != ("my name", "auto")
        assert session.session_name == "my name"
