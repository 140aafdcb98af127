"""/tree: to another entry of the same file (U-01, U-70..U-78)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual import events

Last = Callable[[Path], dict[str, Any]]


async def test_a_user_message_that_is_chosen_is_written_anew(talk: Path, show: Any) -> None:
    """U-01, U-71, U-74, U-77, N-12: no question where summaries are not set, nothing is written."""
    before = talk.read_bytes()
    async with show(talk) as on:
        await on.open("/tree", "TreeSelector")
        assert on.editor.text == ""
        await on.press("up", "enter")
        await on.idle()
        assert on.status.startswith("gone there")
        assert (on.session.leaf_id, on.editor.text) == ("a1", "look again")
        assert "They pass." in on.text
        assert "Still fine." not in on.text
    assert talk.read_bytes() == before


async def test_an_answer_that_is_chosen_prefills_nothing(talk: Path, show: Any) -> None:
    """U-77, N-13."""
    async with show(talk) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("end", "enter")
        await on.idle()
        assert (on.session.leaf_id, on.editor.text) == ("a2", "")
        assert "Done." in on.text


async def test_what_is_in_the_editor_stays(talk: Path, show: Any) -> None:
    """U-77: only a blank editor is prefilled."""
    async with show(talk) as on:
        await on.open("/tree", "TreeSelector")
        on.editor.prefill("a draft")
        await on.press("up", "enter")
        await on.idle()
        assert (on.session.leaf_id, on.editor.text) == ("a1", "a draft")


async def test_the_current_leaf_is_no_place_to_go(talk: Path, show: Any) -> None:
    """U-70."""
    async with show(talk, summary=True) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("enter")
        await on.idle()
        assert on.status.startswith("already here")
        assert (on.on, on.session.leaf_id) == ("Screen", "a3")


async def test_escape_leaves_the_tree(talk: Path, show: Any) -> None:
    """U-62."""
    async with show(talk) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("escape")
        await on.idle()
        assert (on.on, on.session.leaf_id) == ("Screen", "a3")


@pytest.mark.parametrize("command", ["/tree", "/branch"])
@pytest.mark.parametrize("action", ["tree", "branch"])
async def test_a_session_without_entries_shows_no_selector(command: str, action: str, show: Any) -> None:
    """U-07, U-80."""
    async with show(double_escape_action=action) as on:
        await on.run(command)
        assert on.on == "Screen"
        assert on.status.startswith(("nothing was recorded yet", "no message to branch from yet"))


async def test_the_tree_begins_with_the_filter_that_is_set(talk: Path, show: Any) -> None:
    """U-57."""
    async with show(talk, tree_filter_mode="user-only") as on:
        await on.open("/tree", "TreeSelector")
        assert "[user-only]" in on.status


async def test_a_label_of_the_tree_is_recorded(talk: Path, show: Any, last: Last) -> None:
    """U-78: whatever is chosen then."""
    async with show(talk) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("up", "L", "o", "k", "enter", "escape")
        await on.idle()
    assert (last(talk)["targetId"], last(talk)["label"]) == ("u3", "ok")


@pytest.mark.parametrize(("keys", "summarized"), [(["enter"], False), (["down", "enter"], True)])
async def test_a_summary_is_asked_about(keys: list[str], summarized: bool, talk: Path, show: Any, last: Last) -> None:
    """U-71."""
    before = talk.read_bytes()
    async with show(talk, summary=True) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("end", "enter")
        await on.sees("ChoiceScreen")
        assert on.session.leaf_id == "a3"
        await on.press(*keys)
        await on.idle()
        assert on.status.startswith("summarized, and gone there" if summarized else "gone there")
        assert ("branch summary" in on.text) is summarized
        assert on.session.leaf_id == (last(talk)["id"] if summarized else "a2")
    assert (talk.read_bytes() != before) is summarized
    if summarized:
        assert (last(talk)["type"], last(talk)["parentId"]) == ("branch_summary", "a2")


@pytest.mark.parametrize("summary", [True, False])
async def test_a_summary_that_was_asked_for_in_the_tree_asks_nothing(
    summary: bool, talk: Path, show: Any, last: Last
) -> None:
    """U-74: Shift+Enter, whatever is set."""
    async with show(talk, summary=summary) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("end", "shift+enter")
        await on.idle()
        assert on.status.startswith("summarized, and gone there")
    assert last(talk)["type"] == "branch_summary"


async def test_escape_in_the_choice_opens_the_tree_again(talk: Path, show: Any) -> None:
    """U-72: nothing has changed."""
    before = talk.read_bytes()
    async with show(talk, summary=True) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("end", "enter")
        await on.sees("ChoiceScreen")
        await on.press("escape")
        await on.sees("TreeSelector")
        assert on.session.leaf_id == "a3"
        await on.press("escape")
        await on.idle()
        assert on.on == "Screen"
    assert talk.read_bytes() == before


async def test_a_cancelled_prompt_goes_back_to_the_choice(talk: Path, show: Any, summaries: Any) -> None:
    """U-73: and is no summary."""
    async with show(talk, summary=True, summarizer=summaries) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("end", "enter")
        await on.sees("ChoiceScreen")
        await on.press("end", "enter")
        await on.sees("LineScreen")
        await on.press("x", "escape")
        await on.sees("ChoiceScreen")
        assert (summaries.asked, on.session.leaf_id) == ([], "a3")
        await on.press("enter")
        await on.idle()
        assert (summaries.asked, on.session.leaf_id) == ([], "a2")


@pytest.mark.parametrize("typed", ["the tests", "  "])
async def test_what_matters_is_told_to_the_summarizer(typed: str, talk: Path, show: Any, summaries: Any) -> None:
    """U-71: a blank line is no instruction."""
    async with show(talk, summary=True, summarizer=summaries) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("end", "enter")
        await on.sees("ChoiceScreen")
        await on.press("end", "enter")
        await on.sees("LineScreen")
        await on.press(*("space" if letter == " " else letter for letter in typed), "enter")
        await on.idle()
        assert on.status.startswith("summarized, and gone there")
        [asked] = summaries.asked
        assert ("the tests" in asked.prompt.replace("do the tests", "")) is bool(typed.strip())


async def test_an_aborted_summary_opens_the_tree_again(talk: Path, show: Any, summaries: Any) -> None:
    """U-75, U-76, N-39: nothing has changed, and Escape is itself again."""
    before = talk.read_bytes()
    summaries.blocked = True
    async with show(talk, summarizer=summaries) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("end", "shift+enter")
        await on.until(summaries.waits.is_set)
        assert on.status.startswith("summarizing … Esc stops it")
        await on.press("escape")
        await on.sees("TreeSelector")
        assert on.session.leaf_id == "a3"
        await on.press("escape")
        await on.idle()
        assert on.status.startswith("stopped: nothing has changed")
        await on.press("escape")
        assert on.on == "Screen"
        await on.press("escape")
        await on.sees("MessageSelector")
    assert talk.read_bytes() == before


async def test_a_failed_summary_is_told(talk: Path, show: Any, summaries: Any) -> None:
    """U-76, N-38: nothing has changed; no control character of it is obeyed."""
    before = talk.read_bytes()
    summaries.error = RuntimeError("out of \x1b[31mcredit")
    async with show(talk, summarizer=summaries) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("end", "shift+enter")
        await on.idle()
        [told] = on.told
        assert "out of [31mcredit" in told and "\x1b" not in told
        assert (on.on, on.session.leaf_id) == ("Screen", "a3")
    assert talk.read_bytes() == before


async def test_a_failed_summary_leaves_no_loader(talk: Path, show: Any, summaries: Any) -> None:
    """U-75: removed in every outcome."""
    summaries.error = RuntimeError("out of credit")
    async with show(talk, summarizer=summaries) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("end", "shift+enter")
        await on.idle()
        assert "Esc stops it" not in on.status


async def test_a_cancelled_navigation_is_only_told(talk: Path, show: Any) -> None:
    """U-76: by a hook."""
    async with show(talk) as on:
        on.app.agent.hooks.on("session_before_tree", lambda *_: {"cancel": True})
        await on.open("/tree", "TreeSelector")
        await on.press("end", "enter")
        await on.idle()
        assert on.status.startswith("cancelled")
        assert on.session.leaf_id == "a3"


async def test_pages_move_in_the_tree(chain: Any, show: Any) -> None:
    """U-60: not in the conversation behind it."""
    async with show(chain(90)) as on:
        await on.open("/tree", "TreeSelector")
        row = on.app.screen.model.row
        await on.press("pageup")
        assert on.app.screen.model.row < row


async def test_ctrl_c_closes_the_tree_only(talk: Path, show: Any) -> None:
    """U-62."""
    async with show(talk) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("ctrl+c")
        assert on.app.is_running
        assert on.on == "Screen"


@pytest.mark.parametrize("text", ["/tree of life", "/branch office"])
async def test_only_the_bare_command_opens_a_selector(text: str, talk: Path, show: Any) -> None:
    """U-01."""
    async with show(talk) as on:
        await on.send(text)
        assert on.on == "Screen"


async def test_ctrl_c_leaves_the_choice_only(talk: Path, show: Any) -> None:
    """U-72."""
    async with show(talk, summary=True) as on:
        await on.open("/tree", "TreeSelector")
        await on.press("end", "enter")
        await on.sees("ChoiceScreen")
        await on.press("ctrl+c")
        assert on.app.is_running


async def test_a_filter_key_in_the_tree_writes_nothing_into_the_editor(talk: Path, show: Any) -> None:
    """U-62, U-77: as terminals send it, with its letter; what is chosen is prefilled."""
    async with show(talk) as on:
        await on.open("/tree", "TreeSelector")
        on.app.post_message(events.Key("alt+u", "u"))
        await on.press("enter")
        await on.idle()
        assert on.editor.text == "look again"
