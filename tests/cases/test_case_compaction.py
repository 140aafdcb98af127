"""Cases 39, 45, 47, 49, 50, 57 and 80: compactions that are made here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AbortController,
    AbortSignal,
    AgentSession,
    AgentSettings,
    CompactionCancelledError,
    CompactionSettings,
    Hooks,
    LeafMovedError,
    NothingToCompactError,
    SessionBusyError,
    SessionManager,
    SummaryError,
    SummaryRequest,
    SummaryResult,
)

CopyCase = Callable[[str], Path]
Pairs = Callable[[Any], list[list[str]]]


class Stub:
    """A summarizer that notes what it is asked; with a gate it answers when that is opened."""

    def __init__(self, answer: str | SummaryResult | Exception = "sum", *, gate: asyncio.Event | None = None) -> None:
        self.requests: list[SummaryRequest] = []
        self.asked = asyncio.Event()
        self._answer = answer
        self._gate = gate

    async def summarize(self, request: SummaryRequest, *, signal: AbortSignal) -> str | SummaryResult:
        self.requests.append(request)
        self.asked.set()
        if self._gate is not None:
            await self._gate.wait()
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    async def waits(self) -> None:
        async with asyncio.timeout(20):
            await self.asked.wait()


def keeping(messages: int) -> AgentSettings:
    """Each message counts as one token, and so many are kept."""
    return AgentSettings(
        compaction=CompactionSettings(keep_recent_tokens=messages), estimate_tokens=lambda _message: 1
    )


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    return str(content if isinstance(content, str) else content[0]["text"])


async def first_kept(session: SessionManager, budget: int) -> str | None:
    """Compact, and return which entry is the first that is kept; None where all of it is."""
    agent = AgentSession(session, summarizer=Stub(), settings=keeping(budget))
    try:
        return (await agent.compact()).first_kept_entry_id
    except NothingToCompactError:
        return None


def results_without_call(messages: list[dict[str, Any]]) -> list[str]:
    """The tool results of a context whose call does not come before them."""
    calls: set[str] = set()
    lonely = []
    for message in messages:
        if message["role"] == "assistant":
            calls |= {block["id"] for block in message["content"] if block["type"] == "toolCall"}
        elif message["role"] == "toolResult" and message["toolCallId"] not in calls:
            lonely.append(message["toolCallId"])
    return lonely


@pytest.mark.parametrize(
    ("budget", "boundary"), [(1, "u2"), (2, "a2"), (3, "a2"), (4, "a2"), (5, "a1"), (6, None), (7, None)]
)
async def test_no_budget_cuts_into_a_batch_of_tool_calls(
    budget: int, boundary: str | None, copy_case: CopyCase
) -> None:
    """K-30..K-36, case 39 (b): a result is never the first that is kept, and its call is never summarized away."""
    async with await SessionManager.open(copy_case("39")) as session:
        session.branch("u2")
        assert await first_kept(session, budget) == boundary
        context = await session.build_session_context()
        assert (results_without_call(context.messages), context.open_tool_calls) == ([], [])


@pytest.mark.parametrize(
    ("budget", "boundary"), [(1, "u4"), (2, "u3"), (3, "a3"), (4, "a3"), (5, "a2"), (6, None), (7, None)]
)
async def test_no_budget_cuts_a_pair_that_an_old_compaction_stands_in(
    budget: int, boundary: str | None, copy_case: CopyCase
) -> None:
    """K-30, K-42, case 45: what the older compaction kept is cut like the rest."""
    async with await SessionManager.open(copy_case("45")) as session:
        assert await first_kept(session, budget) == boundary
        assert results_without_call((await session.build_session_context()).messages) == []


async def test_a_result_that_comes_while_its_call_is_compacted_follows_the_call(
    copy_case: CopyCase, context_pairs: Pairs
) -> None:
    """K-67, case 45: the compaction lands behind the result, not between the two."""
    async with await SessionManager.open(copy_case("45")) as session:
        session.branch("a2")
        gate = asyncio.Event()
        summarizer = Stub(gate=gate)
        agent = AgentSession(session, summarizer=summarizer, settings=keeping(2))
        compaction = asyncio.ensure_future(agent.compact())
        await summarizer.waits()
        result = {"role": "toolResult", "toolCallId": "t1", "content": [{"type": "text", "text": "out"}]}
        await session.append_message(result)
        gate.set()
        assert (await compaction).first_kept_entry_id == "u2"
        pairs = context_pairs(await agent.get_context())
        assert pairs == [
            ["compactionSummary", "sum"],
            ["user", "q2"],
            ["assistant", "[toolCall:t1]"],
            ["toolResult", "out"],
        ]


async def test_one_more_compaction_leaves_the_older_ones_intact(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """T-12, C-36, K-42, case 47: byte for byte; what they kept is summarized with the rest."""
    path = copy_case("47")
    before = path.read_bytes()
    summarizer = Stub("third sum")
    async with await SessionManager.open(path) as session:
        session.branch("u3")
        agent = AgentSession(session, summarizer=summarizer, settings=keeping(1))
        assert (await agent.compact()).first_kept_entry_id == "u3"
        assert context_pairs(await agent.get_context()) == [["compactionSummary", "third sum"], ["user", "q3"]]
    [request] = summarizer.requests
    assert request.previous_summary == "second sum"
    assert "q2" in request.prompt
    assert "first sum" not in request.prompt
    assert path.read_bytes().startswith(before)
    async with await SessionManager.open(path) as session:
        session.branch("a2")
        texts = [text for _, text in context_pairs(await session.build_session_context())]
        assert texts == ["first sum, in full", "r1", "q2", "r2"]
        first: Any = await session.get_entry("c1")
        assert (first.summary, first.details) == ("first sum, in full", {"archive": ["x", "y"]})


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (RuntimeError("no network"), SummaryError),
        (None, CompactionCancelledError),
        ("", SummaryError),
        (SummaryResult("so f", "error"), SummaryError),
        (SummaryResult("so f", "length"), SummaryError),
    ],
)
async def test_a_summarizer_that_fails_leaves_nothing_behind(
    answer: Any, error: type[Exception], copy_case: CopyCase, context_pairs: Pairs
) -> None:
    """K-55, K-66, K-69, case 49: bytes, leaf and context are what they were, and the next run works.

    Without an answer the summarizer is aborted.
    """
    path = copy_case("49")
    before = path.read_bytes()
    told: list[Any] = []
    hooks = Hooks()
    hooks.on("session_compact", told.append)
    async with await SessionManager.open(path) as session:
        summarizer = Stub(answer, gate=asyncio.Event() if answer is None else None)
        agent = AgentSession(session, summarizer=summarizer, hooks=hooks, settings=keeping(2))
        controller = AbortController()
        compaction = asyncio.ensure_future(agent.compact(signal=controller.signal))
        if answer is None:
            await summarizer.waits()
            controller.abort()
        with pytest.raises(error):
            await compaction
        assert (path.read_bytes(), session.leaf_id, told) == (before, "a4", [])
        assert len((await agent.get_context()).messages) == 8
        agent.summarizer = Stub("good")
        result = await agent.compact()
        texts = [text for _, text in context_pairs(await agent.get_context())]
        assert texts == ["good", "question 4", "answer 4"]
        assert [event.compaction_entry.id for event in told] == [result.entry_id]


async def test_a_leaf_that_moves_while_a_summary_is_made_ends_the_compaction(copy_case: CopyCase) -> None:
    """Case 50: a navigation is refused, a bare move is not; never is there a compaction that keeps another branch."""
    path = copy_case("50")
    before = path.read_bytes()
    async with await SessionManager.open(path) as session:
        gate = asyncio.Event()
        summarizer = Stub(gate=gate)
        agent = AgentSession(session, summarizer=summarizer, settings=keeping(2))
        compaction = asyncio.ensure_future(agent.compact())
        await summarizer.waits()
        with pytest.raises(SessionBusyError):
            await agent.navigate_tree("a1")
        assert session.leaf_id == "a2"
        session.branch("a1")
        gate.set()
        with pytest.raises(LeafMovedError):
            await compaction
        assert (session.leaf_id, path.read_bytes()) == ("a1", before)


async def test_an_append_while_a_branch_is_summarized_ends_the_navigation(copy_case: CopyCase) -> None:
    """Case 50, the other order: the append lands, and is all that is written."""
    path = copy_case("50")
    before = path.read_bytes()
    async with await SessionManager.open(path) as session:
        gate = asyncio.Event()
        summarizer = Stub(gate=gate)
        agent = AgentSession(session, summarizer=summarizer, settings=keeping(2))
        navigation = asyncio.ensure_future(agent.navigate_tree("a1", summarize=True))
        await summarizer.waits()
        with pytest.raises(SessionBusyError):
            await agent.compact()
        new = await session.append_message(user("one more"))
        gate.set()
        with pytest.raises(LeafMovedError):
            await navigation
        assert (session.leaf_id, session.path_ids()) == (new, ["u1", "a1", "u2", "a2", new])
    assert path.read_bytes().startswith(before)
    assert len(path.read_bytes().splitlines()) == len(before.splitlines()) + 1


async def test_an_abandoned_branch_is_in_no_summary(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """C-05, K-62, case 57: after a reload too."""
    path = copy_case("57")
    summarizer = Stub()
    async with await SessionManager.open(path) as session:
        await session.append_message(user("one more"), entry_id="u4")
        agent = AgentSession(session, summarizer=summarizer, settings=keeping(0))
        assert (await agent.compact()).first_kept_entry_id == "u4"
        live = context_pairs(await agent.get_context())
    [request] = summarizer.requests
    assert [text_of(message) for message in request.messages] == ["q1", "r1", "live way", "live reply"]
    assert "dead end" not in request.prompt
    assert live == [["compactionSummary", "sum"], ["user", "one more"]]
    async with await SessionManager.open(path) as session:
        assert context_pairs(await session.build_session_context()) == live


@pytest.mark.parametrize(("budget", "boundary"), [(1, "u2"), (2, "u2"), (3, "a1"), (4, None)])
async def test_a_compaction_at_an_open_tool_call_keeps_the_call_with_its_result(
    budget: int, boundary: str | None, copy_case: CopyCase
) -> None:
    """K-30, C-40, case 80: the call that has no result is still named where it is kept, and none else."""
    async with await SessionManager.open(copy_case("80")) as session:
        session.branch("r1")
        await session.append_message(user("never mind the second"), entry_id="u2")
        assert await first_kept(session, budget) == boundary
        context = await session.build_session_context()
        assert results_without_call(context.messages) == []
        assert context.open_tool_calls == ([] if boundary == "u2" else ["t2"])
