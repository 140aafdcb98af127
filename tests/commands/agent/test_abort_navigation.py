"""A navigation that is aborted or cancelled at any of its steps happened as a whole, or not at all (N-39)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sessiontree import AgentSession, NavigateResult, SessionManager

Conversation = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]
Walk = Callable[..., Awaitable[tuple[Any, bool]]]
Make = Callable[..., Any]

ABORTED = NavigateResult(cancelled=True, aborted=True)


SHAPES: dict[str, dict[str, Any]] = {
    "bare": {},
    "summary": {"summarize": True},
    "label": {"label": "mark"},
    "summary and label": {"summarize": True, "label": "mark"},
}
ENTRIES = {"bare": [], "summary": ["branch_summary"], "label": ["label"]}
ENTRIES["summary and label"] = ENTRIES["summary"] + ENTRIES["label"]


def state(session: SessionManager) -> tuple[Any, ...]:
    """What is on the disk, the leaf, and the tree."""
    content = Path(session.session_file).read_bytes() if session.session_file is not None else b""
    parents = {entry_id: session.shape(entry_id).parent_id for entry_id in session.entry_ids()}
    return content, session.leaf_id, parents, session.labels


@pytest.mark.parametrize("shape", SHAPES)
async def test_stopped_at_any_step_it_happened_as_a_whole_or_not_at_all(
    conversation: Conversation,
    walk: Walk,
    records: Records,
    slow: Make,
    stopping: Make,
    hooks_that_note: Make,
    shape: str,
    way: str,
) -> None:
    """N-13, N-36, N-39 as settled, X-102, D8: the hooks were told then, no request is left, the next call works."""
    seen: set[bool] = set()
    for step in count():
        session, told, summarizer = await conversation("u1", "a1", "u2", "a2"), list[Any](), slow()
        agent = AgentSession(session, summarizer=summarizer, hooks=hooks_that_note("tree", told))
        before, stop = state(session), stopping(session)
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
