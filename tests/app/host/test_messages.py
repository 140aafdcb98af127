"""A message is recorded, and answered where somebody answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual import events

from sessiontree import SessionManager
from sessiontree.app.host.prompt_editor import PromptEditor

Last = Callable[[Path], dict[str, Any]]


async def test_without_a_model_a_message_is_recorded_and_that_is_said(talk: Path, show: Any, last: Last) -> None:
    """Issue 4: typing appends the user message and says so."""
    async with show(talk) as on:
        await on.run("what now?")
        assert on.status.startswith("recorded; nobody answers without --model")
        assert "what now?" in on.text
        assert on.editor.text == ""
    assert last(talk)["message"] == {"role": "user", "content": "what now?"}
    assert last(talk)["parentId"] == "a3"


async def test_the_first_message_makes_the_file(show: Any) -> None:
    """U-07: until then there is nothing on the screen."""
    async with show() as on:
        assert "Nothing was said yet." in on.text
        await on.run("hello")
        assert "Nothing was said yet." not in on.text
        assert Path(on.session.session_file).exists()


async def test_an_answer_streams_into_the_tree(talk: Path, show: Any, script: Any, last: Last) -> None:
    """Issue 4: shown as it comes, recorded when it is whole."""
    answers = script("All ", "is\n", "well.", None)
    async with show(talk, answers=answers) as on:
        await on.send("how is it?")
        await on.until(lambda: "All is well." in on.text)
        assert on.status.startswith("answering … Esc stops it")
        assert [message["role"] for message in answers.asked[0]] == ["user", "assistant"] * 2 + ["user"]
        assert answers.asked[0][-1]["content"] == "how is it?"
    answers = script("All ", "is well.")
    async with show(talk, answers=answers) as on:
        await on.run("and now?")
        assert on.text.count("All is well.") == 1
        assert "Esc stops it" not in on.status
    message = last(talk)["message"]
    assert (message["content"][0]["text"], message["stopReason"]) == ("All is well.", "stop")


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_what_has_come_of_a_stopped_answer_is_kept(
    key: str, talk: Path, show: Any, script: Any, last: Last
) -> None:
    """U-05: Escape stops what runs, and is no first Escape of two."""
    answers = script("so ", "far", None)
    async with show(talk, answers=answers) as on:
        await on.send("go on")
        await on.until(answers.waits.is_set)
        await on.press(key)
        await on.idle()
        assert "so far (aborted)" in on.text
        await on.press("escape")
        assert on.on == "Screen"
        assert on.app.is_running
    message = last(talk)["message"]
    assert (message["content"][0]["text"], message["stopReason"]) == ("so far", "aborted")


@pytest.mark.parametrize(
    ("error", "told"), [(RuntimeError("no credit \x1b[2J"), "no credit "), (OSError(), "OSError")]
)
async def test_what_has_come_of_a_failed_answer_is_kept(
    error: Exception, told: str, talk: Path, show: Any, script: Any, last: Last
) -> None:
    """Issue 4: the error is recorded with it, and shown."""
    async with show(talk, answers=script("so far", error)) as on:
        await on.run("go on")
        assert f"so far {told.strip()}" in on.text
    message = last(talk)["message"]
    assert (message["content"][0]["text"], message["stopReason"]) == ("so far", "error")
    assert message["errorMessage"].startswith(told)


async def test_an_answer_that_fails_at_once_is_recorded_as_failed(
    talk: Path, show: Any, script: Any, last: Last
) -> None:
    """Issue 4: what was asked stays, and its error hangs below it."""
    async with show(talk, answers=script(RuntimeError("no route"))) as on:
        await on.run("go on")
        assert "go on no route" in on.text
    assert last(talk)["message"]["errorMessage"] == "no route"


async def test_while_an_answer_comes_only_quit_is_taken(talk: Path, show: Any, script: Any) -> None:
    """U-05: what was typed stays in the editor."""
    answers = script("so far", None)
    async with show(talk, answers=answers) as on:
        await on.send("go on")
        await on.until(answers.waits.is_set)
        for text in ("more", "/tree"):
            await on.send(text)
            assert on.status.startswith("answering is running: Esc stops it")
            assert (on.editor.text, on.on) == (text, "Screen")
        await on.send("/quit")
        await on.until(lambda: not on.app.is_running)


async def test_a_session_that_another_writes_is_told_and_the_message_comes_back(talk: Path, show: Any) -> None:
    """D5: one writer; nothing of what was typed is lost."""
    async with await SessionManager.open(talk) as other, show(talk) as on:
        await other.append_message({"role": "user", "content": "mine"}, entry_id="other")
        await on.until(lambda: on.session.leaf_id == "other")
        before = talk.read_bytes()
        await on.run("and mine?")
        assert len(on.told) == 1 and "writ" in on.told[0]
        assert on.editor.text == "and mine?"
        assert talk.read_bytes() == before


@pytest.mark.parametrize("text", ["/etc/hosts is odd", "/", "/tree\nis a command", "// no", "a /tree"])
async def test_what_is_no_command_is_a_message(text: str, talk: Path, show: Any, last: Last) -> None:
    """U-01: a path is none."""
    async with show(talk) as on:
        await on.run(text)
    assert last(talk)["message"]["content"] == text


async def test_two_messages_in_quick_succession_are_both_recorded(talk: Path, show: Any) -> None:
    """Issue 4: typing a message appends it."""
    async with show(talk) as on:
        on.editor.post_message(PromptEditor.Sent("one"))
        on.editor.post_message(PromptEditor.Sent("two"))
        await on.pilot.pause()
        await on.idle()
    texts = [json.loads(line).get("message", {}).get("content") for line in talk.read_text().splitlines()]
    assert texts[-2:] == ["one", "two"]


async def test_a_recorded_message_does_not_come_back_when_its_answer_cannot_be_recorded(
    talk: Path, show: Any, script: Any, last: Last
) -> None:
    """Issue 4: sent again it would be there twice."""
    answers = script("so far")
    answers.message = lambda *_: {"role": float("nan")}
    async with show(talk, answers=answers) as on:
        await on.run("go on")
        assert last(talk)["message"]["content"] == "go on"
        assert len(on.told) == 1
        assert on.editor.text == ""


async def test_quitting_keeps_what_has_come_of_an_answer(talk: Path, show: Any, script: Any, last: Last) -> None:
    """U-05, issue 4: as stopping does."""
    answers = script("so far", None)
    async with show(talk, answers=answers) as on:
        await on.send("go on")
        await on.until(answers.waits.is_set)
        await on.send("/quit")
        await on.until(lambda: not on.app.is_running)
    assert last(talk)["message"]["role"] == "assistant"


async def test_the_status_of_a_failed_send_says_no_more_that_it_runs(talk: Path, show: Any, script: Any) -> None:
    """U-75: in every outcome."""
    answers = script("so far")
    answers.message = lambda *_: {"role": float("nan")}
    async with show(talk, answers=answers) as on:
        await on.run("go on")
        assert "Esc stops it" not in on.status


async def test_a_text_of_many_lines_is_pasted_as_it_is(talk: Path, show: Any) -> None:
    """As terminals send it."""
    async with show(talk) as on:
        on.app.post_message(events.Paste("def f():\r    return 1\r"))
        await on.press()
        assert on.editor.text == "def f():\n    return 1\n"
