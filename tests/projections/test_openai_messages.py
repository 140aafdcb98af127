"""Messages of the OpenAI chat completions API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessiontree.projections.content_blocks import IMAGE_NOT_SENT
from sessiontree.projections.llm_messages import convert_to_llm
from sessiontree.projections.openai_messages import (
    EMPTY_TOOL_RESULT,
    IMAGES_ONLY_RESULT,
    TOOL_IMAGES_INTRO,
    to_openai_messages,
)
from sessiontree.projections.tool_pairs import ORPHAN_RESULT_INTRO

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
IMAGE_PART = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(call_id: str, arguments: Any = None) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": "bash", "arguments": arguments or {}}


def assistant(*content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content), **fields}


def result(call_id: str, *content: Any) -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": call_id, "toolName": "bash", "content": list(content)}


def sent_call(call_id: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "bash", "arguments": arguments}}


def user(value: str) -> dict[str, Any]:
    return {"role": "user", "content": value}


def test_the_system_message_comes_first_and_only_if_given() -> None:
    assert to_openai_messages([user("q")], system="be \ud83d brief") == [
        {"role": "system", "content": "be \ufffd brief"},
        user("q"),
    ]
    assert to_openai_messages([user("q")], system="") == to_openai_messages([user("q")]) == [user("q")]


def test_user_text_is_one_string_and_images_make_it_a_list_of_parts() -> None:
    assert to_openai_messages([{"role": "user", "content": [text("a"), text("b")], "timestamp": 1}]) == [user("a\nb")]
    assert to_openai_messages([{"role": "user", "content": [text("a"), IMAGE]}]) == [
        {"role": "user", "content": [text("a"), IMAGE_PART]}
    ]


def test_an_image_is_a_data_url_of_its_media_type() -> None:
    for key in ("mimeType", "mediaType"):
        image = {"type": "image", "data": "QQ==", key: "image/webp"}
        ((part,),) = [message["content"] for message in to_openai_messages([{"role": "user", "content": [image]}])]
        assert part["image_url"]["url"] == "data:image/webp;base64,QQ=="


@pytest.mark.parametrize(
    "image",
    [
        {"type": "image"},
        {"type": "image", "data": "", "mimeType": "image/png"},
        {"type": "image", "data": "aGk="},
        {"type": "image", "data": "aGk=", "mimeType": "text/html"},
        {"type": "image", "data": "blob:sha256:" + "0" * 64, "mimeType": "image/png"},
    ],
)
def test_an_image_that_cannot_be_sent_leaves_a_note(image: dict[str, Any]) -> None:
    """F-125: a session of the format's home may name a blob in place of the bytes."""
    assert to_openai_messages([{"role": "user", "content": [image]}]) == [user(IMAGE_NOT_SENT)]


def test_an_assistant_turn_has_text_and_tool_calls_and_its_results_behind_it() -> None:
    messages = [
        user("q"),
        assistant(
            {"type": "thinking", "thinking": "hm", "thinkingSignature": "s"},
            {"type": "redactedThinking", "data": "x"},
            text("let me"),
            call("t1", {"command": "ls é"}),
            call("t2"),
        ),
        result("t1", text("one"), text("more")),
        result("t2", text("two")),
        assistant(text("done"), stopReason="stop", usage={}),
    ]
    assert to_openai_messages(messages) == [
        user("q"),
        {
            "role": "assistant",
            "content": "let me",
            "tool_calls": [sent_call("t1", '{"command": "ls é"}'), sent_call("t2")],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "one\nmore"},
        {"role": "tool", "tool_call_id": "t2", "content": "two"},
        {"role": "assistant", "content": "done"},
    ]


def test_a_turn_of_calls_only_has_no_text() -> None:
    assert to_openai_messages([assistant(call("t1")), result("t1")])[0]["content"] is None


def test_results_are_moved_right_behind_their_turn() -> None:
    """Providers refuse anything between a call and its result."""
    summary = {"role": "branchSummary", "summary": "s"}
    sent = to_openai_messages([assistant(call("t1"), call("t2")), result("t2", text("b")), summary, result("t1")])
    assert [(m["role"], m.get("tool_call_id")) for m in sent] == [
        ("assistant", None),
        ("tool", "t1"),
        ("tool", "t2"),
        ("user", None),
    ]


def test_a_call_without_a_result_is_dropped_and_an_empty_turn_with_it() -> None:
    assert to_openai_messages([assistant(text("a"), call("t1"))]) == [{"role": "assistant", "content": "a"}]
    assert to_openai_messages([assistant(call("t1")), assistant(), assistant(text(""))]) == []
    assert to_openai_messages([assistant({"type": "thinking", "thinking": "hm"})]) == []


