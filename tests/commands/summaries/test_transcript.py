"""A conversation as one plain text (N-62, N-67..N-69)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiontree import convert_to_llm
from sessiontree.commands.summaries.transcript import (
    MOST_OF_A_RESULT,
    is_useless,
    prompt,
    shortened,
    transcript,
    transcript_parts,
)

Fields = dict[str, Any]

IMAGE: Fields = {"type": "image", "data": "aGk=", "mimeType": "image/png"}


def said_by(messages: list[Fields]) -> str:
    return transcript(transcript_parts(messages))


def text(said: str) -> Fields:
    return {"type": "text", "text": said}


def thought(said: str) -> Fields:
    return {"type": "thinking", "thinking": said, "thinkingSignature": "sig"}


def call(call_id: str, name: str = "bash", arguments: object = None) -> Fields:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments or {}}


def user(*content: Fields) -> Fields:
    return {"role": "user", "content": list(content)}


def reply(*content: Fields) -> Fields:
    return {"role": "assistant", "content": list(content)}


def result(call_id: str, said: str = "out", **fields: Any) -> Fields:
    return {"role": "toolResult", "toolCallId": call_id, "content": [text(said)], **fields}


def test_a_conversation_is_one_text_of_tagged_parts_with_blank_lines_between() -> None:
    """N-67, N-68: thinking, text and calls of an answer each as a part of its own, in this order."""
    messages = [
        {"role": "user", "content": "a question\n\nin two parts"},
        reply(
            call("t1", "read", {"path": "a.py", "lines": [1, 2], "more": {"é": None}}),
            text("said"),
            thought("first"),
            text("said too"),
            thought("then"),
            call("t2", "ls"),
        ),
        result("t1", "the file"),
        reply(text("done")),
    ]
    assert said_by(messages) == "\n\n".join(
        [
            "[User]: a question\n\nin two parts",
            "[Think]: first\nthen",
            "[Assistant]: said\nsaid too",
            '[Tool Call]: read(path="a.py", lines=[1,2], more={"é":null}); ls()',
            "[Tool Result]: the file",
            "[Assistant]: done",
        ]
    )


def test_what_is_no_text_or_empty_is_left_out() -> None:
    """N-68: images are dropped, and a part without text is none."""
    messages = [
        user(text("look "), IMAGE, text("here")),
        user(IMAGE),
        reply(),
        reply(text(""), thought(""), {"type": "redactedThinking", "data": "x"}),
        result("t1", ""),
        {"role": "toolResult", "toolCallId": "t2", "content": [IMAGE]},
        {"role": "user", "content": None},
    ]
    assert said_by(messages) == "[User]: look here"
    assert said_by([]) == ""


def test_custom_messages_and_summaries_are_in_it() -> None:
    """N-67, N-68: they are user messages for the model (S), developer messages stand like theirs."""
    messages = convert_to_llm(
        [
            {"role": "custom", "customType": "note", "content": "noted"},
            {"role": "developer", "content": "told"},
            {"role": "branchSummary", "summary": "tried and left"},
        ]
    )
    noted, told, left = said_by(messages).split("\n\n", 2)
    assert (noted, told) == ("[User]: noted", "[User]: told")
    assert left.startswith("[User]: ")
    assert "tried and left" in left


@pytest.mark.parametrize("over", [1, 500, 100_000])
def test_a_long_result_is_cut_with_the_number_of_characters_that_are_left_out(over: int) -> None:
    """N-68, X-115."""
    said = "é" * MOST_OF_A_RESULT + "x" * over
    assert said_by([result("t", said)]) == (
        f"[Tool Result]: {'é' * MOST_OF_A_RESULT}\n\n[… {over} more characters left out]"
    )


@pytest.mark.parametrize("length", [1, MOST_OF_A_RESULT - 1, MOST_OF_A_RESULT])
def test_a_short_result_is_whole(length: int) -> None:
    """N-68, X-115."""
    assert MOST_OF_A_RESULT == 2_000
    assert said_by([result("t", "x" * length)]) == "[Tool Result]: " + "x" * length
    assert shortened("x" * length) == "x" * length


@given(st.text(min_size=1), st.integers(1, 3_000), st.sampled_from(["user", "assistant", "developer"]))
def test_what_a_person_or_an_agent_said_is_never_cut(said: str, times: int, role: str) -> None:
    """N-68, X-115: nor changed, with whatever follows it."""
    messages = [{"role": role, "content": said * times}, result("t", "x" * 5_000)]
    tag = "Assistant" if role == "assistant" else "User"
    assert said_by(messages).startswith(f"[{tag}]: {said * times}\n\n[Tool Result]: x")


@pytest.mark.parametrize(
    ("fields", "useless"),
    [
        ({"useless": True}, True),
        ({"useless": True, "isError": False}, True),
        ({"useless": True, "isError": True}, False),
        ({"useless": False}, False),
        ({}, False),
        ({"useless": True, "role": "user"}, False),
    ],
)
def test_a_result_is_useless_when_it_is_marked_so_and_is_no_error(fields: Fields, useless: bool) -> None:
    """N-62."""
    assert is_useless({**result("t1"), **fields}) == useless


def test_a_useless_result_is_left_out_with_its_call() -> None:
    """N-68, X-111: what was said around them and the other calls stay."""
    messages = [
        reply(text("look"), call("t1", "ls"), call("t2", "cat")),
        result("t1", "nothing", useless=True),
        result("t2", "something"),
        reply(call("t3", "failing")),
        result("t3", "the error", useless=True, isError=True),
    ]
    assert said_by(messages) == "\n\n".join(
        [
            "[Assistant]: look",
            "[Tool Call]: cat()",
            "[Tool Result]: something",
            "[Tool Call]: failing()",
            "[Tool Result]: the error",
        ]
    )


def test_a_call_that_shares_its_id_with_a_useless_one_stays() -> None:
    """N-68, X-111: pairs are dropped; some servers number the calls of each answer anew."""
    messages = [
        reply(call("call_0", "ls")),
        result("call_0", "nothing", useless=True),
        reply(call("call_0", "cat")),
        result("call_0", "something"),
    ]
    assert said_by(messages) == "[Tool Call]: cat()\n\n[Tool Result]: something"


@pytest.mark.parametrize("arguments", [None, "text", 5, ["a"]])
def test_arguments_that_have_no_names_are_left_out(arguments: object) -> None:
    """N-68."""
    block = {"type": "toolCall", "id": "t", "name": "bash", "arguments": arguments}
    assert said_by([reply(block, {"type": "toolCall"})]) == "[Tool Call]: bash(); ()"


def test_a_prompt_is_the_conversation_what_stands_between_and_the_instructions() -> None:
    """N-69, K-50."""
    messages = [user(text("q"))]
    assert prompt(said_by(messages), "SUM UP") == "<conversation>\n[User]: q\n</conversation>\n\nSUM UP"
    assert prompt(said_by(messages), "SUM UP", "<a/>", "<b/>") == (
        "<conversation>\n[User]: q\n</conversation>\n\n<a/>\n\n<b/>\n\nSUM UP"
    )
