"""What is shown of each entry; nothing of it is obeyed, at any width."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Collapsible

OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
HOSTILE = "a\x1b[31mred\x1b]0;t\x07\x9b2J\u202eevil\x00\r\x85b [bold]c[/] [/oops]"
IMAGE = {"type": "image", "data": "", "mimeType": "image/png"}


def message(entry_id: str, role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"id": entry_id, "message": {"role": role, "content": content, **fields}}


def text(said: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": said}]


def call(name: str = "bash", **arguments: Any) -> dict[str, Any]:
    return message("c1", "assistant", [{"type": "toolCall", "id": "t1", "name": name, "arguments": arguments}])


def result(said: Any, **fields: Any) -> dict[str, Any]:
    return message("r1", "toolResult", said, toolCallId="t1", toolName="bash", **fields)


SUMMARY = {"summary": "## What was\n**done**"}


@pytest.mark.parametrize(
    ("records", "seen", "unseen"),
    [
        ([message("u1", "user", [*text("look"), IMAGE, IMAGE])], "look (2 images)", "image/png"),
        ([message("u1", "user", [IMAGE])], "(1 image)", "images"),
        ([message("a1", "assistant", text("so far"), stopReason="length")], "so far (cut:", "aborted"),
        ([message("a1", "assistant", text("**bold** `code`"))], "bold code", "**"),
        ([message("a1", "assistant", [{"type": "thinking", "thinking": "hm"}, *text("Yes.")])], "thinking", "hm"),
        ([message("a1", "assistant", text(" "), stopReason="aborted")], "(aborted)", "Nothing"),
        ([message("a1", "assistant", [], stopReason="error", errorMessage="no [credit]")], "no [credit]", "(aborted)"),
        ([call(command="make [all]"), result(text("built"))], "[bash: make [all]]", "built"),
        ([call(command="false"), result("bad", isError=True)], "✗ [bash: false]", "bad"),
        ([result("lost")], "[bash]", "lost"),
        ([message("b1", "bashExecution", None, command="ls")], "[bash]: ls", "bashExecution"),
        ([{"id": "k", "type": "branch_summary", "fromId": "x", **SUMMARY}], "── branch summary ──", "What was"),
        (
            [{"id": "k", "type": "compaction", "firstKeptEntryId": "k", "tokensBefore": 9, **SUMMARY}],
            "── compaction ──",
            "What was",
        ),
        ([{"id": "x", "type": "custom_message", "customType": "n", "content": "a [note]"}], "a [note]", "Nothing"),
        ([{"id": "m", "type": "model_change", "model": "acme/m-1"}], "acme/m-1", "Nothing"),
    ],
)
async def test_an_entry_is_shown_as_what_it_is(
    records: list[dict[str, Any]], seen: str, unseen: str, write: Callable[..., Path], show: Any
) -> None:
    """Issue 4: Markdown, tool calls folded, summaries as dividers."""
    async with show(write(*records)) as on:
        shown = " ".join(" ".join(on.lines[: on.conversation.region.bottom]).replace("▌", " ").split())
        assert seen in shown
        assert unseen not in shown


async def test_what_is_folded_can_be_opened(write: Callable[..., Path], show: Any) -> None:
    """Issue 4: of a long result only its beginning."""
    async with show(write(call(command="make"), result("built " + "x" * 10_000))) as on:
        [folded] = on.app.query(Collapsible)
        folded.collapsed = False
        await on.pilot.pause()
        assert sum(line.count("x") for line in on.lines) < 4_000
        on.conversation.scroll_home(animate=False)
        await on.pilot.pause()
        assert "built" in on.text


async def test_a_result_that_comes_is_titled_by_its_call(talk: Path, show: Any) -> None:
    """Issue 4."""
    async with show(talk) as on:
        for record in (call(command="make"), result("built")):
            await on.session.append_message(record["message"])
            await on.conversation.add((await on.entries())[-1])
        await on.pilot.pause()
        assert "[bash: make]" in on.text


def hostile_records() -> list[dict[str, Any]]:
    return [
        message("u1", "user", HOSTILE),
        message("a1", "assistant", [{"type": "thinking", "thinking": HOSTILE}, *text(HOSTILE)]),
        {**call(HOSTILE, command=HOSTILE)},
        result(HOSTILE),
        message("a2", "assistant", [], stopReason="error", errorMessage=HOSTILE),
        message("z", HOSTILE, HOSTILE),
        {"id": "x", "type": "custom_message", "customType": HOSTILE, "content": HOSTILE},
        {"id": "b", "type": "branch_summary", "fromId": "x", "summary": HOSTILE},
        {"id": "m", "type": "model_change", "model": HOSTILE},
        {"id": "l", "type": "label", "targetId": "u1", "label": HOSTILE},
        {"id": "o", "type": HOSTILE},
        {"id": "s", "type": "session_info", "name": HOSTILE},
        message("u2", "user", "漢字 👩‍👩‍👧 שלום " + HOSTILE),
    ]


@pytest.mark.parametrize("width", [20, 80, 120])
async def test_no_text_of_a_session_is_obeyed(width: int, write: Callable[..., Path], show: Any) -> None:
    """Cases 72, 73, 76: on every screen, and at every width."""
    async with show(write(*hostile_records(), name=f"{width}.jsonl"), width=width, height=40) as on:

        def safe() -> bool:
            return not any(OBEYED.search(line) for line in on.lines)

        assert safe()
        for folded in on.app.query(Collapsible):
            folded.collapsed = False
        await on.pilot.pause()
        assert safe()
        on.conversation.scroll_home(animate=False)
        await on.pilot.pause()
        assert safe()
        for command, screen in (
            ("/tree", "TreeSelector"),
            ("/branch", "MessageSelector"),
            ("/resume", "SessionPicker"),
        ):
            await on.open(command, screen)
            assert safe()
            await on.press("escape")
            await on.idle()
        await on.press("f1")
        assert safe()
        await on.run(f"/name {HOSTILE}")
        await on.run(f"/label {HOSTILE}")
        await on.run("/")
        assert safe()


@pytest.mark.parametrize(
    "entity",
    ["&#x2028;", "&#x9b;", "&#27;", pytest.param("&#x202e;"), pytest.param("&rlm;")],
)
async def test_no_entity_of_markdown_is_obeyed(entity: str, write: Callable[..., Path], show: Any) -> None:
    """Cases 72, 76: what Markdown decodes is text of the session too."""
    async with show(write(message("a1", "assistant", text(f"before{entity}after")))) as on:
        assert "before" in on.text
        assert not any(OBEYED.search(line) or "\u200f" in line for line in on.lines)


@pytest.mark.parametrize("command", ["a\\[bold]b", "a\\", "[/]", "[red", "\\\\[/x]"])
async def test_no_title_is_markup(command: str, write: Callable[..., Path], show: Any) -> None:
    """Case 72: a tool call is shown as it is."""
    async with show(write(call(command=command), result("ok"))) as on:
        assert f"[bash: {command}]" in on.text


async def test_hostile_text_that_is_typed_or_streams_is_not_obeyed(talk: Path, show: Any, script: Any) -> None:
    """Case 72."""
    answers = script(HOSTILE, None)
    async with show(talk, answers=answers) as on:
        await on.send(HOSTILE)
        await on.until(answers.waits.is_set)
        assert not any(OBEYED.search(line) for line in on.lines)
        await on.press("escape")
        await on.idle()
        assert not any(OBEYED.search(line) for line in on.lines)


@pytest.mark.parametrize("paste", ["\x1b[31m", "\u202e", "\x9b"])
async def test_hostile_text_in_the_editor_is_not_obeyed(paste: str, talk: Path, show: Any) -> None:
    """Case 72: also where a message is written anew."""
    async with show(talk) as on:
        on.editor.prefill(f"a{paste}b")
        await on.pilot.pause()
        assert not any(OBEYED.search(line) for line in on.lines)


HUGE = "words" * 200_000


@pytest.mark.parametrize(
    "record",
    [
        message("u1", "user", HUGE),
        message("a1", "assistant", text(HUGE)),
        {"id": "x", "type": "custom_message", "customType": "n", "content": HUGE},
    ],
    ids=["user", "assistant", "custom"],
)
async def test_of_a_huge_message_the_beginning_is_shown(
    record: dict[str, Any], write: Callable[..., Path], show: Any
) -> None:
    """Issue 4: and how much is left out."""
    async with show(write(record)) as on:
        await on.until(lambda: "… 980,000 more characters" in on.text)
        assert on.conversation.virtual_size.height < 300


async def test_whoever_reads_further_up_is_left_there(chain: Any, show: Any) -> None:
    """Issue 4: while more comes; what one sends oneself is shown."""
    async with show(chain(50), height=20) as on:
        await on.press("pageup")
        before = on.lines[0]
        await on.session.append_message({"role": "user", "content": "from elsewhere"})
        await on.app.show_new(on.session.leaf_id)
        await on.pilot.pause()
        assert on.lines[0] == before
        await on.run("and mine")
        assert "and mine" in on.text


async def test_what_is_older_comes_above_what_is_in_view(chain: Any, show: Any) -> None:
    """Issue 4: a page above, not at the beginning."""
    async with show(chain(130), height=20) as on:
        on.conversation.scroll_home(animate=False)
        await on.pilot.pause()
        assert "… 70 earlier entries" in on.text and "turn 071" in on.text
        await on.press("pageup")
        assert "turn 070" in on.text and "turn 060" not in on.text
        await on.press("pagedown")
        assert "turn 071" in on.text


async def test_what_is_opened_stays_in_view(write: Callable[..., Path], show: Any) -> None:
    """Issue 4: its title, where it is longer than the screen."""
    async with show(write(call(command="make"), result("line\n" * 100)), height=20) as on:
        await on.press("shift+tab", "enter")
        assert "[bash: make]" in on.text
        assert "line line" in on.text


async def test_a_key_types_wherever_the_keys_are(write: Callable[..., Path], show: Any) -> None:
    """Issue 4: Shift+Tab goes up to what is folded; Escape, or what is typed, comes back."""
    async with show(write(call(command="make"), result("built"))) as on:
        await on.press("tab")
        assert on.editor.has_focus
        await on.press("shift+tab")
        assert not on.editor.has_focus
        await on.press("h", "i")
        assert (on.editor.text, on.editor.has_focus) == ("hi", True)
        await on.press("shift+tab", "escape")
        assert on.editor.has_focus
        await on.press("escape")
        assert on.on == "Screen"
