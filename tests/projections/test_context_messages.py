"""What messages a context holds, and that they stay what they are (C-13, C-20..C-25, C-40..C-42)."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessiontree.projections.context import build_context, context_window

Factory = Callable[..., Any]
Fields = dict[str, Any]

FIRST_MS = 1_767_607_201_000  # 2026-01-05T10:00:01Z, the time of `e1`
USER: Fields = {"type": "message", "message": {"role": "user", "content": "q"}}
NOTE: Fields = {"type": "custom_message", "customType": "note", "content": "n", "display": True}


def call(call_id: str) -> Fields:
    return {"type": "toolCall", "id": call_id, "name": "bash", "arguments": {}}


def reply(*blocks: Fields, **more: Any) -> Fields:
    return {"type": "message", "message": {"role": "assistant", "content": list(blocks), **more}}


def result(call_id: str) -> Fields:
    return {
        "type": "message",
        "message": {"role": "toolResult", "toolCallId": call_id, "toolName": "b", "content": []},
    }


TEXT: Fields = {"type": "text", "text": "t"}


@pytest.fixture
def context_of(fed_log: Factory, chain: Factory) -> Callable[..., Any]:
    """Returns the context at the end of a chain of these bodies."""

    def make(*bodies: Fields, **options: bool) -> Any:
        return fed_log(chain(*bodies)).feed().context(f"e{len(bodies)}", **options)

    return make


def test_a_message_is_the_one_of_the_entry(fed_log: Factory, chain: Factory) -> None:
    """C-20: the same object with all its fields; the role does not matter."""
    odd = {"type": "message", "message": {"role": "bashExecution", "command": "ls", "extra": {"k": [None]}}}
    fed = fed_log(chain(USER, odd)).feed()
    window = context_window(fed.projector.tree, fed.projector.states, 2)
    bodies = fed.bodies(window.needed)
    one, other = (build_context(window, bodies) for _ in range(2))
    assert one.messages == [USER["message"], odd["message"]]
    for context in (one, other):
        assert all(message is bodies[seq].message for seq, message in enumerate(context.messages, 1))


def test_the_lists_of_a_context_are_the_callers(fed_log: Factory, chain: Factory) -> None:
    """C-20, C-40: shared dicts, new lists."""
    rules = {"type": "ttsr_injection", "injectedRules": ["r"]}
    model = {"type": "model_change", "model": "p/m"}
    tier = {"type": "service_tier_change", "serviceTier": "flex"}
    fed = fed_log(chain(USER, rules, model, tier)).feed()
    before = fed.context("e4")
    expected = deepcopy(before)
    for mine in (before.messages, before.models, before.injected_ttsr_rules, before.service_tier):
        mine.clear()
    before.open_tool_calls.append("x")
    assert fed.context("e4") == expected


def test_a_custom_message_speaks_with_what_the_file_says(context_of: Factory) -> None:
    """C-21, X-73: hidden ones too; what the entry does not have stays absent."""
    full = {**NOTE, "display": False, "details": {"k": 1}, "attribution": "user"}
    bare = {"type": "custom_message", "customType": "note", "content": [{"type": "text", "text": "n"}]}
    one, two = context_of(full, bare).messages
    expected = {key: value for key, value in full.items() if key != "type"}
    assert one == {"role": "custom", **expected, "timestamp": FIRST_MS}
    assert two == {"role": "custom", "customType": "note", "content": bare["content"], "timestamp": FIRST_MS + 1000}


@pytest.mark.parametrize("content", [5, None, {"type": "text"}])
def test_a_custom_message_whose_content_is_neither_text_nor_blocks_says_nothing(
    context_of: Factory, content: Any
) -> None:
    """C-21, X-62."""
    assert context_of(USER, {**NOTE, "content": content}).messages == [USER["message"]]


def test_a_branch_summary_speaks_unless_it_is_empty(context_of: Factory) -> None:
    """C-22."""
    summary = {"type": "branch_summary", "summary": "left", "fromId": "root", "details": {"readFiles": []}}
    [message] = context_of(summary, {**summary, "summary": ""}).messages
    assert message == {"role": "branchSummary", "summary": "left", "fromId": "root", "timestamp": FIRST_MS}


def test_a_compaction_speaks_with_its_summaries_and_tokens(context_of: Factory) -> None:
    """C-23, C-31: a short summary only where there is one; details and preserved data stay in the file."""
    entry = {"type": "compaction", "summary": "S", "firstKeptEntryId": "x", "tokensBefore": 7, "details": {"k": 1}}
    expected = {"role": "compactionSummary", "summary": "S", "tokensBefore": 7, "timestamp": FIRST_MS}
    assert context_of(entry).messages == [expected]
    assert context_of({**entry, "shortSummary": "s", "preserveData": {}}).messages == [
        {**expected, "shortSummary": "s"}
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"type": "custom", "customType": "c", "data": {"role": "user", "content": "q"}},
        {"type": "from_the_future", "message": USER["message"]},
        {"type": "session_init", "systemPrompt": "p", "task": "t"},
        {"type": "title_change", "title": "t"},
        {"type": "credential_pin", "provider": "p", "hash": "h"},
        {"type": "session_info", "name": "n"},
        {"type": "mode_change", "mode": "plan"},
        {"type": "message", "message": {"content": "no role"}},
        {"type": "message", "message": {"role": 5, "content": "q"}},
    ],
)
def test_everything_else_says_nothing(context_of: Factory, body: Fields) -> None:
    """C-24, F-40..F-56, X-29, X-37."""
    assert context_of(USER, body, USER).messages == [USER["message"]] * 2


@pytest.mark.parametrize(
    ("stored", "milliseconds"),
    [("soon", 0), (None, 0), (True, 0), (1.75e12, 1_750_000_000_000), (5.9, 5), ("1970-01-01T00:00:01.5", 1500)],
)
def test_a_time_is_in_milliseconds_and_zero_where_it_cannot_be_read(
    fed_log: Factory, chain: Factory, stored: Any, milliseconds: int
) -> None:
    """C-21, C-25."""
    [entry] = chain(NOTE)
    [message] = fed_log([{**entry, "timestamp": stored}]).feed().context("e1").messages
    assert message["timestamp"] == milliseconds
    assert type(message["timestamp"]) is int


@settings(max_examples=200, deadline=None)
@given(milliseconds=st.integers(0, 4_102_444_800_000))
def test_no_millisecond_is_lost(milliseconds: int, fed_log: Factory, chain: Factory) -> None:
    """C-21."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    [entry] = chain(NOTE)
    stored = moment.isoformat(timespec="milliseconds")
    [message] = fed_log([{**entry, "timestamp": stored}]).feed().context("e1").messages
    assert message["timestamp"] == milliseconds


