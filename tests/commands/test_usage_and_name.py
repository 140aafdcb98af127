"""Usage of all branches together (T-95..T-98), and the session's name (F-55, F-73)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionManager, Usage

Make = Callable[..., Awaitable[SessionManager]]
WriteFile = Callable[..., Path]

USAGE = {
    "input": 10,
    "output": 20,
    "cacheRead": 30,
    "cacheWrite": 40,
    "totalTokens": 100,
    "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0.3, "cacheWrite": 0.4, "total": 1.0},
}


def assistant(usage: object = None, **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": [], **fields}
    return message if usage is None else {**message, "usage": usage}


def task_result(usage: object, tool: str = "task") -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": "t", "toolName": tool, "content": [], "details": {"usage": usage}}


async def test_usage_is_summed_over_every_branch(session: SessionManager) -> None:
    """T-95, T-96."""
    root = await session.append_message(assistant(USAGE))
    await session.append_message(assistant(USAGE))
    session.branch(root)
    await session.append_message(assistant(USAGE))
    usage = session.usage
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (30, 60, 90, 120)
    assert (usage.total_tokens, usage.cost) == (300, 3.0)


async def test_the_results_of_tasks_count_too(session: SessionManager) -> None:
    """X-28, T-95: of no other tool."""
    await session.append_message(task_result(USAGE))
    await session.append_message(task_result(USAGE, "bash"))
    await session.append_message({**task_result(USAGE), "role": "user"})
    assert (session.usage.input, session.usage.cost) == (10, 1.0)


async def test_requests_and_orchestration_are_kept_apart(session: SessionManager) -> None:
    """X-28, T-96: fractions kept, zero by default, not part of the input."""
    assert session.usage == Usage()
    await session.append_message(assistant({**USAGE, "premiumRequests": 0.25}))
    orchestration = {"input": 1, "output": 2, "cacheRead": 3}
    await session.append_message(assistant({"premiumRequests": 0.5, "orchestration": orchestration}))
    usage = session.usage
    assert (usage.premium_requests, usage.input) == (0.75, 10)
    assert (usage.orchestration_input, usage.orchestration_output, usage.orchestration_cache_read) == (1, 2, 3)


@pytest.mark.parametrize("usage", [None, {}, {"input": None}, {"input": "many"}, [], "none", {"cost": 3}])
async def test_missing_and_odd_numbers_count_as_zero(session: SessionManager, usage: object) -> None:
    """T-97."""
    await session.append_message(assistant(usage))
    await session.append_message(task_result(usage))
    await session.append_message(assistant(USAGE))
    assert (session.usage.input, session.usage.cost) == (10, 1.0)


async def test_usage_of_summaries_counts(session: SessionManager) -> None:
    """T-95 as settled: `details.usage` of compactions and branch summaries."""
    first = await session.append_message(assistant(USAGE))
    await session.append_compaction("so far", first, 1, {"usage": {"input": 1, "cost": {"total": 0.5}}})
    await session.branch_with_summary(first, "left", {"usage": {"input": 2}})
    await session.append_compaction("so far", first, 1, {"usage": "none"})
    await session.append_custom_entry("note", {"usage": USAGE})
    assert (session.usage.input, session.usage.cost) == (13, 1.5)


async def test_usage_is_a_snapshot_that_no_move_changes(session: SessionManager) -> None:
    """T-98."""
    first = await session.append_message(assistant(USAGE))
    snapshot = session.usage
    await session.append_message(assistant(USAGE))
    session.branch(first)
    assert (snapshot.input, session.usage.input) == (10, 20)
    session.reset_leaf()
    assert session.usage.input == 20


async def test_usage_is_counted_anew_on_loading(make_file: Make) -> None:
    """T-98."""
    session = await make_file()
    await session.append_message(assistant({**USAGE, "premiumRequests": 0.5}))
    await session.append_message(task_result(USAGE))
    usage = session.usage
    await session.close()
    async with await SessionManager.open(str(session.session_file)) as again:
        assert again.usage == usage


async def test_a_session_has_no_name_until_it_is_given_one(session: SessionManager) -> None:
    """F-55: it moves the leaf as any append."""
    unnamed = session.session_name
    assert unnamed is None
    entry_id = await session.set_session_name("  first ")
    assert (session.session_name, session.leaf_id) == ("first", entry_id)
    await session.set_session_name("second")
    assert session.session_name == "second"


async def test_an_empty_name_leaves_the_last_one(session: SessionManager) -> None:
    """F-55: the last non-empty one counts."""
    await session.set_session_name("first")
    await session.set_session_name(" ")
    assert session.session_name == "first"


async def test_a_name_on_another_branch_counts(session: SessionManager) -> None:
    """F-55 as settled: in file order."""
    first = await session.append_message(assistant())
    await session.set_session_name("one")
    session.branch(first)
    await session.set_session_name("two")
    session.branch(first)
    assert session.session_name == "two"


async def test_a_title_is_a_name_until_an_entry_gives_one(write_file: WriteFile) -> None:
    """F-55 as settled: header, then `title_change` and `session_info` in file order."""
    info = {"id": "i", "type": "session_info", "name": " info "}
    change = {"id": "t", "type": "title_change", "title": "change ", "source": "user"}
    for rows, name in (([], "title"), ([change], "change"), ([change, info], "info"), ([info, change], "change")):
        async with await SessionManager.open(write_file(rows, title=" title")) as session:
            assert session.session_name == name


@pytest.mark.parametrize(("slot", "name"), [("in the slot", "in the slot"), ("", None)])
@pytest.mark.parametrize("pad", ["", " " * 100])
async def test_a_title_slot_replaces_the_headers_title(
    write_file: WriteFile, slot: str, name: str | None, pad: str
) -> None:
    """F-03, F-72, F-73 as settled: of any width; an empty one takes the title away."""
    path = write_file([{"id": "a"}], title="header")
    record = {"type": "title", "v": 1, "title": slot, "updatedAt": "2026-01-05T10:00:00.000Z", "pad": pad}
    path.write_bytes(json.dumps(record).encode() + b"\n" + path.read_bytes())
    async with await SessionManager.open(path) as session:
        assert (session.session_name, session.leaf_id) == (name, "a")
        named = await session.set_session_name("by entry")
    async with await SessionManager.open(path) as session:
        assert (session.session_name, session.leaf_id) == ("by entry", named)
