"""One navigation, branch or compaction at a time; appends and bare moves beside it ("two operations at once")."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import (
    AgentSession,
    AgentSettings,
    CompactionSettings,
    Hooks,
    LeafMovedError,
    Model,
    SessionBusyError,
    SessionClosedError,
    SessionManager,
)

Flow = Callable[[AgentSession], Awaitable[Any]]
Recording = Callable[..., Any]
Say = Callable[..., Awaitable[None]]

MODEL = Model("acme", "m-1", 1_000)
SETTINGS = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=2), estimate_tokens=lambda _message: 1)
OPERATIONS: dict[str, Flow] = {
    "a navigation": lambda agent: agent.navigate_tree("a1", summarize=True),
    "a branch": lambda agent: agent.branch("u2"),
    "a compaction": lambda agent: agent.compact(),
}
CHECK: dict[str, Flow] = {"an automatic check": lambda agent: agent.maybe_compact()}


@pytest.fixture
async def spoken(session: SessionManager, say: Say) -> SessionManager:
    """Two turns, and another way to go on after the first; the leaf is `a2`."""
    await say(session, "u1", "a1", "elsewhere")
    session.branch("a1")
    await say(session, "u2", "a2")
    return session


class Gate:
    """Holds each operation where its hook is asked."""

    def __init__(self) -> None:
        self.hooks = Hooks()
        self._asked = asyncio.Event()
        self._open = asyncio.Event()
        for name in ("session_before_tree", "session_before_branch", "session_before_compact"):
            self.hooks.on(name, self._wait)

    async def _wait(self, _event: object) -> None:
        self._asked.set()
        await self._open.wait()

    async def hold(self, flow: Awaitable[Any]) -> asyncio.Future[Any]:
        """Begin an operation, and return when it is held."""
        task = asyncio.ensure_future(flow)
        async with asyncio.timeout(20):
            await self._asked.wait()
        return task

    def open(self) -> None:
        """Let the operation go on, and hold no other."""
        self._open.set()


@pytest.mark.parametrize("second", [*OPERATIONS.values(), *CHECK.values()], ids=[*OPERATIONS, *CHECK])
@pytest.mark.parametrize("running", OPERATIONS)
async def test_a_second_operation_is_refused(
    running: str, second: Flow, spoken: SessionManager, recording: Recording
) -> None:
    """K-60, case 50: at once; by another agent of the same session too, and the first one does not notice."""
    gate = Gate()
    agent = AgentSession(spoken, summarizer=recording(), model=MODEL, hooks=gate.hooks, settings=SETTINGS)
    first = await gate.hold(OPERATIONS[running](agent))
    asked: list[object] = []
    hooks = Hooks()
    for name in ("session_before_tree", "session_before_branch", "session_before_compact", "auto_compaction_start"):
        hooks.on(name, asked.append)
    for other in (agent, AgentSession(spoken, summarizer=recording(), model=MODEL, hooks=hooks, settings=SETTINGS)):
        with pytest.raises(SessionBusyError, match=f"{running} is running") as caught:
            await second(other)
        assert caught.value.operation == running
    assert (spoken.leaf_id, spoken.entry_count, asked) == ("a2", 5, [])
    gate.open()
    await first
    assert spoken.leaf_id != "a2"


@pytest.mark.parametrize("ending", ["done", "cancelled", "by its hook", "by a failure"])
@pytest.mark.parametrize("running", OPERATIONS)
async def test_however_one_ends_the_next_may_begin(
    running: str, ending: str, spoken: SessionManager, recording: Recording
) -> None:
    """K-69, case 50."""
    gate = Gate()
    summarizer = recording(RuntimeError("no network")) if ending == "by a failure" else recording()
    agent = AgentSession(spoken, summarizer=summarizer, hooks=gate.hooks, settings=SETTINGS)
    first = await gate.hold(OPERATIONS[running](agent))
    if ending == "cancelled":
        first.cancel()
    elif ending == "by its hook":
        for name in ("session_before_tree", "session_before_branch", "session_before_compact"):
            gate.hooks.on(name, lambda _event: {"cancel": True})
    gate.open()
    await asyncio.gather(first, return_exceptions=True)
    agent.hooks = Hooks()
    await agent.branch("u1")
    assert spoken.entry_count == 0


@pytest.mark.parametrize("running", OPERATIONS)
async def test_appends_and_bare_moves_are_never_refused(
    running: str, spoken: SessionManager, say: Say, recording: Recording
) -> None:
    """Case 50: each is there at once."""
    gate = Gate()
    agent = AgentSession(spoken, summarizer=recording(), hooks=gate.hooks, settings=SETTINGS)
    first = await gate.hold(OPERATIONS[running](agent))
    await say(spoken, "u3")
    await spoken.append_label_change("u3", "mark")
    await spoken.set_session_name("a name")
    cursor = spoken.cursor("a1")
    await cursor.append_message({"role": "user", "content": "beside"})
    spoken.reset_leaf()
    spoken.branch("elsewhere")
    assert (spoken.entry_count, spoken.labels, spoken.leaf_id) == (9, {"u3": "mark"}, "elsewhere")
    gate.open()
    if running == "a branch":
        await first
    else:
        with pytest.raises(LeafMovedError):
            await first


@pytest.mark.parametrize(
    "flow", [*OPERATIONS.values(), lambda agent: agent.navigate_tree("a1")], ids=[*OPERATIONS, "a plain navigation"]
)
async def test_a_session_that_is_closed_meanwhile_is_moved_nowhere(
    flow: Flow, spoken: SessionManager, recording: Recording
) -> None:
    """F-115, T-40: as a bare move is refused then; nothing is written, and nobody is told."""
    gate = Gate()
    agent = AgentSession(spoken, summarizer=recording(), hooks=gate.hooks, settings=SETTINGS)
    told: list[object] = []
    for name in ("session_tree", "session_branch", "session_compact"):
        gate.hooks.on(name, told.append)
    operation = await gate.hold(flow(agent))
    await spoken.close()
    before = (spoken.session_file, spoken.leaf_id, spoken.entry_count)
    gate.open()
    with pytest.raises(SessionClosedError):
        await operation
    assert ((spoken.session_file, spoken.leaf_id, spoken.entry_count), told) == (before, [])
