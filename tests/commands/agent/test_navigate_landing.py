"""The last step of a navigation: what is written and the leaf go together, or neither does (N-30..N-39, T-42)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from sessiontree import AbortController, AgentSession, AppendError, Hooks, NavigateResult, SessionManager

Say = Callable[..., Coroutine[Any, Any, None]]
MakeFile = Callable[..., Awaitable[SessionManager]]
MakeSummarizer = Callable[..., Any]
Records = Callable[[SessionManager], list[dict[str, Any]]]

FULL = OSError(28, "No space left on device")


@pytest.fixture
async def handed_over() -> asyncio.Event:
    """Set when an id is drawn: the entry that gets it is handed over in the same step."""
    return asyncio.Event()


@pytest.fixture
async def talk(make_file: MakeFile, say: Say, handed_over: asyncio.Event) -> SessionManager:
    """u1, a1, u2, a2 in one line, in a file; the leaf is a2."""

    def draw() -> str:
        handed_over.set()
        return token_hex(4)

    session = await make_file(id_factory=draw)
    await say(session, "u1", "a1", "u2", "a2")
    return session


@pytest.fixture
def agent(talk: SessionManager, recording: MakeSummarizer) -> AgentSession:
    return AgentSession(talk, summarizer=recording("sum"))


@pytest.fixture
def told(agent: AgentSession) -> list[Any]:
    """The events `session_tree` that were told."""
    events: list[Any] = []
    agent.hooks.on("session_tree", events.append)
    return events


def content(session: SessionManager) -> bytes:
    return Path(str(session.session_file)).read_bytes()


@pytest.mark.parametrize("options", [{"summarize": True}, {"label": "x"}, {"summarize": True, "label": "x"}], ids=str)
async def test_what_cannot_be_written_leaves_the_leaf(
    talk: SessionManager, agent: AgentSession, told: list[Any], disk: Any, options: dict[str, Any]
) -> None:
    """N-30, N-36: nobody is told, and the next navigation works."""
    before = content(talk)
    disk.errors = [FULL]
    with pytest.raises(AppendError) as caught:
        await agent.navigate_tree("u2", **options)
    assert caught.value.outcome == "not-written"
    assert (talk.leaf_id, talk.entry_count, talk.labels, told) == ("a2", 4, {}, [])
    assert content(talk) == before
    assert (await agent.navigate_tree("u2", **options)).editor_text == "text of u2"
    assert len(told) == 1


async def test_a_failed_sync_leaves_the_leaf(
    talk: SessionManager, agent: AgentSession, told: list[Any], disk: Any
) -> None:
    """N-30, D4: nothing is acknowledged."""
    disk.sync_error = OSError(5, "Input/output error")
    with pytest.raises(AppendError) as caught:
        await agent.navigate_tree("u2", summarize=True)
    assert caught.value.outcome == "unknown"
    assert (talk.leaf_id, talk.entry_count, told) == ("a2", 4, [])


async def test_a_summary_without_its_label_is_where_the_leaf_is(
    talk: SessionManager, agent: AgentSession, told: list[Any], disk: Any, records: Records
) -> None:
    """N-34, D4: the disk was full between the two lines; the whole one is kept, and the failure raised."""
    await agent.navigate_tree("u2", summarize=True, label="x")
    lines = content(talk).splitlines(keepends=True)
    talk.branch("a2")
    told.clear()
    disk.left = len(lines[-2]) + 10
    with pytest.raises(AppendError):
        await agent.navigate_tree("u2", summarize=True, label="x")
    summary = records(talk)[-1]
    assert (summary["type"], summary["parentId"]) == ("branch_summary", "a1")
    assert talk.leaf_id == summary["id"]
    [event] = told
    assert event.summary_entry.id == summary["id"]
    assert event.new_leaf_id == talk.leaf_id


@pytest.mark.parametrize("from_id", ["a1", None])
async def test_a_branch_summary_that_cannot_be_written_leaves_the_leaf(
    talk: SessionManager, disk: Any, from_id: str | None
) -> None:
    """T-42: where it was, and not where the summary would have hung."""
    disk.errors = [FULL]
    with pytest.raises(AppendError):
        await talk.branch_with_summary(from_id, "left")
    assert (talk.leaf_id, talk.entry_count) == ("a2", 4)
    disk.sync_error = OSError(5, "Input/output error")
    with pytest.raises(AppendError):
        await talk.branch_with_summary(from_id, "left")
    assert talk.leaf_id == "a2"


async def test_a_branch_summary_lost_with_the_leaf_before_it_leaves_the_one_before_that(
    talk: SessionManager, disk: Any, say: Say
) -> None:
    """T-42, D4: the nearest that is recorded."""
    disk.hold()
    held = asyncio.create_task(talk.cursor("u1").append_custom_entry("held"))
    await disk.holds()
    lost = [asyncio.create_task(say(talk, "u3")), asyncio.create_task(talk.branch_with_summary("u1", "left"))]
    await asyncio.sleep(0)
    assert talk.leaf_id not in ("a2", "u3")
    disk.after_write = lambda: disk.errors.append(FULL)
    disk.go_on.set()
    await held
    results = await asyncio.gather(*lost, return_exceptions=True)
    assert [type(result) for result in results] == [AppendError, AppendError]
    assert talk.leaf_id == "a2"


@pytest.mark.parametrize("way", ["abort", "cancel"])
@pytest.mark.parametrize("options", [{"summarize": True}, {"label": "x"}], ids=str)
async def test_before_the_writer_has_it_a_navigation_can_be_taken_back(
    talk: SessionManager,
    agent: AgentSession,
    told: list[Any],
    disk: Any,
    handed_over: asyncio.Event,
    options: dict[str, Any],
    way: str,
) -> None:
    """N-39 as settled, D8: nothing of it is written, the leaf is where it was."""
    controller = AbortController()
    disk.hold()
    held = asyncio.create_task(talk.cursor("u1").append_custom_entry("held", entry_id="held"))
    await disk.holds()
    navigation = asyncio.create_task(agent.navigate_tree("u2", signal=controller.signal, **options))
    async with asyncio.timeout(20):
        await handed_over.wait()
    assert talk.leaf_id not in ("a2", "a1")
    if way == "abort":
        controller.abort()
        assert await navigation == NavigateResult(cancelled=True, aborted=True)
    else:
        navigation.cancel()
        with pytest.raises(asyncio.CancelledError):
            await navigation
    assert talk.leaf_id == "a2"
    disk.go_on.set()
    await held
    await talk.flush()
    assert (talk.leaf_id, talk.entry_count, talk.labels, told) == ("a2", 5, {}, [])
    assert (await agent.navigate_tree("u2", **options)).editor_text == "text of u2"


@pytest.mark.parametrize("way", ["abort", "cancel"])
@pytest.mark.parametrize("options", [{"summarize": True}, {"label": "x"}], ids=str)
async def test_from_then_on_it_is_carried_out(
    talk: SessionManager, agent: AgentSession, told: list[Any], disk: Any, options: dict[str, Any], way: str
) -> None:
    """N-39 as settled, D8: written, moved and told; an abort comes too late, a cancellation is raised after that."""
    controller = AbortController()
    disk.hold()
    navigation = asyncio.create_task(agent.navigate_tree("u2", signal=controller.signal, **options))
    await disk.holds()
    if way == "abort":
        controller.abort()
    else:
        navigation.cancel()
    disk.go_on.set()
    if way == "abort":
        result = await navigation
        assert (result.editor_text, result.cancelled, result.aborted) == ("text of u2", False, False)
    else:
        with pytest.raises(asyncio.CancelledError):
            await navigation
    [new_id] = talk.child_ids("a1")[1:]
    assert (talk.leaf_id, talk.entry_count) == (new_id, 5)
    assert [(event.new_leaf_id, event.old_leaf_id) for event in told] == [(new_id, "a2")]
    assert await agent.navigate_tree("a2") == NavigateResult()


@pytest.mark.parametrize("summarize", [False, True])
async def test_hooks_are_told_to_the_end_before_a_cancellation_is_raised(
    talk: SessionManager, recording: MakeSummarizer, summarize: bool
) -> None:
    """N-34, N-39 as settled: however often it is cancelled."""
    hooks, waits, go_on, told = Hooks(), asyncio.Event(), asyncio.Event(), list[Any]()

    @hooks.on("session_tree")
    async def wait(event: Any) -> None:
        waits.set()
        await go_on.wait()

    hooks.on("session_tree", told.append)
    agent = AgentSession(talk, hooks=hooks, summarizer=recording())
    navigation = asyncio.create_task(agent.navigate_tree("a1", summarize=summarize))
    async with asyncio.timeout(20):
        await waits.wait()
    for _ in range(2):
        navigation.cancel()
        await asyncio.sleep(0)
    assert (navigation.done(), told) == (False, [])
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await navigation
    assert [event.new_leaf_id for event in told] == [talk.leaf_id]
    assert talk.path_ids()[:2] == ["u1", "a1"]


@pytest.mark.parametrize("summarize", [False, True])
async def test_a_navigation_that_is_cancelled_while_it_asks_changes_nothing(
    talk: SessionManager, blocked: MakeSummarizer, summarize: bool
) -> None:
    """N-39 as settled, D8: who is asked is cancelled too, and there is room for the next."""
    summarizer, waits, ended = blocked("sum"), asyncio.Event(), asyncio.Event()
    agent = AgentSession(talk, summarizer=summarizer)

    async def wait(event: Any) -> None:
        waits.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    remove = agent.hooks.on("session_before_tree", wait) if not summarize else lambda: None
    navigation = asyncio.create_task(agent.navigate_tree("a1", summarize=summarize))
    await (summarizer.waits() if summarize else waits.wait())
    navigation.cancel()
    with pytest.raises(asyncio.CancelledError):
        await navigation
    assert summarizer.cancelled == 1 if summarize else ended.is_set()
    assert (talk.leaf_id, talk.entry_count) == ("a2", 4)
    remove()
    assert await agent.navigate_tree("a1") == NavigateResult()
