"""Agent messages to model messages (C-50..C-59). X-96 is out of scope: refusals, steering, caching."""

from __future__ import annotations

from copy import deepcopy
from types import MappingProxyType
from typing import Any

import pytest

from sessiontree.projections.llm_messages import (
    BASH_INTRO,
    BRANCH_SUMMARY_INTRO,
    CANCELLED_NOTE,
    COMPACTION_SUMMARY_INTRO,
    EXIT_CODE_NOTE,
    FILE_MENTION_IMAGES_INTRO,
    FILE_MENTION_INTRO,
    IMAGE_FILE_BODY,
    NO_OUTPUT,
    PRUNED_RESULT,
    PYTHON_INTRO,
    PYTHON_OUTPUT,
    TRUNCATED_NOTE,
    convert_to_llm,
)

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}


def text_block(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def convert_one(message: dict[str, Any]) -> dict[str, Any]:
    (converted,) = convert_to_llm([message])
    return converted


def text_of(message: dict[str, Any]) -> str:
    (block,) = convert_one(message)["content"]
    assert block["type"] == "text"
    text = block["text"]
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "hello", "timestamp": 1, "attribution": "user"},
        {"role": "user", "content": [text_block("look"), IMAGE], "timestamp": 1},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"},
                {"type": "redactedThinking", "data": "xx"},
                text_block("doing"),
                {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "ls"}},
                {"type": "anthropicServerTool", "block": {"a": [1]}},
            ],
            "api": "anthropic-messages",
            "provider": "anthropic",
            "model": "m-1",
            "usage": {"input": 1, "cost": {"total": 0.5}},
            "stopReason": "toolUse",
            "timestamp": 2,
        },
        {
            "role": "toolResult",
            "toolCallId": "t1",
            "toolName": "bash",
            "content": [text_block("out"), IMAGE],
            "details": {"diff": "+1"},
            "isError": False,
            "timestamp": 3,
        },
        {"role": "developer", "content": "be brief", "timestamp": 4},
    ],
)
def test_user_assistant_tool_result_and_developer_pass_through(message: dict[str, Any]) -> None:
    """C-50: these roles are model messages already."""
    assert convert_to_llm([message]) == [message]


def test_a_pruned_tool_result_keeps_its_text_only() -> None:
    """C-50: a pruned tool result is collapsed to text."""
    result = {"role": "toolResult", "toolCallId": "t", "prunedAt": 9}
    pruned = {**result, "content": [text_block("cut "), IMAGE, text_block("out")]}
    assert convert_one(pruned)["content"] == [text_block("cut out")]
    assert convert_one({**result, "content": [IMAGE]})["content"] == [text_block(PRUNED_RESULT)]


def test_a_branch_summary_is_a_user_message_with_the_summary_between_its_own_lines() -> None:
    """C-51, C-53: intro, blank line, `<summary>`, the summary verbatim, `</summary>` on its own line."""
    summary = "## Goal\n\n\n\ntry |a|  b|   \n"
    message = {"role": "branchSummary", "summary": summary, "fromId": "a1", "timestamp": 5}
    assert convert_one(message) == {
        "role": "user",
        "content": [text_block(f"{BRANCH_SUMMARY_INTRO}\n\n<summary>\n{summary}\n</summary>")],
        "timestamp": 5,
    }


def test_an_empty_branch_summary_gives_nothing() -> None:
    """C-22: an empty summary is no message."""
    assert convert_to_llm([{"role": "branchSummary", "summary": "", "fromId": "a"}, {"role": "branchSummary"}]) == []


def test_a_compaction_summary_is_one_user_message_with_the_summary_verbatim() -> None:
    """X-92, C-52, C-53: one user message whose text contains the summary."""
    message = {"role": "compactionSummary", "summary": "did a\nthen b", "tokensBefore": 9, "timestamp": 6}
    assert convert_one(message) == {
        "role": "user",
        "content": [text_block(f"{COMPACTION_SUMMARY_INTRO}\n\n<summary>\ndid a\nthen b\n</summary>")],
        "timestamp": 6,
    }


def test_images_of_a_compaction_summary_are_appended() -> None:
    """X-92: images behind the text block."""
    message = {"role": "compactionSummary", "summary": "s", "images": [IMAGE, 5, text_block("no image")]}
    assert convert_one(message)["content"][1:] == [IMAGE]


def test_an_empty_compaction_summary_still_stands() -> None:
    """C-31: the summary message is emitted even when the summary is empty."""
    assert text_of({"role": "compactionSummary", "tokensBefore": 1}).endswith("<summary>\n\n</summary>")


@pytest.mark.parametrize("role", ["custom", "hookMessage"])
def test_custom_and_hook_messages_are_user_messages(role: str) -> None:
    """X-93, C-54: the role is user, as settled; customType, details and display are not sent."""
    message = {
        "role": role,
        "customType": "note",
        "content": "remember",
        "display": False,
        "details": {"secret": 1},
        "attribution": "agent",
        "timestamp": 7,
    }
    assert convert_one(message) == {"role": "user", "content": [text_block("remember")], "timestamp": 7}


