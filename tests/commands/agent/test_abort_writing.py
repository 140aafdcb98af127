"""The moment at which a flow's entries go to the writer: before it all is taken back, after it all is done (D8)."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from sessiontree import (
    AbortController,
    AgentSession,
    AgentSettings,
    AppendError,
    CompactionCancelledError,
    CompactionSettings,
    Hooks,
    NavigateResult,
    SessionManager,
)

Make = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]
Recording = Callable[..., Any]
Say = Callable[..., Awaitable[None]]
Flow = Callable[[AgentSession, AbortController], Awaitable[Any]]
Locked = tuple[SessionManager, SessionManager, asyncio.Event]

FULL = OSError(errno.ENOSPC, "No space left on device")
ROOMY = 1 << 60
SMALL = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=1))

FLOWS: dict[str, Flow] = {
    "a summary": lambda agent, controller: agent.navigate_tree("a1", summarize=True, signal=controller.signal),
    "a label": lambda agent, controller: agent.navigate_tree("a1", label="mark", signal=controller.signal),
    "both": lambda agent, controller: agent.navigate_tree(
        "a1", summarize=True, label="mark", signal=controller.signal
    ),
    "a compaction": lambda agent, controller: agent.compact(signal=controller.signal),
}
Stop = Callable[[AbortController, "asyncio.Task[Any]"], object]
STOPS: dict[str, Stop] = {
    "signal": lambda controller, task: controller.abort("enough"),
    "cancel": lambda controller, task: task.cancel(),
}
flows = pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS)
stops = pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS)


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def stopped(task: asyncio.Task[Any]) -> bool:
    """Tell whether a flow was cancelled, or told that it was aborted."""
    async with asyncio.timeout(20):
        await asyncio.wait((task,))
    if task.cancelled() or task.exception() is not None:
        return task.cancelled() or isinstance(task.exception(), CompactionCancelledError)
    return bool(task.result() == NavigateResult(cancelled=True, aborted=True))


class Noting(AgentSession):
    """An agent session that notes what its hooks are told after a flow, each with the leaf of that moment."""

    def __init__(self, session: SessionManager, summarizer: Any) -> None:
        hooks = Hooks()
        super().__init__(session, summarizer=summarizer, hooks=hooks, settings=SMALL)
        self.told: list[Any] = []
        self.leaves: list[str | None] = []
        hooks.on("session_tree", self.note)
        hooks.on("session_compact", self.note)

    async def note(self, event: Any) -> None:
        await asyncio.sleep(0)
        self.told.append(event)
        self.leaves.append(self.session.leaf_id)


@pytest.fixture
async def session(make_file: Make, say: Say) -> SessionManager:
    """A session of two turns whose leaf is `a2`."""
    session = await make_file()
    await say(session, "u1", "a1", "u2", "a2")
    return session


@pytest.fixture
async def locked(session: SessionManager) -> AsyncIterator[Locked]:
    """A session that waits for its lock, who holds that, and an event for when a flow has handed its entries over.

    Until the holder closes nothing is taken.
    """
    handed_over = asyncio.Event()

    def draw_id() -> str:
        # What gets the id is handed over in the same step.
        handed_over.set()
        return token_hex(4)

    waiting = await SessionManager.open(str(session.session_file), lock_timeout=60, id_factory=draw_id)
    yield waiting, session, handed_over
    await session.close()
    await waiting.close()


@flows
@stops
async def test_what_the_writer_has_taken_is_done_and_told_before_a_cancellation(
    session: SessionManager, recording: Recording, disk: Any, records: Records, flow: Flow, stop: Stop
) -> None:
    """N-39 as settled, K-66, D8: entries on the disk, the leaf moved, the hooks told; then it ends."""
    agent, controller = Noting(session, recording()), AbortController()
    disk.hold()
    task = asyncio.ensure_future(flow(agent, controller))
    await disk.holds()
    for _ in range(2):
        stop(controller, task)
        await turns()
    assert (task.done(), agent.told, session.entry_ids()) == (False, [], ["u1", "a1", "u2", "a2"])
    disk.go_on.set()
    assert await stopped(task) == (stop is STOPS["cancel"])
    assert [line["id"] for line in records(session)[1:]] == session.entry_ids()
    assert len(session.entry_ids()) > 4
    assert agent.leaves == [session.leaf_id] == session.entry_ids()[-1:]
    await agent.navigate_tree("u1")


@flows
@stops
async def test_a_flow_that_waits_for_the_lock_is_taken_back(
    locked: Locked, recording: Recording, flow: Flow, stop: Stop
) -> None:
    """N-39, K-66, D8: at once; nothing is written, the leaf is where it was, nobody waits for the lock any more."""
    session, holder, handed_over = locked
    agent, controller = Noting(session, recording()), AbortController()
    before, tasks = Path(str(session.session_file)).read_bytes(), asyncio.all_tasks()
    task = asyncio.ensure_future(flow(agent, controller))
    async with asyncio.timeout(20):
        await handed_over.wait()
        await turns()
        stop(controller, task)
        assert await stopped(task)
        assert session.leaf_id == "a2"
        await session.flush()
    await turns()
    assert asyncio.all_tasks() == tasks
    assert (Path(str(session.session_file)).read_bytes(), agent.told) == (before, [])
    await holder.close()
    await flow(agent, AbortController())
    assert session.has_entry(str(session.leaf_id))


@flows
async def test_what_was_appended_behind_a_flow_that_is_taken_back_hangs_below_the_old_leaf(
    locked: Locked, recording: Recording, say: Say, records: Records, flow: Flow
) -> None:
    """N-39, D4, D8: in the file too, over all entries of the flow."""
    session, holder, handed_over = locked
    agent, controller = AgentSession(session, summarizer=recording(), settings=SMALL), AbortController()
    task = asyncio.ensure_future(flow(agent, controller))
    async with asyncio.timeout(20):
        await handed_over.wait()
    behind = asyncio.gather(say(session, "u3"), session.cursor("u1").append_message({"role": "user", "content": "x"}))
    await asyncio.sleep(0)
    assert session.leaf_id == "u3"
    controller.abort()
    assert await stopped(task)
    await holder.close()
    _, other = await behind
    assert session.path_ids() == ["u1", "a1", "u2", "a2", "u3"]
    assert [(line["id"], line["parentId"]) for line in records(session)[5:]] == [("u3", "a2"), (other, "u1")]


@flows
@pytest.mark.parametrize("cancelled", [False, True])
async def test_a_write_that_fails_takes_the_flow_back(
    session: SessionManager, recording: Recording, disk: Any, flow: Flow, cancelled: bool
) -> None:
    """F-116, D4, D8: the leaf is where it was, not where the entries would have hung; a cancellation comes first."""
    agent, before = Noting(session, recording()), Path(str(session.session_file)).read_bytes()
    disk.hold()
    task = asyncio.ensure_future(flow(agent, AbortController()))
    await disk.holds()
    if cancelled:
        task.cancel()
        await turns()
    disk.errors.append(FULL)
    disk.go_on.set()
    with pytest.raises(asyncio.CancelledError if cancelled else AppendError):
        await task
    assert (session.leaf_id, agent.told, session.entry_count) == ("a2", [], 4)
    assert Path(str(session.session_file)).read_bytes() == before
    await flow(agent, AbortController())
    assert len(agent.told) == 1


@flows
async def test_what_was_appended_behind_a_flow_that_fails_fails_with_it(
    session: SessionManager, recording: Recording, say: Say, disk: Any, flow: Flow
) -> None:
    """D4: and the leaf is where it was before the flow."""
    agent = Noting(session, recording())
    disk.hold()
    task = asyncio.ensure_future(flow(agent, AbortController()))
    await disk.holds()
    behind = asyncio.ensure_future(say(session, "u3"))
    await asyncio.sleep(0)
    assert session.leaf_id == "u3"
    disk.errors.append(FULL)
    disk.go_on.set()
    outcomes = await asyncio.gather(task, behind, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [AppendError] * 2
    assert (session.leaf_id, session.entry_count) == ("a2", 4)


@flows
async def test_a_sync_that_fails_takes_the_flow_back(
    session: SessionManager, recording: Recording, disk: Any, flow: Flow
) -> None:
    """D4: nothing is acknowledged, so the leaf is where it was and the hooks are not told."""
    agent = Noting(session, recording())
    disk.sync_error = OSError(errno.EIO, "Input/output error")
    with pytest.raises(AppendError) as caught:
        await flow(agent, AbortController())
    assert (caught.value.outcome, session.leaf_id, agent.told) == ("unknown", "a2", [])
    disk.sync_error = None


@pytest.fixture
def room_for_one_line(session: SessionManager, disk: Any) -> None:
    """Of what is written next the first line fits on the disk."""
    path = Path(str(session.session_file))
    start = path.stat().st_size

    def fill() -> None:
        if b"\n" in path.read_bytes()[start:]:
            disk.left = 0

    disk.most, disk.after_write = 20, fill


@pytest.mark.usefixtures("room_for_one_line")
@pytest.mark.parametrize("cancelled", [False, True])
async def test_when_only_the_label_fails_the_navigation_is_told_all_the_same(
    session: SessionManager, recording: Recording, disk: Any, records: Records, cancelled: bool
) -> None:
    """N-34, N-36, D4, D8: the summary is recorded, and the leaf is on it; then the failure is raised."""
    agent = Noting(session, recording())
    disk.hold()
    task = asyncio.ensure_future(agent.navigate_tree("a1", summarize=True, label="mark"))
    await disk.holds()
    if cancelled:
        task.cancel()
        await turns()
    disk.go_on.set()
    with pytest.raises(asyncio.CancelledError if cancelled else AppendError) as caught:
        await task
    assert cancelled or getattr(caught.value, "recorded", None) == 1
    [event] = agent.told
    assert [event.summary_entry.id, event.new_leaf_id] == [session.leaf_id] * 2
    assert (session.path_ids(), session.labels) == (["u1", "a1", session.leaf_id], {})
    assert [line["id"] for line in records(session)[1:]] == session.entry_ids()
    disk.left = ROOMY
    assert await agent.navigate_tree("u1") == NavigateResult("text of u1")
