"""Messages of the Anthropic messages API."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from sessiontree.projections.anthropic_messages import (
    EMPTY_TOOL_RESULT,
    OPENING_PLACEHOLDER,
    AnthropicRequest,
    to_anthropic_messages,
)
from sessiontree.projections.content_blocks import IMAGE_NOT_SENT
from sessiontree.projections.llm_messages import convert_to_llm
from sessiontree.projections.tool_pairs import ORPHAN_RESULT_INTRO

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
IMAGE_BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
SIGNED = {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(call_id: str, arguments: Any = None) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": "bash", "arguments": arguments or {}}


def assistant(*content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content), **fields}


def result(call_id: str, *content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": "bash",
        "content": list(content),
        **fields,
    }


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def use(call_id: str, call_input: Any = None) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "bash", "input": call_input or {}}


def answer(call_id: str, *content: Any, is_error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": list(content), "is_error": is_error}


def sent(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return to_anthropic_messages(messages).messages


def test_the_system_prompt_stands_apart_and_no_system_is_left_out_of_the_json() -> None:
    request = to_anthropic_messages([user(text("q"))], system="be \ud83d brief")
    assert request == AnthropicRequest([user(text("q"))], "be \ufffd brief")
    for none in (None, ""):
        assert msgspec.to_builtins(to_anthropic_messages([], system=none)) == {"messages": []}


def test_calls_are_answered_at_the_start_of_the_next_user_message() -> None:
    messages = [
        {"role": "user", "content": "q", "timestamp": 1},
        assistant(SIGNED, text("let me"), call("t1", {"command": "ls"}), call("t2"), api="anthropic-messages"),
        {"role": "user", "content": "steer"},
        result("t2", text("two"), IMAGE, isError=False),
        result("t1", text("one"), isError=True),
        assistant(text("done")),
        user(text("next")),
    ]
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    assert sent(*messages) == [
        user(text("q")),
        assistant(thinking, text("let me"), use("t1", {"command": "ls"}), use("t2")),
        user(answer("t1", text("one"), is_error=True), answer("t2", text("two"), IMAGE_BLOCK), text("steer")),
        assistant(text("done")),
        user(text("next")),
    ]


def test_neighbours_of_one_role_are_merged() -> None:
    """Roles must alternate; developer messages are user messages (C-54 as settled)."""
    messages = [
        {"role": "compactionSummary", "summary": "s"},
        {"role": "developer", "content": "rule"},
        user(text("q"), IMAGE),
        assistant(text("a")),
        assistant(text("b")),
        user(text("c")),
    ]
    first, reply, last = sent(*messages)
    assert first["role"] == "user"
    assert first["content"][1:] == [text("rule"), text("q"), IMAGE_BLOCK]
    assert (reply, last) == (assistant(text("a"), text("b")), user(text("c")))


def test_a_conversation_that_begins_with_a_reply_gets_an_opening() -> None:
    assert sent(assistant(text("a")))[0] == user(text(OPENING_PLACEHOLDER))
    assert sent() == []


def test_only_signed_thinking_is_sent() -> None:
    unsigned = [
        {"type": "thinking", "thinking": "x"},
        {**SIGNED, "thinkingSignature": ""},
        {**SIGNED, "thinking": None},
    ]
    redacted = {"type": "redactedThinking", "data": "xx"}
    _, reply = sent(user(text("q")), assistant(SIGNED, *unsigned, redacted, {"type": "redactedThinking"}, text("a")))
    assert [block["type"] for block in reply["content"]] == ["thinking", "redacted_thinking", "text"]


@pytest.mark.parametrize(("api", "kept"), [("anthropic-messages", 2), ("bedrock-converse-stream", 2), (None, 2)])
def test_thinking_of_an_api_that_signs_for_anthropic_is_kept(api: str | None, kept: int) -> None:
    assert len(sent(user(text("q")), assistant(SIGNED, text("a"), api=api))[1]["content"]) == kept


@pytest.mark.parametrize("api", ["openai-responses", "openai-completions", "google-generative-ai"])
def test_thinking_that_another_api_signed_is_dropped(api: str) -> None:
    """What stands in its signature field is no signature for Anthropic, which would refuse the request."""
    assert sent(user(text("q")), assistant(SIGNED, text("a"), api=api))[1] == assistant(text("a"))


def test_thinking_at_the_end_of_a_turn_is_dropped() -> None:
    """The API refuses a reply that ends with thinking."""
    assert sent(user(text("q")), assistant(text("a"), SIGNED), user(text("c")))[1] == assistant(text("a"))
    assert sent(user(text("q")), assistant(SIGNED)) == [user(text("q"))]


def test_a_turn_that_loses_a_call_loses_its_thinking() -> None:
    """C-40: the signature covered the whole turn."""
    messages = [user(text("q")), assistant(SIGNED, call("t1"), call("t2")), result("t1", text("x"))]
    assert sent(*messages)[1] == assistant(use("t1"))


def test_blank_text_is_left_out_and_messages_with_nothing_left_too() -> None:
    messages = [
        user(text("q"), text(" \n")),
        assistant(text("")),
        {"role": "user", "content": ""},
        user(text("r")),
    ]
    assert sent(*messages) == [user(text("q"), text("r"))]


def test_a_final_reply_does_not_end_with_white_space() -> None:
    assert sent(user(text("q")), assistant(text("a \n")))[1] == assistant(text("a"))
    assert sent(user(text("q")), assistant(text("a \n")), user(text("r")))[1] == assistant(text("a \n"))


def test_an_empty_result_says_so() -> None:
    messages = [
        user(text("q")),
        assistant(call("t1"), call("t2")),
        result("t1"),
        result("t2", text(" "), isError=True),
    ]
    assert sent(*messages)[2] == user(
        answer("t1", text(EMPTY_TOOL_RESULT)), answer("t2", text(EMPTY_TOOL_RESULT), is_error=True)
    )


def test_images_of_a_failed_result_stand_behind_all_results() -> None:
    """The API takes only text in a result with is_error."""
    failed = result("t1", text("no"), IMAGE, isError=True)
    messages = [user(text("q")), assistant(call("t1"), call("t2")), failed, result("t2", IMAGE)]
    assert sent(*messages)[2] == user(answer("t1", text("no"), is_error=True), answer("t2", IMAGE_BLOCK), IMAGE_BLOCK)


def test_a_result_without_its_call_becomes_user_text() -> None:
    """Case 39: the cut left the result of a call that was summarised away."""
    intro = ORPHAN_RESULT_INTRO.format(tool="bash")
    assert sent(result("t2", text("two")), assistant(text("done")), user(text("q3"))) == [
        user(text(intro), text("two")),
        assistant(text("done")),
        user(text("q3")),
    ]


@pytest.mark.parametrize("media_type", ["image/svg+xml", "image/tiff"])
def test_an_image_type_that_the_api_refuses_leaves_a_note(media_type: str) -> None:
    assert sent(user({**IMAGE, "mimeType": media_type})) == [user(text(IMAGE_NOT_SENT))]


def test_an_image_in_a_reply_becomes_a_note() -> None:
    assert sent(user(text("q")), assistant(IMAGE))[1] == assistant(text(IMAGE_NOT_SENT))


def test_ids_that_the_api_refuses_are_put_right_on_both_sides() -> None:
    messages = [
        user(text("q")),
        assistant(call("a|b"), call("toolu_1-x")),
        result("a|b"),
        result("toolu_1-x"),
    ]
    _, reply, results = sent(*messages)
    assert [block["id"] for block in reply["content"]] == ["a_b", "toolu_1-x"]
    assert [block["tool_use_id"] for block in results["content"]] == ["a_b", "toolu_1-x"]


def test_an_id_used_twice_is_sent_once() -> None:
    messages = [user(text("q")), assistant(call("t")), result("t"), assistant(call("t")), result("t")]
    ids = [block["id"] for message in sent(*messages) for block in message["content"] if block["type"] == "tool_use"]
    assert ids == ["t", "t_2"]


@pytest.mark.parametrize("arguments", [None, "x", [1], 5])
def test_arguments_that_are_no_object_are_sent_as_an_empty_one(arguments: Any) -> None:
    block = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": arguments}
    assert sent(user(text("q")), assistant(block), result("t1"))[1] == assistant(use("t1"))


def test_agent_and_model_messages_give_the_same() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "branchSummary", "summary": "s"},
        {"role": "hookMessage", "content": [IMAGE]},
        {"role": "fileMention", "files": [{"path": "a", "content": "b"}, {"path": "i", "image": IMAGE}]},
        assistant(call("t1")),
        result("t1", IMAGE, isError=True),
    ]
    assert to_anthropic_messages(convert_to_llm(messages)) == to_anthropic_messages(messages)


def test_what_is_sent_is_strict_json() -> None:
    """Case 08, and a number out of range in arguments."""
    messages = [
        assistant(call("t\ud800", {"x": float("inf"), "y": "\ud83d"})),
        result("t\ud800", text("\udc00")),
    ]
    request = sent(*messages)
    json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
    assert request[1]["content"][0]["input"] == {"x": None, "y": "\ufffd"}
