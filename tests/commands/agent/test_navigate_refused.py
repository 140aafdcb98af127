"""Navigations that do nothing, and those that are refused: nothing is asked, nothing written (N-02..N-05)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AgentSession,
    EntryNotFoundError,
    Hooks,
    LeafMovedError,
    NavigateResult,
    NoSummarizerError,
    ReadOnlySessionError,
    SessionBusyError,
    SessionClosedError,
    SessionManager,
    UnsupportedVersionError,
)

Say = Callable[..., Awaitable[None]]
WriteFile = Callable[..., Path]
MakeSummarizer = Callable[..., Any]


class Heard(Hooks):
    """Hooks that keep the events of a navigation in `events`."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Any] = []
        for name in ("session_before_tree", "session_tree"):
            self.on(name, self.events.append)


@pytest.mark.parametrize("options", [{}, {"summarize": True}, {"label": "here"}], ids=str)
async def test_the_current_leaf_is_no_target(session: SessionManager, say: Say, options: dict[str, Any]) -> None:
    """N-02, X-104: without a summarizer too, and a user message is not written anew."""
    await say(session, "a1", "u1")
    hooks = Heard()
    assert await AgentSession(session, hooks=hooks).navigate_tree("u1", **options) == NavigateResult()
    assert (session.leaf_id, session.entry_count, session.labels, hooks.events) == ("u1", 2, {}, [])


@pytest.mark.parametrize("summarize", [False, True])
@pytest.mark.parametrize("target", ["nope", "", None, 5])
async def test_an_unknown_target_is_refused(session: SessionManager, say: Say, target: Any, summarize: bool) -> None:
    """N-03, N-05: before anything else is looked at; None is no target, not even where it is the leaf."""
    await say(session, "u1", "a1")
    session.branch("u1")
    hooks = Heard()
    with pytest.raises(EntryNotFoundError) as caught:
        await AgentSession(session, hooks=hooks).navigate_tree(target, summarize=summarize)
    assert str(caught.value) == f"Entry {target} not found"
    assert (session.leaf_id, hooks.events) == ("u1", [])
    session.reset_leaf()
    with pytest.raises(EntryNotFoundError):
        await AgentSession(session).navigate_tree(target)


async def test_a_summary_needs_a_summarizer(session: SessionManager, say: Say) -> None:
    """N-04: refused at once, before any event, though nothing would be left behind."""
    await say(session, "u1", "a1")
    session.branch("u1")
    hooks = Heard()
    with pytest.raises(NoSummarizerError):
        await AgentSession(session, hooks=hooks).navigate_tree("a1", summarize=True)
    assert (session.leaf_id, session.entry_count, hooks.events) == ("u1", 2, [])


@pytest.mark.parametrize("options", [{"summarize": True}, {"label": "here"}], ids=str)
@pytest.mark.parametrize("refused", [ReadOnlySessionError, UnsupportedVersionError])
async def test_where_nothing_may_be_written_only_a_bare_move_is_made(
    write_file: WriteFile, recording: MakeSummarizer, refused: type[Exception], options: dict[str, Any]
) -> None:
    """N-30, N-31, N-36: what would have to write is refused before anybody is asked."""
    read_only = refused is ReadOnlySessionError
    path = write_file([{"id": "a"}, {"id": "b", "parentId": "a"}], version=3 if read_only else 4)
    hooks, summarizer = Heard(), recording()
    async with await SessionManager.open(path, read_only=read_only) as session:
        agent = AgentSession(session, summarizer=summarizer, hooks=hooks)
        with pytest.raises(refused):
            await agent.navigate_tree("a", **options)
        assert (session.leaf_id, hooks.events, summarizer.requests) == ("b", [], [])
        assert await agent.navigate_tree("a") == NavigateResult("a")
        assert session.leaf_id is None


async def test_a_closed_session_is_not_navigated(session: SessionManager, say: Say) -> None:
    await say(session, "u1", "a1")
    await session.close()
    for target in ("u1", "a1", "nope"):
        with pytest.raises(SessionClosedError):
            await AgentSession(session).navigate_tree(target)


