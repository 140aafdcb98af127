"""Escape twice, Ctrl+C, F1 and pages (U-03..U-05)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessiontree.app.host.slash_commands import COMMANDS


@pytest.mark.parametrize(
    ("action", "screen"), [("branch", "MessageSelector"), ("tree", "TreeSelector"), ("none", "Screen")]
)
@pytest.mark.parametrize("typed", ["", "  "])
async def test_two_escapes_open_what_is_set(action: str, screen: str, typed: str, talk: Path, show: Any) -> None:
    """U-03, U-04: with a blank editor."""
    async with show(talk, double_escape_action=action) as on:
        on.editor.prefill(typed)
        await on.pilot.pause()
        await on.press("escape", "escape")
        await on.sees(screen)


async def test_the_messages_are_what_two_escapes_open_by_default(talk: Path, show: Any) -> None:
    """U-03 as settled."""
    async with show(talk) as on:
        await on.press("escape", "escape")
        await on.sees("MessageSelector")


async def test_one_escape_only_arms(talk: Path, show: Any, monkeypatch: Any) -> None:
    """U-04: half a second is too late, and is the first of two again; once fired it begins anew."""
    now = 1000.0
    monkeypatch.setattr("sessiontree.app.host.host_app.monotonic", lambda: now)
    async with show(talk) as on:
        await on.press("escape")
        assert on.on == "Screen"
        now += 0.5
        await on.press("escape")
        assert on.on == "Screen"
        now += 0.49
        await on.press("escape")
        await on.sees("MessageSelector")
        await on.press("escape")
        await on.idle()
        await on.press("escape")
        assert on.on == "Screen"


@pytest.mark.parametrize("between", [["x", "escape"], ["x", "backspace"]], ids=" ".join)
async def test_typed_text_disarms(between: list[str], talk: Path, show: Any) -> None:
    """U-05: and Escape keeps it."""
    async with show(talk) as on:
        await on.press("escape", *between)
        assert on.editor.text == ("x" if "escape" in between else "")
        await on.press("escape")
        assert on.on == "Screen"


async def test_ctrl_c_clears_the_editor_then_leaves(talk: Path, show: Any) -> None:
    """Issue 4."""
    async with show(talk) as on:
        await on.press("a", "b", "ctrl+c")
        assert (on.editor.text, on.app.is_running) == ("", True)
        await on.press("ctrl+c")
        await on.until(lambda: not on.app.is_running)


@pytest.mark.parametrize("key", ["escape", "f1", "q", "ctrl+c"])
async def test_f1_tells_every_command_until_it_is_left(key: str, talk: Path, show: Any) -> None:
    """Issue 4."""
    async with show(talk) as on:
        await on.press("f1")
        assert all(f"/{name}: {text}" in on.text for name, text in COMMANDS.items())
        await on.press(key)
        assert (on.on, on.app.is_running) == ("Screen", True)


@pytest.mark.parametrize(("action", "told"), [("branch", "new file"), ("tree", "in the tree"), ("none", "")])
async def test_the_help_tells_what_two_escapes_open(action: str, told: str, talk: Path, show: Any) -> None:
    """U-03."""
    async with show(talk, double_escape_action=action) as on:
        await on.press("f1")
        [line] = [line for line in on.lines if "Esc Esc" in line] or [""]
        assert told in line


async def test_the_help_can_be_read_on_a_small_terminal(talk: Path, show: Any) -> None:
    """Issue 4: 20 columns and 8 lines."""
    async with show(talk, width=20, height=8) as on:
        await on.press("f1")
        seen = on.text
        while "leave" not in on.lines[-2]:
            await on.press("down")
            seen += on.text
        assert all(f"/{name}:" in seen for name in COMMANDS)


@pytest.mark.parametrize(("theme", "dark"), [("dark", True), ("light", False)])
async def test_the_theme_that_is_set_is_shown(theme: str, dark: bool, talk: Path, show: Any) -> None:
    """Issue 4."""
    async with show(talk, theme=theme) as on:
        assert on.app.current_theme.dark is dark


async def test_page_up_at_the_top_brings_what_is_older(chain: Any, show: Any) -> None:
    """Issue 4: the newest entries are there at first, their end in view."""
    async with show(chain(90)) as on:
        assert "turn 090" in on.text
        await on.press("pageup")
        assert "turn 090" not in on.text
        await on.press("pagedown")
        assert "turn 090" in on.text
        for first in (31, 1):
            on.conversation.scroll_home(animate=False)
            await on.pilot.pause()
            assert f"turn {first:03}" in on.text
            assert ("earlier entries" in on.text) is (first > 1)
            await on.press("pageup")
        assert "turn 001" in on.text


async def test_what_is_coming_stays_when_older_entries_are_brought(chain: Any, show: Any, script: Any) -> None:
    """Issue 4: an answer is shown as it comes."""
    answers = script("so far", None)
    async with show(chain(100), answers=answers) as on:
        await on.send("go on")
        await on.until(answers.waits.is_set)
        on.conversation.scroll_home(animate=False)
        await on.press("pageup")
        on.conversation.scroll_end(animate=False)
        await on.pilot.pause()
        assert "so far" in on.text


async def test_the_status_line_fits_a_terminal_that_changed(talk: Path, show: Any) -> None:
    """Issue 4: widths from 20 columns up."""
    async with show(talk, width=30) as on:
        assert on.status.endswith("…")
        await on.pilot.resize_terminal(120, 30)
        await on.until(lambda: on.status.endswith("F1 help"))


@pytest.mark.parametrize("width", [20, 120])
async def test_a_small_terminal_has_room_for_the_conversation(width: int, talk: Path, show: Any) -> None:
    """Issue 4: eight lines; also for a text of many lines, which scrolls in the editor."""
    async with show(talk, width=width, height=8) as on:
        assert on.editor.region.height == 1
        assert "Still fine." in on.text
        on.editor.prefill("line\n" * 20 + "the end")
        await on.until(lambda: "the end" in on.text)
        assert on.editor.region.height == 3
        assert on.conversation.region.height == 4


async def test_an_error_covers_no_editor(talk: Path, tmp_path: Path, show: Any) -> None:
    """Issue 4: and is gone with the next command."""
    async with show(talk, width=20, height=8) as on:
        await on.run("/export /none/x")
        assert on.told == ["/none/x: No such file or directory"]
        assert on.lines[0].startswith("▌ /none/x")
        await on.run(f"/export {tmp_path / 'x'}")
        assert on.told == []


async def test_what_stands_before_the_editor_keeps_its_keys(talk: Path, show: Any) -> None:
    """U-71, U-73: nothing is typed into the editor from the choice, the prompt and the help."""
    async with show(talk, summary=True) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("home", "enter")
        await on.sees("ChoiceScreen")
        await on.press("x", "end", "enter")
        await on.sees("LineScreen")
        await on.press("y", "escape", "escape", "escape", "f1")
        await on.sees("HelpScreen")
        await on.press("z", "escape")
        assert (on.on, on.editor.text) == ("Screen", "")


async def test_ctrl_c_leaves_prompt_and_choice_as_escape_does(talk: Path, show: Any) -> None:
    """U-72, U-73."""
    async with show(talk, summary=True) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("home", "enter")
        await on.sees("ChoiceScreen")
        await on.press("end", "enter")
        await on.sees("LineScreen")
        for screen in ("ChoiceScreen", "TreeSelector", "Screen"):
            await on.press("ctrl+c")
            await on.sees(screen)
        assert on.session.leaf_id == "a3"
