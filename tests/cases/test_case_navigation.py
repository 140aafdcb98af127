"""Cases 56, 58 and 59: navigations in sessions that real programs got wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AbortSignal,
    AgentSession,
    EntryNotFoundError,
    Hooks,
    NavigateResult,
    SessionManager,
    SummaryRequest,
    TreePreparation,
)

CopyCase = Callable[[str], Path]
Pairs = Callable[[Any], list[list[str]]]


class Recording:
    """A summarizer that keeps what it is asked."""

    def __init__(self) -> None:
        self.requests: list[SummaryRequest] = []

    async def summarize(self, request: SummaryRequest, *, signal: AbortSignal) -> str:
        self.requests.append(request)
        return "what came of it"


def heard(hooks: Hooks) -> list[Any]:
    """The events of navigations, in order."""
    events: list[Any] = []
    for name in ("session_before_tree", "session_tree"):
        hooks.on(name, events.append)
    return events


async def test_a_new_summary_cuts_off_nothing_before_it_either(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """Case 56, N-30, N-33, C-22: earlier summaries are left like other entries, the empty one says nothing."""
    async with await SessionManager.open(copy_case("56")) as session:
        summarizer = Recording()
        agent = AgentSession(session, summarizer=summarizer)
        events = heard(agent.hooks)
        result = await agent.navigate_tree("u2", summarize=True)
        assert [entry.id for entry in events[0].preparation.entries_to_summarize] == ["b1", "u3", "b2", "u4"]
        [request] = summarizer.requests
        assert all(text in request.prompt for text in ("tried, no luck", "other plan", "go"))
        context = await agent.get_context()
        assert result.summary_entry is not None
        summary = ["branchSummary", result.summary_entry.summary]
        assert context_pairs(context) == [["user", "q1"], ["assistant", "r1"], summary]
        assert (context.models, context.thinking_level) == ({"default": "acme/m-2"}, "high")
        assert (session.leaf_id, result.editor_text) == (result.summary_entry.id, "try it")


async def test_a_branch_is_left_across_a_compaction(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """Case 58, N-41, N-42, N-43, N-30: it is one of the entries that are left, and ends nothing."""
    async with await SessionManager.open(copy_case("58")) as session:
        summarizer = Recording()
        agent = AgentSession(session, summarizer=summarizer)
        events = heard(agent.hooks)
        result = await agent.navigate_tree("a1", summarize=True)
        left = await session.get_entries(["u2", "a2", "c1", "u3", "a3"])
        assert events[0].preparation == TreePreparation("a1", "a3", "a1", left, True)
        entry = result.summary_entry
        assert entry is not None
        assert (entry.parent_id, session.leaf_id, result.editor_text) == ("a1", entry.id, None)
        pairs = context_pairs(await agent.get_context())
        assert pairs == [["user", "q1"], ["assistant", "r1"], ["branchSummary", entry.summary]]
        [request] = summarizer.requests
        assert [text in request.prompt for text in ("q1", "q2", "r2", "sum", "q3", "r3")] == [False] + [True] * 5


async def test_the_way_back_across_a_compaction_has_its_context_again(
    copy_case: CopyCase, context_pairs: Pairs
) -> None:
    """Case 58, N-45, C-36: there and back nothing is lost."""
    async with await SessionManager.open(copy_case("58")) as session:
        agent = AgentSession(session)
        before = context_pairs(await agent.get_context())
        await agent.navigate_tree("a1")
        await agent.navigate_tree("a3")
        assert context_pairs(await agent.get_context()) == before


async def test_a_user_entry_leads_before_it(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """Case 59 (a), N-21."""
    async with await SessionManager.open(copy_case("59")) as session:
        agent = AgentSession(session)
        assert await agent.navigate_tree("u2") == NavigateResult("second question")
        assert session.leaf_id == "a1"
        assert context_pairs(await agent.get_context()) == [["user", "first question"], ["assistant", "r1"]]


async def test_the_first_entry_leads_above_all_roots(copy_case: CopyCase) -> None:
    """Case 59 (b), N-21, N-31: the next append is a root of its own."""
    async with await SessionManager.open(copy_case("59")) as session:
        agent = AgentSession(session)
        assert await agent.navigate_tree("u1") == NavigateResult("first question")
        assert (session.leaf_id, (await agent.get_context()).messages) == (None, [])
        again = await session.append_message({"role": "user", "content": "again"})
        assert session.shape(again).parent_id is None
        assert [node.entry.id for node in await session.get_tree()] == ["u1", again]


async def test_where_one_is_nothing_happens(copy_case: CopyCase) -> None:
    """Case 59 (c), N-02."""
    path = copy_case("59")
    before = path.read_bytes(), path.stat().st_mtime_ns
    async with await SessionManager.open(path) as session:
        agent = AgentSession(session)
        events = heard(agent.hooks)
        assert await agent.navigate_tree("a2", summarize=True) == NavigateResult()
        assert (events, session.leaf_id) == ([], "a2")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


async def test_nowhere_is_an_error(copy_case: CopyCase) -> None:
    """Case 59 (d), N-03."""
    async with await SessionManager.open(copy_case("59")) as session:
        with pytest.raises(EntryNotFoundError, match=r"^Entry nope0000 not found$"):
            await AgentSession(session).navigate_tree("nope0000")
        assert session.leaf_id == "a2"
