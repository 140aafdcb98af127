"""Somebody writes or moves while a compaction is summarized: where it lands, and where it does not (case 50)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AgentSession,
    AgentSettings,
    AppendError,
    CompactionSettings,
    Hooks,
    LeafMovedError,
    SessionManager,
)

Blocked = Callable[..., Any]
Held = tuple[AgentSession, asyncio.Future[Any], asyncio.Future[Any]]
MakeFile = Callable[..., Awaitable[SessionManager]]
Meanwhile = Callable[[SessionManager], Awaitable[Any]]
Say = Callable[..., Awaitable[None]]

SETTINGS = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=2), estimate_tokens=lambda _message: 1)


@pytest.fixture
async def spoken(session: SessionManager, say: Say) -> SessionManager:
    """Two turns, and another way to go on after the first; the leaf is `a2`."""
    await say(session, "u1", "a1", "elsewhere")
    session.branch("a1")
    await say(session, "u2", "a2")
    return session


async def beside(session: SessionManager) -> None:
    await session.cursor("a1").append_message({"role": "user", "content": "beside"})


async def away_and_back(session: SessionManager) -> None:
    session.branch("a1")
    session.branch("a2")


async def below(session: SessionManager) -> None:
    await session.append_message({"role": "user", "content": "one more"}, entry_id="u3")


async def far_below(session: SessionManager) -> None:
    await session.append_many([{"role": "user", "content": "one more"}] * 3)
    await session.append_label_change("a2", "mark", entry_id="l1")


async def to_a_child(session: SessionManager) -> None:
    await session.cursor("a2").append_message({"role": "user", "content": "by another"}, entry_id="u3")
    session.branch("u3")


async def another_compaction(session: SessionManager) -> None:
    await session.append_compaction("overtaken", "a2", 1, entry_id="c0")


@pytest.mark.parametrize(
    ("meanwhile", "parent_id", "messages"),
    [
        (beside, "a2", 3),
        (away_and_back, "a2", 3),
        (below, "u3", 4),
        (far_below, "l1", 6),
        (to_a_child, "u3", 4),
        (another_compaction, "c0", 3),
    ],
)
async def test_a_compaction_lands_at_the_prepared_leaf_or_below_it(
    meanwhile: Meanwhile, parent_id: str, messages: int, spoken: SessionManager, blocked: Blocked
) -> None:
    """K-67, K-81: what was said meanwhile is kept."""
    summarizer = blocked("so far")
    agent = AgentSession(spoken, summarizer=summarizer, settings=SETTINGS)
    compaction = asyncio.ensure_future(agent.compact())
    await summarizer.waits()
    await meanwhile(spoken)
    summarizer.release.set()
    result = await compaction
    assert spoken.leaf_id == result.entry_id
    assert (spoken.shape(result.entry_id).parent_id, result.first_kept_entry_id) == (parent_id, "u2")
    context = (await agent.get_context()).messages
    assert (context[0]["summary"], len(context)) == ("so far", messages)


async def to_the_other_branch(session: SessionManager) -> None:
    session.branch("elsewhere")


async def above(session: SessionManager) -> None:
    session.branch("u2")


async def above_all(session: SessionManager) -> None:
    session.reset_leaf()


async def beside_and_there(session: SessionManager) -> None:
    session.branch("a1")
    await session.append_message({"role": "user", "content": "another way"})


async def to_a_new_session(session: SessionManager) -> None:
    await session.new_session()


async def to_a_fork(session: SessionManager) -> None:
    await session.create_branched_session("a2")


@pytest.mark.parametrize(
    "meanwhile", [to_the_other_branch, above, above_all, beside_and_there, to_a_new_session, to_a_fork]
)
async def test_a_compaction_lands_nowhere_else(meanwhile: Meanwhile, spoken: SessionManager, blocked: Blocked) -> None:
    """Case 50: nothing is written, neither there nor where it was prepared, and nobody is told of a compaction."""
    told: list[object] = []
    hooks = Hooks()
    hooks.on("session_compact", told.append)
    summarizer = blocked()
    agent = AgentSession(spoken, summarizer=summarizer, hooks=hooks, settings=SETTINGS)
    prepared = spoken.session_file
    compaction = asyncio.ensure_future(agent.compact())
    await summarizer.waits()
    await meanwhile(spoken)
    before = (spoken.session_file, spoken.leaf_id, spoken.entry_ids())
    summarizer.release.set()
    with pytest.raises(LeafMovedError) as caught:
        await compaction
    assert (caught.value.expected, caught.value.actual) == ("a2", spoken.leaf_id)
    assert ((spoken.session_file, spoken.leaf_id, spoken.entry_ids()), told) == (before, [])
    if prepared is not None:
        assert "compaction" not in Path(prepared).read_text("utf-8")


async def test_a_compaction_whose_leaf_is_gone_ends_as_any_that_was_overtaken(
    make_file: MakeFile, say: Say, blocked: Blocked
) -> None:
    """Case 50: another program has rewritten the file, and the reader has loaded it anew."""
    async with await make_file() as made:
        await say(made, "u1", "a1", "u2", "a2")
    path = Path(str(made.session_file))
    async with await SessionManager.open(path) as session:
        summarizer = blocked()
        compaction = asyncio.ensure_future(AgentSession(session, summarizer=summarizer, settings=SETTINGS).compact())
        await summarizer.waits()
        rewritten = path.with_suffix(".new")
        rewritten.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
        rewritten.rename(path)
        assert await session.refresh()
        assert session.leaf_id == "a1"
        summarizer.release.set()
        with pytest.raises(LeafMovedError):
            await compaction


@pytest.fixture
async def held(make_file: MakeFile, say: Say, blocked: Blocked, disk: Any) -> Held:
    """An agent, the append of `u3`, which the writer has taken, and a compaction, which is handed over behind it."""
    handed_over = asyncio.Event()

    def new_id() -> str:
        handed_over.set()
        return "c1"

    session = await make_file(id_factory=new_id)
    await say(session, "u1", "a1", "u2", "a2")
    summarizer = blocked()
    agent = AgentSession(session, summarizer=summarizer, settings=SETTINGS)
    compaction = asyncio.ensure_future(agent.compact())
    await summarizer.waits()
    disk.hold()
    saying = asyncio.ensure_future(say(session, "u3"))
    await disk.holds()
    summarizer.release.set()
    async with asyncio.timeout(20):
        await handed_over.wait()
    return agent, saying, compaction


async def test_a_compaction_hangs_below_an_entry_that_is_on_its_way(held: Held, disk: Any) -> None:
    """D4: in call order."""
    agent, saying, compaction = held
    disk.go_on.set()
    await asyncio.gather(saying, compaction)
    assert agent.session.path_ids() == ["u1", "a1", "u2", "a2", "u3", "c1"]


async def test_a_compaction_fails_with_the_entry_that_it_hangs_on(held: Held, disk: Any) -> None:
    """D4: for the same cause; the leaf is where the disk is, and the next one works."""
    agent, saying, compaction = held
    disk.errors.append(OSError(28, "No space left on device"))
    disk.go_on.set()
    for task in (saying, compaction):
        with pytest.raises(AppendError, match="No space left"):
            await task
    assert (agent.session.leaf_id, agent.session.entry_count) == ("a2", 4)
    assert (await agent.compact()).entry_id == agent.session.leaf_id
