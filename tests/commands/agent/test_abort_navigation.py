"""A navigation that is aborted or cancelled at any of its steps happened as a whole, or not at all (N-39)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sessiontree import AbortController, AbortSignal, AgentSession, Hooks, NavigateResult, SessionManager

Conversation = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]
Say = Callable[..., Awaitable[None]]
Walk = Callable[..., Awaitable[tuple[Any, bool]]]
Stop = Callable[[AbortController, "asyncio.Task[Any]"], object]

ABORTED = NavigateResult(cancelled=True, aborted=True)


def cancel_twice(controller: AbortController, task: asyncio.Task[Any]) -> None:
    task.cancel()
    asyncio.get_running_loop().call_soon(task.cancel)


STOPS: dict[str, Stop] = {
    "signal": lambda controller, task: controller.abort("enough"),
    "cancel": lambda controller, task: task.cancel(),
    "cancel twice": cancel_twice,
}


class Stopping:
    """Stops a flow on a session in one way; `in_time` if its leaf had not moved by then, None if it was not called."""

    in_time: bool | None = None

    def __init__(self, way: str, session: SessionManager) -> None:
        self._way = way
        self._session = session
        self._leaf_id = session.leaf_id
        self._controller = AbortController()
        self.signal = self._controller.signal

    def __call__(self, task: asyncio.Task[Any]) -> None:
        self.in_time = self._session.leaf_id == self._leaf_id
        STOPS[self._way](self._controller, task)


SHAPES: dict[str, dict[str, Any]] = {
    "bare": {},
    "summary": {"summarize": True},
    "label": {"label": "mark"},
    "summary and label": {"summarize": True, "label": "mark"},
}
ENTRIES = {"bare": [], "summary": ["branch_summary"], "label": ["label"]}
ENTRIES["summary and label"] = ENTRIES["summary"] + ENTRIES["label"]


class Slow:
    """Takes a few turns, and one to end when it is cancelled; `running` requests have not ended."""

    running = 0

    async def summarize(self, request: object, *, signal: AbortSignal) -> str:
        self.running += 1
        try:
            for _ in range(2):
                await asyncio.sleep(0)
        finally:
            try:
                await asyncio.sleep(0)
            finally:
                self.running -= 1
        return "the summary"


def hooks_that_note(told: list[Any]) -> Hooks:
    """A plain and a slow handler before and after; the latter note what they are told."""
    hooks = Hooks()

    async def slow_before(event: Any) -> None:
        await asyncio.sleep(0)

    async def slow_after(event: Any) -> None:
        await asyncio.sleep(0)
        told.append(event)

    hooks.on("session_before_tree", lambda event: None)
    hooks.on("session_before_tree", slow_before)
    hooks.on("session_tree", told.append)
    hooks.on("session_tree", slow_after)
    return hooks


def state(session: SessionManager) -> tuple[Any, ...]:
    """What is on the disk, the leaf, and the tree."""
    content = Path(session.session_file).read_bytes() if session.session_file is not None else b""
    parents = {entry_id: session.shape(entry_id).parent_id for entry_id in session.entry_ids()}
    return content, session.leaf_id, parents, session.labels


@pytest.fixture(params=["file", "memory"])
async def conversation(
    request: pytest.FixtureRequest, make_file: Conversation, say: Say, tmp_path: Path
) -> Conversation:
    """Makes sessions of the same messages; a file was just opened, so that its lock is still to be taken."""
    first, numbers = await make_file(), count()

    async def conversation(*ids: str) -> SessionManager:
        if request.param == "memory":
            session = SessionManager.in_memory()
            await say(session, *ids)
            return session
        if not first.entry_count:
            await say(first, *ids)
        copy = tmp_path / f"{next(numbers)}.jsonl"
        copy.write_bytes(Path(str(first.session_file)).read_bytes())
        return await SessionManager.open(copy)

    return conversation


@pytest.mark.parametrize("way", STOPS)
@pytest.mark.parametrize("shape", SHAPES)
async def test_stopped_at_any_step_it_happened_as_a_whole_or_not_at_all(
    conversation: Conversation, walk: Walk, records: Records, shape: str, way: str
) -> None:
    """N-13, N-36, N-39 as settled, X-102, D8: the hooks were told then, no request is left, the next call works."""
    seen: set[bool] = set()
    for step in count():
        session, told, summarizer = await conversation("u1", "a1", "u2", "a2"), list[Any](), Slow()
        agent = AgentSession(session, summarizer=summarizer, hooks=hooks_that_note(told))
        before, stop = state(session), Stopping(way, session)
        flow = agent.navigate_tree("a1", signal=stop.signal, **SHAPES[shape])
        outcome, reached = await walk(flow, step, stop)
        assert summarizer.running == 0
        happened = state(session) != before
        assert not (happened and stop.in_time)
        if happened:
            new_ids = session.entry_ids()[4:]
            assert [session.shape(entry_id).type for entry_id in new_ids] == ENTRIES[shape]
            assert session.path_ids() == ["u1", "a1", *new_ids]
            assert session.labels == ({new_ids[0] if "summary" in shape else "a1": "mark"} if "label" in shape else {})
            assert [(event.old_leaf_id, event.new_leaf_id) for event in told] == [("a2", session.leaf_id)] * 2
            if session.session_file is not None:
                assert [line["id"] for line in records(session)[1:]] == session.entry_ids()
        else:
            assert told == []
        if reached and "cancel" in way:
            assert isinstance(outcome, asyncio.CancelledError)
        elif happened:
            assert outcome == NavigateResult(summary_entry=told[0].summary_entry)
        else:
            assert outcome == ABORTED
        again = await agent.navigate_tree("u1", summarize=True)
        assert again.summary_entry is not None
        assert session.path_ids() == [again.summary_entry.id]
        await session.close()
        seen.add(happened)
        if not reached:
            break
    assert seen == {True, False}
    assert step > 8