def test_open_calls_at_the_leaf_are_left_out_and_named(fed_log: Factory, chain: Factory) -> None:
    """C-40, C-42, X-84, X-85, X-86: the log is untouched; landing on the last result leaves nothing open."""
    turn = reply(TEXT, call("t1"), call("t2"))
    fed = fed_log(chain(USER, turn, result("t1"), result("t2"), reply(call("t3")))).feed()
    at_turn = fed.context("e2")
    assert at_turn.messages == [USER["message"], reply(TEXT)["message"]]
    assert at_turn.open_tool_calls == ["t1", "t2"]
    between = fed.context("e3")
    assert between.messages[1] == reply(TEXT, call("t1"))["message"]
    assert between.open_tool_calls == ["t2"]
    whole = fed.context("e4")
    assert whole.messages == [body["message"] for body in (USER, turn, result("t1"), result("t2"))]
    assert whole.open_tool_calls == []
    at_end = fed.context("e5")
    assert (at_end.messages, at_end.open_tool_calls) == (whole.messages, ["t3"])


def test_a_call_whose_result_was_cut_off_is_open(context_of: Factory) -> None:
    """C-40, case 45: only the emitted messages count; a result without its call is kept as stored."""
    compaction = {"type": "compaction", "summary": "S", "firstKeptEntryId": "e3", "tokensBefore": 1}
    context = context_of(USER, reply(call("t1")), result("t1"), compaction, USER)
    assert [message["role"] for message in context.messages] == ["compactionSummary", "toolResult", "user"]
    assert context.open_tool_calls == []


