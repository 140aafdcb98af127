"""A compaction that is aborted or cancelled at any of its steps happened as a whole, or not at all (K-66, K-76)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AbortError,
    AgentSession,
    AgentSettings,
    AutoCompactionResult,
    CompactionCancelledError,
    CompactionResult,
    CompactionSettings,
    Hooks,
    Model,
    SessionManager,
)

Conversation = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]
Walk = Callable[..., Awaitable[tuple[Any, bool]]]
Make = Callable[..., Any]

MODEL = Model("acme", "m-1", 1000)
SMALL = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=1, threshold_tokens=1))
EVENTS = (
    "session_before_compact",
    "session.compacting",
    "session_compact",
    "auto_compaction_start",
    "auto_compaction_end",
)
WHOLE_TURNS = ("u1", "a1", "u2")
SPLIT_TURN = ("u1", "a1", "u2", "a2", "a3")


class Told(list[Any]):
    """The events that a plain and a slow handler of each kind were told."""

    def __init__(self) -> None:
        super().__init__()
        self.hooks = Hooks()
        for event in EVENTS:
            self.hooks.on(event, self.append)
            self.hooks.on(event, self._slow)

    async def _slow(self, event: Any) -> None:
        await asyncio.sleep(0)
        self.append(event)

    def of(self, kind: str) -> list[Any]:
        return [event for event in self if event.type == kind]


def state(session: SessionManager) -> tuple[Any, ...]:
    """What is on the disk, the leaf, and the tree."""
    content = Path(session.session_file).read_bytes() if session.session_file is not None else b""
    parents = {entry_id: session.shape(entry_id).parent_id for entry_id in session.entry_ids()}
    return content, session.leaf_id, parents


async def happened(session: SessionManager, before: tuple[Any, ...], told: Told) -> bool:
    """Tell whether a compaction stands on the path, and the hooks were told; assert that there is nothing between."""
    if state(session) == before:
        assert told.of("session_compact") == []
        return False
    content, leaf_id, parents = before
    assert session.path_ids() == [*parents, session.leaf_id]
    assert session.shape(str(session.leaf_id)).parent_id == leaf_id
    assert [event.compaction_entry.id for event in told.of("session_compact")] == [session.leaf_id] * 2
    if session.session_file is not None:
        after = Path(session.session_file).read_bytes()
        assert after.startswith(content)
        assert after[len(content) :].count(b"\n") == 1
    return True


@pytest.mark.parametrize("messages", [WHOLE_TURNS, SPLIT_TURN], ids=["whole turns", "split turn"])
async def test_stopped_at_any_step_it_happened_as_a_whole_or_not_at_all(
    conversation: Conversation, walk: Walk, slow: Make, stopping: Make, messages: tuple[str, ...], way: str
) -> None:
    """K-53, K-66, K-76, D8: the hooks were told then, no request of two is left, and the next call works."""
    seen: set[bool] = set()
    for step in count():
        session, told, summarizer = await conversation(*messages), Told(), slow()
        agent = AgentSession(session, summarizer=summarizer, hooks=told.hooks, settings=SMALL)
        before, stop = state(session), stopping(session)
        flow = agent.compact(signal=stop.signal)
        outcome, reached = await walk(flow, step, stop)
        assert summarizer.running == 0
        done = await happened(session, before, told)
        assert not (done and stop.in_time)
        if reached and "cancel" in way:
            assert isinstance(outcome, asyncio.CancelledError)
        elif done:
            assert isinstance(outcome, CompactionResult)
            assert outcome.entry_id == session.leaf_id
        else:
            assert isinstance(outcome, CompactionCancelledError)
            assert (outcome.aborted, outcome.reason) == (True, "enough")
        session.branch(messages[-1])
        assert (await agent.compact()).entry_id == session.leaf_id
        await session.close()
        seen.add(done)
        if not reached:
            break
    assert seen == {True, False}
    assert summarizer.most == (2 if messages == SPLIT_TURN else 1)
    assert step > 15


async def test_the_end_of_an_automatic_one_is_told_wherever_it_was_stopped(
    conversation: Conversation, walk: Walk, slow: Make, stopping: Make, way: str
) -> None:
    """K-74, K-76, D8: once to each handler, after everything else, and as a whole or not at all."""
    seen: set[bool] = set()
    for step in count():
        session, told = await conversation("u1", "a1"), Told()
        agent = AgentSession(session, summarizer=slow(), model=MODEL, hooks=told.hooks, settings=SMALL)
        before, stop = state(session), stopping(session)
        flow = agent.maybe_compact(signal=stop.signal)
        outcome, reached = await walk(flow, step, stop)
        done = await happened(session, before, told)
        assert not (done and stop.in_time)
        ends = told.of("auto_compaction_end")
        assert ends == told[-2:]
        if reached and "cancel" in way:
            assert isinstance(outcome, asyncio.CancelledError)
            assert done or all(end.aborted for end in ends)
        elif not told:
            # Nobody knows yet whether it is due.
            assert isinstance(outcome, AbortError)
        else:
            assert outcome == AutoCompactionResult("threshold", ends[0].result, aborted=not done)
            assert (ends[0].result is not None, ends[0].aborted) == (done, not done)
        session.branch("a1")
        again = await agent.maybe_compact()
        assert again is not None
        assert again.result is not None
        await session.close()
        seen.add(done)
        if not reached:
            break
    assert seen == {True, False}
    assert step > 20
