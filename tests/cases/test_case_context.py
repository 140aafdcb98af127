"""Cases 39 to 48, 56 and 57: the context where compactions and branches meet."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sessiontree import SessionManager, to_anthropic_messages, to_openai_messages

CopyCase = Callable[[str], Path]
Pairs = Callable[[Any], list[list[str]]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def test_a_tool_result_without_its_call_reaches_a_provider_as_user_text(copy_case: CopyCase) -> None:
    """C-40: providers reject a result that answers nothing."""
    async with await SessionManager.open(copy_case("39")) as session:
        messages = (await session.build_session_context()).messages
    openai = to_openai_messages(messages)
    assert [message["role"] for message in openai].count("tool") == 0
    assert "two" in json.dumps(openai)
    anthropic = json.dumps(to_anthropic_messages(messages).messages)
    assert "tool_result" not in anthropic
    assert "two" in anthropic


async def test_a_branch_beside_a_compaction_has_its_messages_in_full(
    copy_case: CopyCase, context_pairs: Pairs
) -> None:
    """C-32, C-36."""
    async with await SessionManager.open(copy_case("41")) as session:
        session.branch("aA")
        texts = [text for _, text in context_pairs(await session.build_session_context())]
        assert texts == ["q1", "r1", "qA", "rA"]


async def test_a_move_behind_a_compaction_restores_what_it_replaced(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """C-36, T-44, T-60."""
    path = copy_case("46")
    async with await SessionManager.open(path) as session:
        session.branch("a1")
        before = [["user", "q1"], ["assistant", "r1"]]
        assert context_pairs(await session.build_session_context()) == before
        await session.append_message(user("other way"))
        assert context_pairs(await session.build_session_context()) == [*before, ["user", "other way"]]
        session.branch("u3")
        texts = [text for _, text in context_pairs(await session.build_session_context())]
        assert texts == ["sum", "q2", "r2", "q3"]
        fork = await session.create_branched_session("a1")
    async with await SessionManager.open(str(fork)) as session:
        assert [entry.id for entry in await session.get_entries()] == ["u1", "a1"]
        assert context_pairs(await session.build_session_context()) == before


async def test_a_newer_compaction_leaves_every_earlier_line_alone(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """T-12, C-36."""
    path = copy_case("47")
    before = path.read_bytes()
    async with await SessionManager.open(path) as session:
        new = await session.append_compaction("third sum", "u3", 1500, details={"archive": []})
        pairs = context_pairs(await session.build_session_context())
        assert pairs == [["compactionSummary", "third sum"], ["user", "q3"]]
    assert path.read_bytes().startswith(before)
    async with await SessionManager.open(path) as session:
        assert session.leaf_id == new
        session.branch("a2")
        texts = [text for _, text in context_pairs(await session.build_session_context())]
        assert texts == ["first sum, in full", "r1", "q2", "r2"]
        first: Any = await session.get_entry("c1")
        assert (first.summary, first.details) == ("first sum, in full", {"archive": ["x", "y"]})


async def test_the_compaction_that_counts_is_the_one_on_the_path(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """C-18: a failed twin is one move away, and nowhere else."""
    async with await SessionManager.open(copy_case("48")) as session:
        session.branch("cx")
        assert context_pairs(await session.build_session_context())[0] == ["compactionSummary", "failed try"]


async def test_state_set_before_a_branch_point_holds_behind_a_branch_summary(copy_case: CopyCase) -> None:
    """C-10, C-12, C-22: a `fromId` that is not on the path is no fault."""
    async with await SessionManager.open(copy_case("56")) as session:
        assert session.report.faults == []
        context = await session.build_session_context()
        assert (context.models, context.thinking_level) == ({"default": "acme/m-2"}, "high")
        assert [message["fromId"] for message in context.messages if message["role"] == "branchSummary"] == ["u2"]


async def test_an_abandoned_branch_stays_out_of_every_later_context(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """C-05: after a reload too, and where a compaction keeps from before the branch point."""
    path = copy_case("57")
    async with await SessionManager.open(path) as session:
        await session.append_message(user("one more"))
        await session.append_compaction("all of it", "a1", 900)
        live = context_pairs(await session.build_session_context())
    texts = [text for _, text in live]
    assert texts == ["all of it", "r1", "live way", "live reply", "one more"]
    async with await SessionManager.open(path) as session:
        assert context_pairs(await session.build_session_context()) == live
