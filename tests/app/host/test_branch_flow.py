"""/branch and the message selector: on in a new file (U-02, U-80..U-82)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, OptionList

from sessiontree import SessionManager


def shown(on: Any) -> list[str]:
    """The messages that may be chosen."""
    options = on.app.screen.query_one(OptionList)
    return [str(options.get_option_at_index(at).prompt) for at in range(options.option_count)]


def selected(on: Any) -> int:
    at: int = on.app.screen.query_one(OptionList).highlighted
    return at


async def test_branching_goes_on_in_a_new_file(talk: Path, show: Any) -> None:
    """U-02, U-80, U-82: the newest message is preselected; its text is written anew, over what was there."""
    before = talk.read_bytes()
    async with show(talk) as on:
        await on.open("/branch", "MessageSelector")
        on.editor.prefill("a draft")
        assert shown(on) == [
            f"{text}\nmessage {number} of 3"
            for number, text in enumerate(("do the tests pass?", "then commit", "look again"), 1)
        ]
        assert selected(on) == 2
        await on.press("up", "enter")
        await on.idle()
        assert on.status.startswith("branched into a new file")
        assert on.editor.text == "then commit"
        assert Path(on.session.session_file) != talk
        assert [entry.id for entry in await on.entries()] == ["u1", "a1"]
        assert "They pass." in on.text and "Still fine." not in on.text
        await on.press("enter")
        await on.idle()
        lines = Path(on.session.session_file).read_text().splitlines()
        assert json.loads(lines[-1])["message"]["content"] == "then commit"
    assert talk.read_bytes() == before


async def test_branching_at_the_first_message_begins_empty(talk: Path, show: Any) -> None:
    """U-82, N-74: and the new session is followed when its file is there."""
    async with show(talk) as on:
        await on.open("/branch", "MessageSelector")
        await on.press("down", "enter")
        await on.idle()
        assert on.editor.text == "do the tests pass?"
        assert "Nothing was said yet." in on.text


async def test_up_and_down_wrap(talk: Path, show: Any) -> None:
    """U-80."""
    async with show(talk) as on:
        await on.open("/branch", "MessageSelector")
        await on.press("down")
        assert selected(on) == 0
        await on.press("up")
        assert selected(on) == 2


@pytest.mark.parametrize(
    "key",
    [
        "escape",
        "ctrl+c",
    ],
)
async def test_escape_closes_the_selector(key: str, talk: Path, show: Any) -> None:
    """U-82."""
    async with show(talk) as on:
        await on.open("/branch", "MessageSelector")
        await on.press(key)
        assert on.app.is_running
        assert (on.on, on.editor.text, Path(on.session.session_file)) == ("Screen", "", talk)


@pytest.mark.parametrize(("count", "searches"), [(10, False), (11, True)])
async def test_more_than_ten_messages_can_be_searched(count: int, searches: bool, chain: Any, show: Any) -> None:
    """U-81."""
    async with show(chain(count)) as on:
        await on.open("/branch", "MessageSelector")
        assert on.app.screen.query_one(Input).display is searches
        await on.press("0", "2")
        assert len(shown(on)) == (1 if searches else count)


async def test_a_search_keeps_the_numbers_and_escape_ends_it(chain: Any, show: Any) -> None:
    """U-81, U-82: an empty result has nothing to choose."""
    async with show(chain(12)) as on:
        await on.open("/branch", "MessageSelector")
        await on.press("0", "0", "7")
        assert shown(on) == ["turn 007\nmessage 7 of 12"]
        await on.press("z")
        assert shown(on) == []
        await on.press("up", "down", "enter")
        assert on.on == "MessageSelector"
        await on.press("escape")
        assert (len(shown(on)), on.on, selected(on)) == (12, "MessageSelector", 11)
        await on.press(*"turn", "space", *"007", "enter")
        await on.idle()
        assert on.editor.text == "turn 007"


async def test_a_click_chooses(talk: Path, show: Any) -> None:
    """Issue 4: the mouse works."""
    async with show(talk) as on:
        await on.open("/branch", "MessageSelector")
        [row] = [at for at, line in enumerate(on.lines) if "then commit" in line]
        await on.pilot.click(offset=(20, row))
        await on.idle()
        assert on.editor.text == "then commit"


async def test_a_click_chooses_beside_a_search(chain: Any, show: Any) -> None:
    """Issue 4, U-81: the row that was clicked."""
    async with show(chain(11)) as on:
        await on.open("/branch", "MessageSelector")
        [row] = [at for at, line in enumerate(on.lines) if "turn 011" in line]
        await on.pilot.click(offset=(20, row))
        await on.idle()
        assert on.editor.text == "turn 011"


async def test_branch_opens_the_tree_where_that_is_set(talk: Path, show: Any) -> None:
    """U-02: and navigates in the same file then."""
    async with show(talk, double_escape_action="tree") as on:
        await on.open("/branch", "TreeSelector")
        await on.press("up", "enter")
        await on.idle()
        assert (on.session.leaf_id, Path(on.session.session_file)) == ("a1", talk)


async def test_branch_opens_the_messages_where_double_escape_does_nothing(talk: Path, show: Any) -> None:
    """U-02."""
    async with show(talk, double_escape_action="none") as on:
        await on.open("/branch", "MessageSelector")


async def test_a_cancelled_branch_only_closes(talk: Path, show: Any) -> None:
    """U-82."""
    async with show(talk) as on:
        on.app.agent.hooks.on("session_before_branch", lambda *_: {"cancel": True})
        await on.open("/branch", "MessageSelector")
        await on.press("enter")
        await on.idle()
        assert (on.on, on.editor.text, Path(on.session.session_file)) == ("Screen", "", talk)


async def test_a_session_is_followed_after_a_branch_that_failed(talk: Path, show: Any, monkeypatch: Any) -> None:
    """Issue 4: a session that another process writes is followed live."""

    async def refuse(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    async with await SessionManager.open(talk) as other, show(talk) as on:
        monkeypatch.setattr(on.app.agent, "branch", refuse)
        await on.open("/branch", "MessageSelector")
        await on.press("enter")
        await on.idle()
        assert "No space left" in on.told[0]
        assert [worker for worker in on.app.workers if worker.name == "_follow"]
        await other.append_message({"role": "user", "content": "still there?"})


async def test_a_long_message_takes_one_line(write: Callable[..., Path], show: Any) -> None:
    """U-80: one line of text for each."""
    path = write({"id": "u1", "message": {"role": "user", "content": "many words " * 100}})
    async with show(path) as on:
        await on.open("/branch", "MessageSelector")
        assert on.app.screen.query_one(OptionList).virtual_size.height == 2


async def test_the_newest_message_is_in_view(chain: Any, show: Any) -> None:
    """U-80: where there are more than there is room for."""
    async with show(chain(30), width=20, height=8) as on:
        await on.open("/branch", "MessageSelector")
        assert "turn 030" in on.text


async def test_a_search_keeps_the_message_that_is_selected(chain: Any, show: Any) -> None:
    """U-81."""
    async with show(chain(12)) as on:
        await on.open("/branch", "MessageSelector")
        await on.press("up", "up", "0", "1")
        assert shown(on)[selected(on)] == "turn 010\nmessage 10 of 12"


IMAGE = {"type": "image", "data": "", "mimeType": "image/png"}


@pytest.mark.parametrize(("images", "said"), [(1, "without 1 image"), (2, "without 2 images")])
async def test_that_images_are_not_written_anew_is_said(
    images: int, said: str, write: Callable[..., Path], show: Any
) -> None:
    """N-24, N-79: an editor holds text; a message without text is in the tree, and not among the messages."""
    pictured = [{"type": "text", "text": "look"}, *[IMAGE] * images]
    path = write(
        {"id": "u1", "message": {"role": "user", "content": pictured}},
        {"id": "u2", "message": {"role": "user", "content": [IMAGE] * images}},
    )
    async with show(path, double_escape_action="tree") as on:
        await on.open("/tree", "TreeSelector")
        await on.press("home", "enter")
        await on.idle()
        assert (on.status.startswith(f"gone there, {said}"), on.editor.text) == (True, "look")
    async with show(path) as on:
        await on.open("/branch", "MessageSelector")
        assert shown(on) == ["look\nmessage 1 of 1"]
        await on.press("enter")
        await on.idle()
        assert (on.status.startswith(f"branched into a new file, {said}"), on.editor.text) == (True, "look")
