"""Messages: what the envelope tells of them, and that nothing of their bodies is lost."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore.entries import MessageEntry, decode_entry
from sessiontree.eventstore.envelope import Envelope, decode_envelope, envelope_of
from sessiontree.eventstore.jsonl_store import JsonlEventStore

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
SessionFile = Callable[..., Path]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]

USAGE = {
    "input": 10,
    "output": 20,
    "cacheRead": 30,
    "cacheWrite": 40,
    "totalTokens": 100,
    "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0.3, "cacheWrite": 0.4, "total": 1.0},
    "contextTokens": 90,
    "premiumRequests": 0.5,
    "orchestration": {"input": 1, "output": 2, "cacheRead": 3},
}
IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}

MESSAGES: dict[str, dict[str, Any]] = {
    "F-60 text": {"role": "user", "content": "hi", "timestamp": 1, "attribution": "user", "steering": True},
    "F-60 blocks": {"role": "user", "content": [{"type": "text", "text": "hi"}, IMAGE], "timestamp": 1},
    "F-61": {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "a"},
            {"type": "thinking", "thinking": "t", "thinkingSignature": "s"},
            {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "/x", "n": 1.50}},
            {"type": "redactedThinking", "data": "r"},
            IMAGE,
            {"type": "anthropicServerTool", "x": [1]},
        ],
        "api": "anthropic-messages",
        "provider": "anthropic",
        "model": "claude",
        "usage": USAGE,
        "stopReason": "toolUse",
        "errorMessage": "none",
        "timestamp": 2,
    },
    "F-62": {
        "role": "toolResult",
        "toolCallId": "c1",
        "toolName": "read",
        "content": [{"type": "text", "text": "result"}],
        "details": {"big": 10**30},
        "isError": False,
        "useless": True,
        "prunedAt": 5,
        "timestamp": 3,
    },
    "F-63": {
        "role": "bashExecution",
        "command": "ls",
        "output": "x",
        "exitCode": 0,
        "cancelled": False,
        "truncated": False,
        "excludeFromContext": True,
        "fullOutputPath": "/tmp/x",
        "meta": {},
        "timestamp": 4,
    },
    "F-64": {"role": "custom", "customType": "c", "content": "x", "display": True, "details": None, "timestamp": 5},
    "F-64 legacy": {"role": "hookMessage", "customType": "c", "content": "x", "display": False, "timestamp": 5},
    "F-65 mention": {"role": "fileMention", "files": [{"path": "/x", "content": "y"}], "timestamp": 6},
    "F-65 python": {"role": "pythonExecution", "code": "1", "output": "1", "timestamp": 6},
    "F-65 developer": {"role": "developer", "content": "d", "timestamp": 6},
    "F-67 read": {"role": "branchSummary", "summary": "s", "fromId": "x", "timestamp": 7},
    "a later role": {"role": "hologram", "x": {"y": [None, True, "z"]}},
}


def line_of(message: object) -> bytes:
    return json.dumps({"type": "message", "id": "a", "parentId": None, "timestamp": 5, "message": message}).encode()


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_a_message_is_kept_in_the_files_own_form(message: dict[str, Any]) -> None:
    """F-60..F-67: camelCase keys, every field, whatever the role."""
    entry = decode_entry(line_of(message))
    assert isinstance(entry, MessageEntry)
    assert (entry.message, entry.role) == (message, message["role"])
    envelope, _ = decode_envelope(line_of(message))
    assert envelope.message is not None
    assert envelope.message.role == message["role"]
    for name, key in (("provider", "provider"), ("model", "model"), ("tool_name", "toolName")):
        assert getattr(envelope.message, name) == message.get(key)


def test_usage_comes_with_the_envelope() -> None:
    """F-66, T-95: token counts and cost, without the body."""
    envelope, _ = decode_envelope(line_of(MESSAGES["F-61"]))
    assert envelope.message is not None
    usage = envelope.message.usage
    assert usage is not None
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total_tokens) == (
        10,
        20,
        30,
        40,
        100,
    )
    assert (usage.cost.total, usage.premium_requests) == (1.0, 0.5)
    assert (usage.orchestration.input, usage.orchestration.output, usage.orchestration.cache_read) == (1, 2, 3)


@pytest.mark.parametrize(
    "usage",
    [
        {"input": "many", "output": 7},
        {"input": None, "output": 7, "cost": 5},
        {"input": [], "output": 7, "cost": {"total": "free"}, "orchestration": []},
        {"output": 7, "premiumRequests": True},
        {"output": 7, "orchestration": {"input": {}}},
    ],
    ids=str,
)
def test_a_number_of_the_wrong_kind_costs_the_others_nothing(usage: dict[str, Any]) -> None:
    """F-66, T-97: it counts as none; the message stands."""
    envelope, fault = decode_envelope(line_of({"role": "assistant", "provider": "p", "usage": usage}))
    assert envelope.message is not None
    assert envelope.message.usage is not None
    assert (envelope.message.provider, envelope.message.usage.output, fault) == ("p", 7, None)
    assert not envelope.message.usage.input
    assert not envelope.message.usage.cost.total


@pytest.mark.parametrize("usage", [None, 5, "x", []])
def test_usage_that_is_no_object_is_none(usage: object) -> None:
    """F-66"""
    envelope, _ = decode_envelope(line_of({"role": "assistant", "usage": usage}))
    assert envelope.message is not None
    assert envelope.message.usage is None


@pytest.mark.parametrize("odd", ["plain", "\ud83d"])
def test_what_a_task_used_comes_with_the_envelope_also_beside_odd_bytes(odd: str) -> None:
    """T-95: a subagent's usage is in the details of the result."""
    details = {"usage": {"input": 1, "cost": {"total": 0.5}}, "text": "x"}
    message = {"role": "toolResult", "toolName": "task", "content": odd, "details": details}
    envelope, _ = decode_envelope(line_of(message))
    assert envelope.message is not None
    assert envelope.message.details is not None
    usage = envelope.message.details.usage
    assert usage is not None
    assert (usage.input, usage.output, usage.cost.total) == (1, 0, 0.5)