def test_a_result_without_its_call_becomes_user_text() -> None:
    """Case 39: the cut left the result of a call that was summarised away."""
    intro = ORPHAN_RESULT_INTRO.format(tool="bash")
    assert to_openai_messages([result("t2", text("two")), assistant(text("done"))]) == [
        user(f"{intro}\ntwo"),
        {"role": "assistant", "content": "done"},
    ]


def test_images_of_tool_results_follow_all_results_in_one_user_message() -> None:
    """The tool role takes text only."""
    messages = [assistant(call("t1"), call("t2")), result("t1", IMAGE), result("t2", text("x"), IMAGE)]
    intro = TOOL_IMAGES_INTRO.format(tool="bash")
    assert to_openai_messages(messages)[1:] == [
        {"role": "tool", "tool_call_id": "t1", "content": IMAGES_ONLY_RESULT},
        {"role": "tool", "tool_call_id": "t2", "content": "x"},
        {"role": "user", "content": [text(intro), IMAGE_PART, text(intro), IMAGE_PART]},
    ]


def test_an_empty_tool_result_says_so() -> None:
    assert to_openai_messages([assistant(call("t1")), result("t1")])[1]["content"] == EMPTY_TOOL_RESULT


def test_developer_messages_pass_and_their_images_follow_as_user() -> None:
    """C-58: developer passes; that role takes text only."""
    assert to_openai_messages([{"role": "developer", "content": "rule", "timestamp": 1}]) == [
        {"role": "developer", "content": "rule"}
    ]
    assert to_openai_messages([{"role": "developer", "content": [IMAGE, text("rule")]}]) == [
        {"role": "developer", "content": "rule"},
        {"role": "user", "content": [IMAGE_PART]},
    ]
    assert to_openai_messages([{"role": "developer", "content": []}]) == []


def test_an_image_in_a_reply_becomes_a_note() -> None:
    assert to_openai_messages([assistant(text("here"), IMAGE)]) == [
        {"role": "assistant", "content": f"here\n{IMAGE_NOT_SENT}"}
    ]


@pytest.mark.parametrize("arguments", [None, "", '{"a": 1}', [1], 5])
def test_arguments_that_are_no_object_are_sent_as_an_empty_one(arguments: Any) -> None:
    block = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": arguments}
    sent = to_openai_messages([assistant(block), result("t1")])
    assert sent[0]["tool_calls"] == [sent_call("t1")]


def test_arguments_too_deep_to_encode_are_sent_as_an_empty_object() -> None:
    deep: Any = {}
    for _ in range(50_000):
        deep = {"a": deep}
    sent = to_openai_messages([assistant(call("t1", deep)), result("t1")])
    assert sent[0]["tool_calls"] == [sent_call("t1")]


def test_long_and_repeated_ids_are_put_right_on_both_sides() -> None:
    """The API refuses ids of more than 40 characters, which its own other API gives out."""
    long_id = "call_1|" + "f" * 60
    messages = [
        assistant(call(long_id), call("t")),
        result(long_id),
        result("t"),
        assistant(call("t")),
        result("t"),
    ]
    sent = to_openai_messages(messages)
    ids = [c["id"] for m in sent for c in m.get("tool_calls", ())]
    assert ids == [m["tool_call_id"] for m in sent if m["role"] == "tool"]
    assert len(set(ids)) == 3
    assert max(map(len, ids)) == 40
    assert "t" in ids


def test_agent_and_model_messages_give_the_same() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "compactionSummary", "summary": "s"},
        {"role": "custom", "content": "c"},
        {"role": "fileMention", "files": [{"path": "a", "content": "b"}, {"path": "i", "image": IMAGE}]},
        {"role": "bashExecution", "command": "ls"},
        assistant(call("t1")),
        result("t1", IMAGE),
    ]
    assert to_openai_messages(convert_to_llm(messages)) == to_openai_messages(messages)


def test_what_is_sent_is_strict_json() -> None:
    """Case 08, and a number out of range in arguments."""
    messages = [
        assistant(call("t\ud800", {"x": float("inf"), "y": "\ud83d"})),
        result("t\ud800", text("\udc00")),
    ]
    sent = to_openai_messages(messages)
    json.dumps(sent, ensure_ascii=False, allow_nan=False).encode()
    assert json.loads(sent[0]["tool_calls"][0]["function"]["arguments"]) == {"x": None, "y": "\ufffd"}
    assert sent[1]["content"] == "\ufffd"
