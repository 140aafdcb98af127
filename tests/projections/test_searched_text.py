"""In which text of an entry a search looks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessiontree import searched_text
from sessiontree.eventstore.entries import decode_entry


def text_of(**fields: Any) -> str:
    return searched_text(decode_entry(json.dumps({"type": "message", "id": "e1", **fields}).encode()))


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"role": "user", "content": "a question"}, "a question"),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "let me see", "thinkingSignature": "c2ln"},
                    {"type": "text", "text": "first this"},
                    {
                        "type": "toolCall",
                        "id": "call_1",
                        "name": "edit",
                        "arguments": {"path": "a.py", "edits": [{"old": "x", "new": "y"}, 3, None], "all": True},
                    },
                ],
                "provider": "acme",
                "errorMessage": "overloaded",
            },
            "let me see\nfirst this\nedit\na.py\nx\ny\noverloaded",
        ),
        (
            {
                "role": "toolResult",
                "toolName": "read",
                "content": [
                    {"type": "text", "text": "the file"},
                    {"type": "image", "data": "aGl0", "mimeType": "image/png"},
                    "odd",
                ],
                "details": {"diff": "unseen"},
            },
            "the file",
        ),
        ({"role": "bashExecution", "command": "make", "output": "all passed", "exitCode": 0}, "make\nall passed"),
        ({"role": "pythonExecution", "code": "1 + 1", "output": "2"}, "1 + 1\n2"),
        ({"role": "branchSummary", "summary": "tried mmap", "fromId": "x"}, "tried mmap"),
        (
            {"role": "fileMention", "files": [{"path": "b.md", "content": "notes"}, {"path": "c.png"}]},
            "b.md\nnotes\nc.png",
        ),
        ({"role": "custom", "customType": "note", "content": "look here"}, "look here"),
        ({"role": "assistant", "content": [{"type": "toolCall", "name": 7, "arguments": '{"a": 1}'}]}, '{"a": 1}'),
        ({"role": "user"}, ""),
    ],
)
def test_messages_are_searched_in_what_is_said_called_run_and_answered(message: dict[str, Any], text: str) -> None:
    assert text_of(message=message) == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"type": "custom_message", "customType": "note", "content": [{"type": "text", "text": "remember"}]},
            "remember",
        ),
        ({"type": "compaction", "summary": "long", "shortSummary": "short"}, "long\nshort"),
        ({"type": "branch_summary", "summary": "another way"}, "another way"),
        ({"type": "label", "targetId": "e0", "label": "milestone"}, "milestone"),
        ({"type": "label", "targetId": "e0"}, ""),
        ({"type": "session_info", "name": "Slow build"}, "Slow build"),
        ({"type": "title_change", "title": "Slow build"}, "Slow build"),
        ({"type": "model_change", "provider": "acme", "modelId": "m-1"}, "acme/m-1"),
        ({"type": "model_change", "modelId": "m-1"}, "m-1"),
        ({"type": "custom", "customType": "todo", "data": {"items": ["hidden"]}}, ""),
        ({"type": "new", "text": "unknown"}, ""),
    ],
)
def test_other_entries_are_searched_in_what_they_say(fields: dict[str, Any], text: str) -> None:
    assert text_of(**fields) == text


def test_arguments_of_any_depth_are_searched() -> None:
    """Nothing recurses."""
    value: Any = "deep"
    for _ in range(300):
        value = {"k": [value]}
    call = {"type": "toolCall", "id": "c", "name": "n", "arguments": value}
    assert text_of(message={"role": "assistant", "content": [call]}) == "n\ndeep"
