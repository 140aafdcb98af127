"""The text of each kind of row (U-15, U-32, U-40..U-4D)."""

from __future__ import annotations

from typing import Any

import pytest

from sessiontree.app.row_text import has_visible_text, row_text
from sessiontree.app.tool_call_text import ToolCall, tool_call_text, tool_calls
from sessiontree.eventstore.entries import CompactionEntry

NO_CALLS: dict[str, ToolCall] = {}
TEXTLESS_TYPES = ["mode_change", "session_info", "ttsr_injection", "title_change", "from_the_future"]
TYPES_WITH_TEXT = [
    "custom_message",
    "compaction",
    "branch_summary",
    "model_change",
    "thinking_level_change",
    "custom",
    "label",
]


def text_block(text: Any) -> dict[str, Any]:
    return {"type": "text", "text": text}


@pytest.mark.parametrize("role", ["user", "developer"])
def test_user_and_developer_rows_show_role_and_text(role: str, make_entry: Any) -> None:
    """U-40, U-41, X-146."""
    assert row_text(make_entry("m", role=role, content=" do\tthis\nnow "), NO_CALLS) == f"{role}: do this now"
    content = [text_block("do "), {"type": "image", "data": "…"}, text_block("this")]
    assert row_text(make_entry("m", role=role, content=content), NO_CALLS) == f"{role}: do this"
    assert row_text(make_entry("m", role=role, content=[{"type": "image"}]), NO_CALLS) == f"{role}: (no content)"


def test_message_text_ends_after_200_characters(make_entry: Any) -> None:
    """U-32: 200 characters of text, without half of a joined emoji; the searched form is whole."""
    message = make_entry("m", content="x" * 198 + "👨‍👩‍👧 end")
    assert row_text(message, NO_CALLS) == "user: " + "x" * 198
    assert row_text(message, NO_CALLS, whole=True).endswith("👨‍👩‍👧 end")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": [text_block("hi\nthere")]}, "hi there"),
        ({"content": "as a string"}, "as a string"),
        ({"content": [], "errorMessage": "e" * 90, "stopReason": "error"}, "e" * 80),
        ({"content": [text_block(" … ")], "errorMessage": "over\nload", "stopReason": "error"}, "over load"),
        ({"content": [], "stopReason": "aborted"}, "(aborted)"),
        ({"content": [], "errorMessage": "by user", "stopReason": "aborted"}, "by user"),
        ({"content": [{"type": "toolCall", "id": "1", "name": "ls"}], "stopReason": "toolUse"}, "(no content)"),
        ({"content": [text_block("...")]}, "..."),
        ({"content": None}, "(no content)"),
    ],
)
def test_assistant_rows_show_text_else_the_reason_for_none(
    message: dict[str, Any], text: str, make_entry: Any
) -> None:
    """U-42: text, else the error (80 characters), else aborted, else no content."""
    assert row_text(make_entry("m", role="assistant", **message), NO_CALLS) == f"assistant: {text}"


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("read", {"path": "a.py"}, "[read: a.py]"),
        ("read", {"file_path": "/home/me/a.py", "offset": 5, "limit": 10}, "[read: ~/a.py:5-14]"),
        ("read", {"path": "a.py", "limit": 10}, "[read: a.py:1-10]"),
        ("read", {"path": "a.py", "offset": 5}, "[read: a.py:5]"),
        ("write", {"path": "/home/me", "content": "…"}, "[write: ~]"),
        ("edit", {"path": "/home/meg/a"}, "[edit: /home/meg/a]"),
        ("edit", {"patch": 1}, '[edit: {"patch":1}]'),
        ("bash", {"command": "echo\t" + "a" * 45}, "[bash: echo " + "a" * 45 + "]"),
        ("bash", {"command": "echo " + "a" * 46}, "[bash: echo " + "a" * 45 + "...]"),
        ("bash", {}, "[bash: {}]"),
        ("grep", {"pattern": "x+", "path": "src"}, "[grep: /x+/ in src]"),
        ("grep", {"pattern": "x+"}, "[grep: /x+/ in .]"),
        ("find", {"pattern": "*.py", "path": "/home/me/p"}, "[find: *.py in ~/p]"),
        ("glob", {"pattern": "*.py"}, "[glob: *.py in .]"),
        ("ls", {}, "[ls: .]"),
        ("task", {"é": [1, None]}, '[task: {"é":[1,null]}]'),
        ("task", {"k": "v" * 50}, '[task: {"k":"' + "v" * 34 + "...]"),
    ],
)
def test_a_tool_result_shows_what_its_tool_was_asked(name: str, arguments: dict[str, Any], text: str) -> None:
    """U-43."""
    assert tool_call_text(ToolCall(name, arguments), home="/home/me") == text


def test_arguments_nested_too_deeply_to_write_are_left_out() -> None:
    """U-43: no row fails for its data."""
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    assert tool_call_text(ToolCall("task", {"k": nested})) == "[task: …]"
    while nested:  # taken apart by hand: letting go of it at once would recurse
        nested = nested[0]


def test_the_searched_form_of_a_call_is_whole() -> None:
    """Settled U-5A: no limits on what is searched."""
    command = "a" * 70
    assert tool_call_text(ToolCall("bash", {"command": command}), whole=True) == f"[bash: {command}]"
    assert "z" in tool_call_text(ToolCall("t", {"k": "v" * 60 + "z"}), whole=True)