@pytest.mark.parametrize("custom_type", ["skill-prompt", "note"])
def test_custom_messages_keep_their_blocks_and_images_in_one_user_message(custom_type: str) -> None:
    """X-94, C-54: list content is unchanged, and nothing is split, whatever the custom type."""
    content = [text_block("see"), IMAGE, text_block("done")]
    message = {
        "role": "custom",
        "customType": custom_type,
        "content": content,
        "display": True,
        "timestamp": 1,
    }
    assert convert_one(message) == {"role": "user", "content": content, "timestamp": 1}


@pytest.mark.parametrize("content", [None, 5, {"type": "text", "text": "x"}])
def test_a_custom_message_with_odd_content_is_dropped(content: Any) -> None:
    """C-21: content neither string nor list gives no message."""
    assert convert_to_llm([{"role": "custom", "customType": "x", "content": content}]) == []


def bash(**fields: Any) -> dict[str, Any]:
    return {"role": "bashExecution", "command": "ls -la", "output": "one\ntwo", "exitCode": 0, **fields}


def test_a_bash_execution_names_the_command_and_fences_the_output() -> None:
    """C-55: the command in backticks, then the output in a fenced block."""
    assert convert_one(bash(timestamp=8)) == {
        "role": "user",
        "content": [text_block(f"{BASH_INTRO} `ls -la`\n```\none\ntwo\n```")],
        "timestamp": 8,
    }


def test_a_bash_execution_without_output_says_so() -> None:
    """C-55: a marker stands for no output."""
    assert text_of(bash(output="")) == f"{BASH_INTRO} `ls -la`\n{NO_OUTPUT}"


def test_a_cancelled_execution_is_noted_instead_of_its_exit_code() -> None:
    """C-55: cancelled goes before the exit code."""
    assert (
        text_of(bash(output="", cancelled=True, exitCode=130))
        == f"{BASH_INTRO} `ls -la`\n{NO_OUTPUT}\n{CANCELLED_NOTE}"
    )


def test_only_an_exit_code_other_than_zero_is_noted() -> None:
    """C-55: null, absent and 0 give no note."""
    assert text_of(bash(exitCode=2)).endswith(f"```\n{EXIT_CODE_NOTE.format(code=2)}")
    for code in (None, 0, "2"):
        assert text_of(bash(exitCode=code)).endswith("```")


def test_truncated_output_names_the_file_with_all_of_it() -> None:
    """C-55: only truncated with a path gives the note."""
    note = TRUNCATED_NOTE.format(path="/tmp/full.txt")
    assert text_of(bash(truncated=True, fullOutputPath="/tmp/full.txt")).endswith(f"\n{note}")
    assert note not in text_of(bash(truncated=False, fullOutputPath="/tmp/full.txt"))
    assert text_of(bash(truncated=True)).endswith("```")


@pytest.mark.parametrize("role", ["bashExecution", "pythonExecution"])
def test_an_execution_excluded_from_the_context_is_dropped(role: str) -> None:
    """C-55, C-57: excludeFromContext."""
    assert convert_to_llm([{"role": role, "command": "x", "code": "x", "excludeFromContext": True}]) == []


def test_backticks_in_a_command_or_its_output_do_not_end_the_block() -> None:
    """C-55: the fence is longer than any run of backticks inside."""
    assert text_of(bash(command="echo `date`", output="```py\nx\n```")) == (
        f"{BASH_INTRO} `` echo `date` ``\n````\n```py\nx\n```\n````"
    )


def test_a_python_execution_is_rendered_like_a_bash_execution() -> None:
    """C-57: code, output, notes."""
    message = {"role": "pythonExecution", "code": "1/0", "output": "Zero", "exitCode": 1, "timestamp": 9}
    assert convert_one(message) == {
        "role": "user",
        "content": [
            text_block(
                f"{PYTHON_INTRO}\n```python\n1/0\n```\n{PYTHON_OUTPUT}\n```\nZero\n```\n{EXIT_CODE_NOTE.format(code=1)}"
            )
        ],
        "timestamp": 9,
    }


def test_file_mentions_give_a_developer_text_and_a_user_message_with_images() -> None:
    """X-95, C-56: the texts as developer, the images as user."""
    files = [{"path": "a.md", "content": "alpha"}, {"path": "b.png", "content": "", "image": IMAGE}]
    assert convert_to_llm([{"role": "fileMention", "files": [*files, files[0]], "timestamp": 3}]) == [
        {
            "role": "developer",
            "content": [
                text_block(
                    f"<system-reminder>\n{FILE_MENTION_INTRO}\n\n"
                    '<file path="a.md">\nalpha\n</file>\n\n'
                    '<file path="a.md">\nalpha\n</file>\n</system-reminder>'
                )
            ],
            "timestamp": 3,
        },
        {
            "role": "user",
            "content": [
                text_block(
                    f"<system-reminder>\n{FILE_MENTION_IMAGES_INTRO}\n\n"
                    f'<file path="b.png">\n{IMAGE_FILE_BODY}\n</file>\n</system-reminder>'
                ),
                IMAGE,
            ],
            "timestamp": 3,
        },
    ]