async def test_a_second_navigation_is_refused_while_one_runs(
    session: SessionManager, say: Say, blocked: MakeSummarizer
) -> None:
    """Case 50: whoever asks; the first goes on, and then there is room for another."""
    await say(session, "u1", "a1", "u2")
    summarizer, other = blocked("left"), AgentSession(session)
    agent = AgentSession(session, summarizer=summarizer)
    first = asyncio.create_task(agent.navigate_tree("a1", summarize=True))
    await summarizer.waits()
    for second in (agent, other):
        with pytest.raises(SessionBusyError, match="a navigation is running"):
            await second.navigate_tree("a1")
    summarizer.release.set()
    assert (await first).summary_entry is not None
    assert await other.navigate_tree("u1") == NavigateResult("text of u1")


@pytest.mark.parametrize("move", ["branch", "reset_leaf", "append"])
async def test_a_leaf_that_moved_meanwhile_stays_where_it_is(
    session: SessionManager, say: Say, blocked: MakeSummarizer, move: str
) -> None:
    """Case 50, N-30: moves and appends are never refused; the navigation fails and writes nothing."""
    await say(session, "u1", "a1", "u2")
    hooks, summarizer = Heard(), blocked("left")
    agent = AgentSession(session, summarizer=summarizer, hooks=hooks)
    navigation = asyncio.create_task(agent.navigate_tree("a1", summarize=True, label="here"))
    await summarizer.waits()
    match move:
        case "branch":
            session.branch("u1")
        case "reset_leaf":
            session.reset_leaf()
        case _:
            await say(session, "a2")
    moved, count = session.leaf_id, session.entry_count
    summarizer.release.set()
    with pytest.raises(LeafMovedError) as caught:
        await navigation
    assert (caught.value.expected, caught.value.actual) == ("u2", moved)
    assert (session.leaf_id, session.entry_count, session.labels) == (moved, count, {})
    assert [event.type for event in hooks.events] == ["session_before_tree"]


async def test_a_leaf_that_came_back_is_where_it_was(
    session: SessionManager, say: Say, blocked: MakeSummarizer
) -> None:
    """Case 50: only where it stands at the end counts."""
    await say(session, "u1", "a1", "u2")
    summarizer = blocked("left")
    navigation = asyncio.create_task(AgentSession(session, summarizer=summarizer).navigate_tree("a1", summarize=True))
    await summarizer.waits()
    session.branch("u1")
    session.branch("u2")
    summarizer.release.set()
    assert (await navigation).summary_entry is not None


async def test_a_hook_that_moves_the_leaf_itself_ends_the_navigation(session: SessionManager, say: Say) -> None:
    """Case 50, N-31: without a summary too."""
    await say(session, "u1", "a1", "u2")
    hooks = Hooks()
    hooks.on("session_before_tree", lambda event: session.branch("u1"))
    with pytest.raises(LeafMovedError):
        await AgentSession(session, hooks=hooks).navigate_tree("a1")
    assert session.leaf_id == "u1"


@pytest.mark.parametrize("summarize", [False, True])
async def test_a_session_that_went_on_in_another_file_is_not_navigated(
    session: SessionManager, say: Say, recording: MakeSummarizer, summarize: bool
) -> None:
    """Case 50: though the leaf is above all roots in both."""
    await say(session, "u1", "a1")
    session.reset_leaf()
    hooks = Hooks()

    @hooks.on("session_before_tree")
    async def begin_anew(event: Any) -> None:
        await session.new_session()

    with pytest.raises(LeafMovedError):
        await AgentSession(session, hooks=hooks, summarizer=recording()).navigate_tree("a1", summarize=summarize)
    assert (session.leaf_id, session.entry_count) == (None, 0)