@pytest.mark.parametrize("details", [None, [], ["x"], "x", 5, {}, {"usage": 5}, {"usage": {"input": "x"}}], ids=str)
@pytest.mark.parametrize("tool", ["task", "read"])
def test_details_of_any_kind_do_no_harm(details: object, tool: str) -> None:
    """F-62: they are whatever the tool says."""
    message = {"role": "toolResult", "toolName": tool, "content": [], "details": details}
    envelope, fault = decode_envelope(line_of(message))
    assert envelope.message is not None
    assert (envelope.message.role, envelope.message.tool_name, fault) == ("toolResult", tool, None)
    entry = decode_entry(line_of(message))
    assert isinstance(entry, MessageEntry)
    assert entry.message == message


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_the_envelope_of_an_entry_in_memory_is_that_of_its_line(message: dict[str, Any]) -> None:
    """D1"""
    read, _ = decode_envelope(line_of(message))
    made = envelope_of(decode_entry(line_of(message)))
    assert (made.type, made.id, made.parent_id, made.timestamp) == (read.type, read.id, read.parent_id, read.timestamp)
    assert read.message is not None
    assert made.message is not None
    for name in ("role", "provider", "model", "tool_name", "usage"):
        assert getattr(made.message, name) == getattr(read.message, name)


async def test_nothing_is_cut_moved_or_left_out_when_it_is_written(
    session_file: SessionFile, json_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """F-120..F-127 as settled, F-07: long strings, images, signatures and oddly named fields stay in the file."""
    long = "ä" * 600_000
    message = {
        "role": "assistant",
        "content": [
            {"type": "text", "text": long},
            {"type": "image", "data": "A" * 700_000, "mimeType": "image/png"},
            {"type": "image_url", "image_url": "data:image/png;base64," + "B" * 5000},
            {"type": "thinking", "thinking": long, "thinkingSignature": "s" * 600_000},
        ],
        "jsonlEvents": [1],
        "partialJson": "{",
        "images": [{"data": "C" * 5000}],
        "n": 2**70,
    }
    fields = {"type": "message", "id": "a", "parentId": None, "content": "x" * 600_000, "lineCount": 1}
    line = json_line({**fields, "message": message})
    path = session_file()
    store = await open_store(path)
    await store.append([line])
    assert path.read_bytes().endswith(b"\n" + line + b"\n")
    fresh = await open_store(path)
    await read_all(fresh)
    [read] = await fresh.read_lines([1])
    assert read == line
    entry = decode_entry(read)
    assert isinstance(entry, MessageEntry)
    assert entry.message == message


async def test_references_to_blobs_of_another_program_are_left_as_they_are(
    session_file: SessionFile, json_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """F-125, F-126 as settled: tolerated in files, not resolved."""
    image = {"type": "image", "data": "blob:sha256:" + "0" * 64, "mimeType": "image/png"}
    line = json_line({"type": "message", "id": "a", "message": {"role": "user", "content": [image]}})
    store = await open_store(session_file(line))
    await read_all(store)
    entry = decode_entry((await store.read_lines([1]))[0])
    assert isinstance(entry, MessageEntry)
    assert entry.message["content"] == [image]
