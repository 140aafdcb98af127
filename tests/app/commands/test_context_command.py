"""`sessiontree context`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[..., Path]


def texts(messages: list[dict[str, Any]]) -> list[list[Any]]:
    return [[one["role"], one.get("summary") or one.get("content")] for one in messages]


def test_people_get_a_transcript_with_the_settings_at_its_end(run: Run, talk: Path) -> None:
    assert run("context", talk).out == (
        "── user\n"
        "do the tests pass?\n"
        "\n"
        "── assistant · acme/m-1\n"
        "(tool call: bash · t1)\n"
        "  command: make test\n"
        "\n"
        "── tool result · bash · t1\n"
        "ok\n"
        "\n"
        "── assistant · acme/m-1\n"
        "They pass.\n"
        "\n"
        "── user\n"
        "wait, look again\n"
        "\n"
        "model (default): acme/m-1\n"
        "thinking: off\n"
    )


def test_every_kind_of_message_has_a_form_for_people(run: Run, write: Write) -> None:
    """C-22, C-31, F-61..F-65."""
    blocks = [
        {"type": "thinking", "thinking": "hm\nhm"},
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        {"type": "strange"},
        {"type": "toolCall", "id": "open", "name": "ls", "arguments": None},
        {"type": "toolCall", "id": "t2", "name": "ls", "arguments": []},
    ]
    failed = {"role": "toolResult", "toolCallId": "t2", "toolName": "ls", "content": [], "isError": True}
    path = write(
        {"id": "u0", "message": {"role": "user", "content": "before"}},
        {"type": "mode_change", "id": "o1", "mode": "plan"},
        {"type": "ttsr_injection", "id": "o2", "injectedRules": ["no-any"]},
        {"type": "service_tier_change", "id": "o3", "serviceTier": {"openai": "flex"}},
        {"type": "compaction", "id": "c1", "summary": "sum\ntwo", "firstKeptEntryId": "none", "tokensBefore": 1200},
        {"type": "branch_summary", "id": "s1", "summary": "went nowhere", "fromId": "u0"},
        {"type": "custom_message", "id": "x1", "customType": "build", "content": "red", "display": True},
        {
            "id": "b1",
            "message": {"role": "bashExecution", "command": "ls", "output": "a\nb\n", "timestamp": 1767607201000},
        },
        {"id": "f1", "message": {"role": "fileMention", "files": [{"path": "x.py", "content": "one\n\ttwo"}]}},
        {"id": "a1", "message": {"role": "assistant", "content": blocks, "stopReason": "length"}},
        {"id": "r1", "message": failed},
        {"id": "e1", "message": {"role": "assistant", "content": [], "stopReason": "length", "errorMessage": "cut"}},
        {"id": "e2", "message": {"role": "user", "content": 7}},
    )
    assert run("context", path).out == (
        "── summary of what was before · 1,200 tokens then · 2026-01-05 10:00:05 UTC\nsum\ntwo\n\n"
        "── summary of another branch · 2026-01-05 10:00:06 UTC\nwent nowhere\n\n"
        "── custom · build · 2026-01-05 10:00:07 UTC\nred\n\n"
        "── bash · 2026-01-05 10:00:01 UTC\n$ ls\na\nb\n\n"
        "── fileMention\nfiles:\n  - path: x.py\n    content:\n      one\n          two\n\n"
        "── assistant · length\n(thinking)\n  hm\n  hm\n(image: image/png)\n(strange)\n(tool call: ls · t2)\n"
        "  arguments: []\n\n"
        "── tool result · ls · t2 · failed\n(no content)\n\n"
        "── assistant · length\nerror: cut\n\n"
        "── user\n(no content)\n\n"
        "thinking: off\nmode: plan\nservice tier: openai flex\nrules: no-any\n"
        "left out, because they have no result: tool calls open\n"
    )


def test_nothing_that_a_terminal_obeys_is_in_the_transcript(run: Run, case: Callable[[str], Path]) -> None:
    """Case 67; settings too."""
    ended = run("context", case("67"))
    assert all(line.isprintable() for line in ended.lines)


def test_a_leaf_can_be_given(run: Run, talk: Path) -> None:
    """C-02."""
    messages = run("context", talk, "--leaf", "u2", "--json").json["messages"]
    assert texts(messages)[-1] == ["user", "then commit"]
    assert texts(run("context", talk, "--leaf", "u1", "--json").json["messages"]) == [["user", "do the tests pass?"]]


def test_json_has_the_messages_as_stored_and_the_settings(run: Run, talk: Path) -> None:
    """C-10..C-18."""
    context = run("context", talk, "--json").json
    assert context["messages"] == run("context", talk, "--format", "messages").json
    assert context["messages"] == run("context", talk, "--format", "messages", "--json").json
    messages = context.pop("messages")
    assert [message["role"] for message in messages] == ["user", "assistant", "toolResult", "assistant", "user"]
    assert messages[0] == {"role": "user", "content": "do the tests pass?"}
    assert context == {
        "thinking_level": "off",
        "configured_thinking_level": None,
        "models": {"default": "acme/m-1"},
        "mode": "none",
        "mode_data": None,
        "injected_ttsr_rules": [],
        "service_tier": None,
        "open_tool_calls": [],
    }


def test_the_messages_of_apis_are_their_own_form(run: Run, talk: Path) -> None:
    openai = run("context", talk, "--format", "openai").json
    assert [message["role"] for message in openai] == ["user", "assistant", "tool", "assistant", "user"]
    anthropic = run("context", talk, "--format", "anthropic").json["messages"]
    assert [message["role"] for message in anthropic] == ["user", "assistant", "user", "assistant", "user"]
    assert [block["type"] for block in anthropic[2]["content"]] == ["tool_result"]


def test_a_compaction_is_replayed(run: Run, case: Callable[[str], Path]) -> None:
    """C-31, case 43: at the leaf and at an earlier place."""
    path = case("43")
    leads = [run("context", path, *leaf, "--json").json["messages"][0] for leaf in ([], ["--leaf", "a3"])]
    assert texts(leads) == [["compactionSummary", "second sum"], ["compactionSummary", "first sum"]]


@pytest.mark.parametrize("form", ["messages", "openai", "anthropic", "text"])
def test_a_lone_surrogate_is_no_error(run: Run, case: Callable[[str], Path], form: str) -> None:
    """Case 08: it stays an escape in the file's own form, and is U+FFFD elsewhere."""
    ended = run("context", case("08"), "--format", form)
    assert ended.status == 0
    assert ("\\ud83d" in ended.out) == (form == "messages")


def test_an_empty_session_has_an_empty_context(run: Run, write: Write) -> None:
    path = write()
    assert run("context", path).lines == ["no messages in this context", "thinking: off"]
    assert run("context", path, "--format", "openai").json == []


def test_text_is_no_json(refuse: Callable[..., str], talk: Path) -> None:
    line = refuse("context", talk, "--format", "text", "--json")
    assert line == "--format text is no JSON. (sessiontree context --help tells more)"
