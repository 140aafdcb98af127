"""What holds for every conversion, whatever the messages are."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sessiontree.projections.anthropic_messages import to_anthropic_messages
from sessiontree.projections.llm_messages import convert_to_llm
from sessiontree.projections.openai_messages import to_openai_messages
from sessiontree.projections.tool_pairs import drop_failed_turns, drop_open_tool_calls

surrogates = st.characters(categories=["Cs"])
texts = st.text(st.one_of(st.characters(), surrogates, st.sampled_from(" \n`")), max_size=8)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(texts, inner, max_size=2)),
    max_leaves=4,
)


def objects(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with any part of these fields, each now and then of any other shape."""
    return st.fixed_dictionaries(
        {}, optional={key: st.one_of(value, value, value, values) for key, value in fields.items()}
    )


def kind(name: str, /, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return objects(**fields).map(lambda block: {"type": name, **block})


# Few ids, so that calls, results and duplicates meet; one that providers refuse, one too long.
call_ids = st.sampled_from(["t1", "t2", "t3", "a|b", "a_b", "x" * 70, ""])
images = kind(
    "image",
    data=st.sampled_from(["aGk=", "blob:sha256:0"]),
    mimeType=st.sampled_from(["image/png", "image/tiff"]),
)
calls = kind(
    "toolCall",
    id=call_ids,
    name=st.sampled_from(["bash", ""]),
    arguments=st.dictionaries(texts, values, max_size=2),
)
good_calls = call_ids.map(lambda call_id: {"type": "toolCall", "id": call_id, "name": "bash", "arguments": {}})
blocks = st.one_of(
    kind("text", text=texts),
    images,
    calls,
    good_calls,
    kind("thinking", thinking=texts, thinkingSignature=texts),
    kind("redactedThinking", data=texts),
    values,
)
contents = st.one_of(texts, st.lists(blocks, max_size=4))


def role(name: str, /, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return objects(**fields).map(lambda message: {"role": name, **message})


flags = st.booleans()
executions: dict[str, st.SearchStrategy[Any]] = {
    "output": texts,
    "exitCode": st.integers(0, 2),
    "cancelled": flags,
    "truncated": flags,
    "fullOutputPath": texts,
    "excludeFromContext": flags,
}
assistants = role(
    "assistant",
    content=contents,
    stopReason=st.sampled_from(["stop", "toolUse", "error", "aborted"]),
    api=st.sampled_from(["anthropic-messages", "openai-responses"]),
)
results = role("toolResult", toolCallId=call_ids, toolName=texts, content=contents, isError=flags, prunedAt=st.none())
good_results = call_ids.map(lambda call_id: {"role": "toolResult", "toolCallId": call_id, "content": "out"})
others = st.one_of(
    role("user", content=contents, timestamp=st.integers()),
    role("developer", content=contents),
    role("custom", content=contents, customType=st.sampled_from(["note", "interrupted-thinking"])),
    role("hookMessage", content=contents),
    role("branchSummary", summary=texts),
    role("compactionSummary", summary=texts, images=st.lists(images, max_size=1)),
    role("bashExecution", command=texts, **executions),
    role("pythonExecution", code=texts, **executions),
    role("fileMention", files=st.lists(objects(path=texts, content=texts, image=images), max_size=2)),
    objects(role=texts),
)
conversations = st.lists(st.one_of(assistants, assistants, results, good_results, others), max_size=10)


def assert_strict_json(value: Any) -> None:
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


@settings(deadline=None)
@given(conversations)
def test_model_messages_can_be_encoded_and_convert_to_themselves(messages: list[dict[str, Any]]) -> None:
    converted = convert_to_llm(messages)
    assert_strict_json(converted)
    assert {message["role"] for message in converted} <= {"user", "assistant", "toolResult", "developer"}
    assert all(isinstance(message["content"], str | list) for message in converted)
    assert convert_to_llm(converted) == converted


@settings(deadline=None)
@given(conversations, st.none() | texts)
def test_every_openai_tool_message_answers_a_call_of_the_reply_right_above(
    messages: list[dict[str, Any]], system: str | None
) -> None:
    sent = to_openai_messages(messages, system=system)
    assert_strict_json(sent)
    expected: list[str] = []
    seen: list[str] = []
    for message in [*sent, {"role": "user"}]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == expected.pop(0)
            assert message["content"]
            continue
        assert expected == []
        if message["role"] == "assistant":
            expected = [call["id"] for call in message.get("tool_calls", ())]
            assert expected or message["content"]
            seen += expected
            for call in message.get("tool_calls", ()):
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
    assert len(set(seen)) == len(seen)
    assert all(0 < len(call_id) <= 40 for call_id in seen)


@settings(deadline=None)
@given(conversations, st.none() | texts)
def test_an_anthropic_conversation_keeps_the_rules_of_the_api(
    messages: list[dict[str, Any]], system: str | None
) -> None:
    request = to_anthropic_messages(messages, system=system)
    assert_strict_json([request.system, request.messages])
    sent = request.messages
    assert [message["role"] for message in sent] == [("user", "assistant")[i % 2] for i in range(len(sent))]
    seen: list[str] = []
    open_ids: list[str] = []
    for message in sent:
        content = message["content"]
        assert content
        kinds = [block["type"] for block in content]
        for block in content:
            assert block["type"] != "text" or block["text"].strip()
        if message["role"] == "user":
            answers = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
            assert answers == open_ids
            assert kinds[: len(answers)] == ["tool_result"] * len(answers)
            for block in content[: len(answers)]:
                inner = {part["type"] for part in block["content"]}
                assert inner and inner <= ({"text"} if block["is_error"] else {"text", "image"})
            open_ids = []
        else:
            assert set(kinds) <= {"text", "thinking", "redacted_thinking", "tool_use"}
            assert kinds[-1] in ("text", "tool_use")
            open_ids = [block["id"] for block in content if block["type"] == "tool_use"]
            assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", call_id) for call_id in open_ids)
            seen += open_ids
    assert open_ids == []
    assert len(set(seen)) == len(seen)
    if sent and sent[-1]["role"] == "assistant":
        last = sent[-1]["content"][-1]["text"]
        assert last == last.rstrip()


@settings(deadline=None)
@given(conversations)
def test_no_conversion_changes_its_input_or_shares_with_it(messages: list[dict[str, Any]]) -> None:
    # By their text: NaN is not equal to itself.
    before = repr(deepcopy(messages))
    for converted in (
        convert_to_llm(messages),
        to_openai_messages(messages),
        to_anthropic_messages(messages).messages,
    ):
        spoil(converted)
        assert repr(messages) == before
    drop_failed_turns(drop_open_tool_calls(messages)[0])
    assert repr(messages) == before


def spoil(value: Any) -> None:
    if isinstance(value, dict):
        for item in value.values():
            spoil(item)
        value["spoiled"] = True
    elif isinstance(value, list):
        for item in value:
            spoil(item)
        value.append("spoiled")


@settings(deadline=None)
@given(conversations)
def test_after_the_context_passes_no_call_is_open_and_no_turn_is_new(messages: list[dict[str, Any]]) -> None:
    """C-40, C-41: a second pass finds nothing, and untouched messages are the same objects in order."""
    kept, open_ids = drop_open_tool_calls(messages)
    assert all(isinstance(call_id, str) for call_id in open_ids)
    again, none_open = drop_open_tool_calls(kept)
    assert none_open == []
    assert all(mine is theirs for mine, theirs in zip(again, kept, strict=True))
    remaining = iter(kept)
    assert all(any(message is candidate for candidate in remaining) for message in drop_failed_turns(kept))