def test_tool_results_find_their_call_in_any_assistant_message(make_entry: Any) -> None:
    """U-15, U-43: by call id; without a call the tool's name, without a name `[tool]`."""
    call = {"type": "toolCall", "id": "c1", "name": "ls", "arguments": {"path": "src"}}
    damaged: list[Any] = [{"type": "toolCall", "id": 5}, "text", {"type": "toolCall", "id": "c2", "name": "ls"}]
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": [text_block("x"), call]},
        {"role": "assistant", "content": damaged},
        {"role": "assistant", "content": "text"},
        {"role": "user", "content": [{**call, "id": "c3"}]},
    ]
    calls = tool_calls(messages)
    assert set(calls) == {"c1", "c2"}

    def result(**fields: Any) -> str:
        return row_text(make_entry("r", role="toolResult", **fields), calls)

    assert result(toolCallId="c1", toolName="ls", content=[text_block("out")]) == "[ls: src]"
    assert result(toolCallId="c2") == "[ls: .]"
    assert result(toolCallId="gone", toolName="grep") == "[grep]"
    assert result(toolCallId=None) == "[tool]"


def test_other_messages_show_their_command_or_role(make_entry: Any) -> None:
    """U-44, U-45; a message entry without a readable message shows its type."""
    assert row_text(make_entry("m", role="bashExecution", command="ls\n-l"), NO_CALLS) == "[bash]: ls -l"
    assert row_text(make_entry("m", role="pythonExecution"), NO_CALLS) == "[pythonExecution]"
    assert row_text(make_entry("m", role=7), NO_CALLS) == "[message]"


@pytest.mark.parametrize(
    ("entry_type", "fields", "text"),
    [
        ("custom_message", {"customType": "note", "content": "n" * 300}, "[note]: " + "n" * 300),
        ("custom_message", {"customType": "note", "content": [text_block("a\nb")]}, "[note]: a b"),
        ("compaction", {"tokensBefore": 12_499, "summary": "s"}, "[compaction: 12k tokens]"),
        ("compaction", {"tokensBefore": 12_500, "summary": "s"}, "[compaction: 13k tokens]"),
        ("compaction", {"tokensBefore": 499.5, "summary": "s"}, "[compaction: 0k tokens]"),
        ("branch_summary", {"summary": "went\nwrong"}, "[branch summary]: went wrong"),
        ("model_change", {"model": "acme/m-1", "modelId": "m-1"}, "[model: acme/m-1]"),
        ("model_change", {"model": None, "provider": "acme", "modelId": "m-1"}, "[model: acme/m-1]"),
        ("model_change", {"modelId": "m-1"}, "[model: m-1]"),
        ("model_change", {}, "[model_change]"),
        ("compaction", {"summary": "s"}, "[compaction]"),
        ("thinking_level_change", {"thinkingLevel": "high"}, "[thinking: high]"),
        ("thinking_level_change", {"thinkingLevel": None}, "[thinking: off]"),
        ("custom", {"customType": "state", "data": {}}, "[custom: state]"),
        ("label", {"targetId": "x", "label": "here"}, "[label: here]"),
        ("label", {"targetId": "x", "label": None}, "[label: (cleared)]"),
    ],
)
def test_entries_that_are_no_messages(entry_type: str, fields: dict[str, Any], text: str, make_entry: Any) -> None:
    """U-46..U-4C."""
    assert row_text(make_entry("e", entry_type, **fields), NO_CALLS) == text


@pytest.mark.parametrize("entry_type", [*TEXTLESS_TYPES, *TYPES_WITH_TEXT])
def test_a_type_without_text_or_with_damaged_fields_shows_its_name(entry_type: str, make_entry: Any) -> None:
    """U-4D as settled; a known type with fields of the wrong kind is kept like an unknown one."""
    damaged = dict.fromkeys(("customType", "summary", "model", "thinkingLevel", "label"), 7)
    assert row_text(make_entry("e", entry_type, **damaged), NO_CALLS) == f"[{entry_type}]"


@pytest.mark.parametrize("tokens", [float("inf"), float("nan")])
def test_a_token_count_beyond_numbers_is_left_out(tokens: float) -> None:
    """U-47: `1e999` is JSON."""
    compaction = CompactionEntry(id="e", summary="s", tokens_before=tokens)
    assert row_text(compaction, NO_CALLS) == "[compaction]"


def test_a_summary_is_part_of_the_searched_form(make_entry: Any) -> None:
    """Settled U-5A: a compaction's row shows tokens only, its summary is searched."""
    compaction = make_entry("e", "compaction", tokensBefore=2000, summary="about\ntests")
    assert row_text(compaction, NO_CALLS, whole=True) == "[compaction: 2k tokens] about tests"


@pytest.mark.parametrize("text", ["", " \n", "...", "…", " . … ..", "\u200b", "\x1b\x00.", "\u2066\u2069"])
def test_dots_and_blanks_are_no_visible_text(text: str) -> None:
    """U-55."""
    assert not has_visible_text({"content": text})
    assert not has_visible_text({"content": [text_block(text), {"type": "thinking", "thinking": "hm"}]})


@pytest.mark.parametrize("text", ["a", "...ok", "0", "漢", "-"])
def test_any_other_character_is_visible_text(text: str) -> None:
    """U-55."""
    assert has_visible_text({"content": [text_block(text)]})
    assert not has_visible_text({"content": [text_block(5), text_block(None), "text"]})