def test_a_file_mention_of_images_only_is_one_user_message() -> None:
    """X-95, C-56: all-image mentions give a user message only."""
    message = {"role": "fileMention", "files": [{"path": "b.png", "image": IMAGE}]}
    assert [m["role"] for m in convert_to_llm([message])] == ["user"]


@pytest.mark.parametrize("files", [None, [], "a.md", [None, 3]])
def test_a_file_mention_without_files_gives_nothing(files: Any) -> None:
    """C-56: nothing to tell."""
    assert convert_to_llm([{"role": "fileMention", "files": files}]) == []


@pytest.mark.parametrize("role", ["system", "tool", "ping", "", None, 7, ["user"], {}])
def test_unknown_roles_are_dropped(role: Any) -> None:
    """C-58: whatever the role is, it is no error."""
    assert convert_to_llm([{"role": role, "content": "x"}, {"content": "x"}]) == []


def test_a_message_that_is_no_mapping_is_dropped() -> None:
    """C-58: neither text nor null nor a list is a message."""
    odd: list[Any] = [None, "user", ["role"], 3, {"role": "user", "content": "x"}]
    assert convert_to_llm(odd) == [{"role": "user", "content": "x"}]


@pytest.mark.parametrize("role", ["user", "assistant", "developer", "toolResult"])
@pytest.mark.parametrize(
    ("content", "kept"),
    [
        (None, []),
        (5, []),
        ({"type": "text"}, []),
        ([None, "x", text_block("t"), ["y"]], [text_block("t")]),
        ("", ""),
        ([{"type": "new"}], [{"type": "new"}]),
    ],
)
def test_odd_content_is_empty_and_odd_blocks_are_left_out(role: str, content: Any, kept: Any) -> None:
    """C-50: the content that leaves here is a string or a list of blocks."""
    assert convert_one({"role": role, "content": content}) == {"role": role, "content": kept}
    assert convert_one({"role": role}) == {"role": role, "content": []}


def test_a_timestamp_is_carried_over_and_none_is_invented() -> None:
    """C-59: also one that is no number."""
    roles = ["branchSummary", "compactionSummary", "custom", "bashExecution", "pythonExecution"]
    for role in roles:
        message = {"role": role, "summary": "s", "content": "c"}
        assert convert_one({**message, "timestamp": "later"})["timestamp"] == "later"
        assert "timestamp" not in convert_one(message)


def test_the_result_shares_nothing_with_the_input() -> None:
    """C-59: conversions return copies."""
    call = {"type": "toolCall", "id": "t", "name": "n", "arguments": {"deep": [{"x": 1}]}}
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": [call], "usage": {"cost": {}}},
        {"role": "custom", "content": [dict(IMAGE)]},
        {"role": "fileMention", "files": [{"path": "p", "image": dict(IMAGE)}]},
        {"role": "compactionSummary", "summary": "s", "images": [dict(IMAGE)]},
    ]
    before = deepcopy(messages)
    converted = convert_to_llm(messages)
    converted[0]["content"][0]["arguments"]["deep"][0]["x"] = 2
    converted[0]["usage"]["cost"]["total"] = 1
    for message in converted:
        message["content"][-1]["data"] = "changed"
        message["content"].append("changed")
    assert messages == before


def test_read_only_messages_are_taken() -> None:
    """C-59: a message may be any mapping."""
    assert convert_to_llm((MappingProxyType({"role": "user", "content": "x"}),)) == [{"role": "user", "content": "x"}]


def test_lone_surrogates_become_replacement_characters_wherever_they_stand() -> None:
    """Case 08: what is handed out for a model can be encoded."""
    stored: list[dict[str, Any]] = [
        {"role": "user", "content": "cut \ud83d here"},
        {
            "role": "assistant",
            "content": [{"type": "toolCall", "id": "a\udc00", "arguments": {"k\ud800": ["\udfff"]}}],
        },
        {"role": "branchSummary", "summary": "\ud83d"},
        {"role": "bashExecution", "command": "\ud83d", "output": "\ud83d"},
    ]
    converted = convert_to_llm(stored)
    assert converted[0]["content"] == "cut \ufffd here"
    assert converted[1]["content"][0] == {
        "type": "toolCall",
        "id": "a\ufffd",
        "arguments": {"k\ufffd": ["\ufffd"]},
    }
    repr(converted).encode()
    assert stored[0]["content"] == "cut \ud83d here"