@pytest.mark.parametrize("options", [{}, {"summarize": True}, {"label": "here"}], ids=str)
async def test_a_target_that_is_gone_after_a_rewrite_is_unknown(
    write_file: WriteFile, recording: MakeSummarizer, options: dict[str, Any]
) -> None:
    """N-03, T-40, T-42, D5: another program has rewritten the file while the hooks were asked."""
    kept = [{"id": "a"}, {"id": "c", "parentId": "a"}]
    target = {"id": "x", "parentId": "a", "type": "custom", "customType": "c"}
    async with await SessionManager.open(write_file([target, *kept])) as session:
        hooks = Hooks()

        @hooks.on("session_before_tree")
        async def rewrite(event: Any) -> None:
            write_file(kept)
            assert await session.refresh()

        with pytest.raises(EntryNotFoundError, match="Entry x not found"):
            await AgentSession(session, hooks=hooks, summarizer=recording()).navigate_tree("x", **options)
        assert (session.leaf_id, session.entry_ids()) == ("c", ["a", "c"])


@pytest.mark.parametrize("options", [{}, {"summarize": True}, {"label": "here"}], ids=str)
async def test_a_session_that_was_closed_meanwhile_is_not_navigated(
    session: SessionManager, say: Say, recording: MakeSummarizer, options: dict[str, Any]
) -> None:
    """T-40: no more than `branch` moves in it."""
    await say(session, "u1", "a1", "u2")
    hooks = Hooks()
    hooks.on("session_before_tree", lambda event: session.close())
    with pytest.raises(SessionClosedError):
        await AgentSession(session, hooks=hooks, summarizer=recording()).navigate_tree("a1", **options)
    assert session.leaf_id == "u2"


async def test_a_navigation_from_a_leaf_on_its_way_waits_for_it(make_file: Callable[..., Any], disk: Any) -> None:
    """N-01, N-40: then it is left like any other."""
    session = await make_file()
    await session.append_message({"role": "user", "content": "1"}, entry_id="u1")
    hooks = Heard()
    disk.hold()
    append = asyncio.create_task(session.append_message({"role": "user", "content": "2"}, entry_id="u2"))
    await disk.holds()
    navigation = asyncio.create_task(AgentSession(session, hooks=hooks).navigate_tree("u1"))
    disk.go_on.set()
    assert await navigation == NavigateResult("1")
    assert await append == "u2"
    preparation = hooks.events[0].preparation
    assert (preparation.old_leaf_id, [entry.id for entry in preparation.entries_to_summarize]) == ("u2", ["u2"])


async def test_a_target_that_is_never_recorded_is_unknown(make_file: Callable[..., Any], disk: Any) -> None:
    """N-03: it was on its way when it was asked for."""
    session = await make_file()
    await session.append_message({"role": "user", "content": "1"}, entry_id="u1")
    cursor = session.cursor("u1")
    disk.errors = [OSError(28, "No space left on device")]
    disk.hold()
    append = asyncio.create_task(cursor.append_message({"role": "user", "content": "2"}, entry_id="u2"))
    await disk.holds()
    navigation = asyncio.create_task(AgentSession(session).navigate_tree("u2"))
    await asyncio.sleep(0)
    disk.go_on.set()
    with pytest.raises(EntryNotFoundError, match="Entry u2 not found"):
        await navigation
    with pytest.raises(OSError, match="No space left"):
        await append
    assert session.leaf_id == "u1"


async def test_a_leaf_that_falls_back_to_the_target_is_there(make_file: Callable[..., Any], disk: Any) -> None:
    """N-02, D4: what was on its way is not recorded, and then there is nowhere to go."""
    session = await make_file()
    await session.append_message({"role": "user", "content": "1"}, entry_id="u1")
    hooks = Heard()
    disk.errors = [OSError(28, "No space left on device")]
    disk.hold()
    append = asyncio.create_task(session.append_message({"role": "user", "content": "2"}))
    await disk.holds()
    navigation = asyncio.create_task(AgentSession(session, hooks=hooks).navigate_tree("u1"))
    await asyncio.sleep(0)
    disk.go_on.set()
    assert await navigation == NavigateResult()
    with pytest.raises(OSError, match="No space left"):
        await append
    assert (session.leaf_id, hooks.events) == ("u1", [])