def test_failed_turns_are_left_out_unless_they_are_kept(context_of: Factory) -> None:
    """C-41, X-87: with the results of their calls."""
    failed = reply(TEXT, call("t1"), stopReason="error")
    bodies = [USER, failed, result("t1"), USER, reply(TEXT, stopReason="aborted"), USER]
    assert [message["role"] for message in context_of(*bodies).messages] == ["user"] * 3
    kept = context_of(*bodies, keep_failed_turns=True)
    assert kept.messages == [body["message"] for body in bodies]


def test_a_failed_turn_that_goes_on_is_kept(context_of: Factory) -> None:
    """C-41, X-87: an `interrupted-thinking` message follows, stored as a message or as a custom one."""
    failed = reply(TEXT, stopReason="aborted")
    entry = {**NOTE, "customType": "interrupted-thinking"}
    message = {"type": "message", "message": {"role": "custom", "customType": "interrupted-thinking", "content": ""}}
    assert len(context_of(USER, failed, entry).messages) == 3
    assert len(context_of(USER, failed, message).messages) == 3
    assert len(context_of(USER, failed, NOTE).messages) == 2


def test_a_failed_turn_still_says_its_model(context_of: Factory) -> None:
    """C-13, X-71: an assistant entry on the path, whether its message is emitted or not."""
    context = context_of(USER, reply(TEXT, stopReason="error", provider="p", model="m"))
    assert (len(context.messages), context.models) == (1, {"default": "p/m"})


def test_a_context_holds_the_settings_of_its_leaf(context_of: Factory) -> None:
    """C-10..C-17, X-91: mode with its data."""
    context = context_of(
        {"type": "thinking_level_change", "thinkingLevel": "high", "configured": "auto"},
        {"type": "model_change", "model": "p/m"},
        {"type": "model_change", "model": "p/s", "role": "smol"},
        {"type": "mode_change", "mode": "plan", "data": {"file": "plan.md"}},
        {"type": "service_tier_change", "serviceTier": "claude-only"},
        {"type": "ttsr_injection", "injectedRules": ["a", "b"]},
        reply(TEXT, provider="x", model="y"),
    )
    assert (context.thinking_level, context.configured_thinking_level) == ("high", "auto")
    assert context.models == {"default": "p/m", "smol": "p/s"}
    assert (context.mode, context.mode_data) == ("plan", {"file": "plan.md"})
    assert context.service_tier == {"anthropic": "priority"}
    assert context.injected_ttsr_rules == ["a", "b"]


def test_nothing_in_a_context_changes_when_the_log_grows(fed_log: Factory, chain: Factory) -> None:
    """T-12: settings, messages, open calls, whatever comes behind it or takes the place of a line."""
    mode = {"type": "mode_change", "mode": "plan", "data": {"step": 1}}
    rules = {"type": "ttsr_injection", "injectedRules": ["a"]}
    fed = fed_log(chain(USER, mode, rules, reply(TEXT, call("t1"), provider="p", model="m"))).feed()
    context = fed.context("e4")
    expected = deepcopy(context)
    more = [
        {"type": "mode_change", "mode": "none"},
        {"type": "ttsr_injection", "injectedRules": ["b"]},
        {"type": "model_change", "model": "q/n"},
        {"type": "service_tier_change", "serviceTier": "priority"},
        result("t1"),
        {"type": "compaction", "summary": "S", "firstKeptEntryId": "e4", "tokensBefore": 1},
    ]
    fed.add(*chain(*more, first=5, parent="e4"), *chain(NOTE, first=2, parent="e1"))
    assert fed.context("e10").messages[0]["summary"] == "S"
    assert context == expected
