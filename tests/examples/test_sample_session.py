"""The session in examples/ is well-formed, and holds everything that the demo and the README speak of."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionEntry, SessionManager, to_anthropic_messages, to_openai_messages
from sessiontree.eventstore.entries import CompactionEntry, LabelEntry, MessageEntry, UnknownEntry

SAMPLE = Path(__file__).parents[2] / "examples" / "sample-session.jsonl"


def strict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({key for key, _ in pairs}) == len(pairs), f"a key stands twice: {pairs}"
    return dict(pairs)


def refuse(name: str) -> float:
    raise AssertionError(f"{name} is no JSON")


def records() -> list[dict[str, Any]]:
    text = SAMPLE.read_bytes().decode("utf-8")
    assert text.endswith("\n")
    return [json.loads(line, object_pairs_hook=strict, parse_constant=refuse) for line in text[:-1].split("\n")]


async def entries() -> list[SessionEntry]:
    async with await SessionManager.open(SAMPLE, read_only=True) as session:
        return await session.get_entries()


def tips() -> list[str]:
    parents = {record["parentId"] for record in records()[1:]}
    ends = [record for record in records()[1:] if record["id"] not in parents]
    assert {end["type"] for end in ends} == {"message"}
    return [end["id"] for end in ends]


def test_it_is_strict_json_with_a_version_3_header() -> None:
    header, *rest = records()
    assert (header["type"], header["version"]) == ("session", 3)
    assert all({"type", "id", "parentId", "timestamp"} <= record.keys() for record in rest)


def test_every_id_is_its_own_and_every_parent_stands_before_its_child() -> None:
    known: set[str] = set()
    for record in records()[1:]:
        assert record["id"] not in known
        assert record["parentId"] in known or (record["parentId"] is None and not known)
        known.add(record["id"])


def test_its_times_never_run_back() -> None:
    assert all(before["timestamp"] <= after["timestamp"] for before, after in pairwise(records()))


async def test_it_opens_without_a_fault_and_every_body_is_of_its_type() -> None:
    async with await SessionManager.open(SAMPLE, read_only=True) as session:
        assert session.report.faults == []
        assert session.session_name == "Fix the flaky retry test"
        assert session.labels == {"a04bd71e": "cause found", "c873be40": "fixed"}
    assert not [entry for entry in await entries() if isinstance(entry, UnknownEntry)]


def test_it_shows_what_a_session_can_hold() -> None:
    types = Counter(record["type"] for record in records()[1:])
    roles = Counter(record["message"]["role"] for record in records()[1:] if record["type"] == "message")
    assert types.keys() == {
        "message",
        "model_change",
        "thinking_level_change",
        "label",
        "compaction",
        "branch_summary",
        "custom",
        "custom_message",
    }
    assert (types["compaction"], types["branch_summary"], len(tips())) == (1, 1, 3)
    assert roles.keys() == {"user", "assistant", "toolResult"}


async def test_labels_and_the_first_kept_entry_name_entries_above_them() -> None:
    async with await SessionManager.open(SAMPLE, read_only=True) as session:
        for entry in await session.get_entries():
            path = session.path_ids(entry.id)[:-1]
            assert not isinstance(entry, LabelEntry) or entry.target_id in path
            assert not isinstance(entry, CompactionEntry) or entry.first_kept_entry_id in path


async def test_every_tool_call_has_its_result_next_to_it_and_no_result_stands_alone() -> None:
    open_calls: set[str] = set()
    for entry in await entries():
        if not isinstance(entry, MessageEntry):
            assert not open_calls
        elif entry.role == "toolResult":
            open_calls.remove(entry.message["toolCallId"])
        else:
            assert not open_calls
            open_calls = {block["id"] for block in entry.message["content"] if block["type"] == "toolCall"}
            assert entry.role != "user" or not open_calls
    assert not open_calls


def test_the_totals_of_usage_add_up() -> None:
    for record in records()[1:]:
        if record["type"] == "message" and record["message"]["role"] == "assistant":
            usage = record["message"]["usage"]
            cost = usage["cost"]
            parts = ("input", "output", "cacheRead", "cacheWrite")
            assert usage["totalTokens"] == sum(usage[part] for part in parts)
            assert cost["total"] == pytest.approx(sum(cost[part] for part in parts))


@pytest.mark.parametrize("leaf", tips())
async def test_the_context_of_every_branch_is_whole_and_can_be_sent(leaf: str) -> None:
    async with await SessionManager.open(SAMPLE, read_only=True) as session:
        context = await session.build_session_context(leaf)
    assert context.open_tool_calls == []
    assert to_openai_messages(context.messages)[-1]["role"] == "assistant"
    assert to_anthropic_messages(context.messages).messages[0]["role"] == "user"
