"""Filters and searches by keys, and what is said where nothing is shown (U-50..U-5A, U-62, U-66..U-6A)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual import events

from sessiontree.app.tree_filter import FilterMode

MOVES = ["up", "down", "pageup", "pagedown", "home", "end", "alt+up", "alt+down", "ctrl+left", "ctrl+right"]
ROUND = ["default", "no-tools", "user-only", "labeled-only", "all"]


@pytest.mark.parametrize(
    ("key", "modes"),
    [
        ("ctrl+o", [*ROUND[1:], "default"]),
        ("ctrl+shift+o", [*ROUND[:0:-1], "default"]),
        ("alt+o", [*ROUND[:0:-1], "default"]),
    ],
)
async def test_a_key_goes_around_the_filters(key: str, modes: list[str], talk: Path, open_selector: Any) -> None:
    """U-62, U-66: forward, and back on two keys."""
    async with open_selector(talk) as on:
        for mode in modes:
            await on.press(key)
            assert (on.model.mode, f"[{mode}]" in on.foot) == (mode, True)


async def test_each_filter_has_a_key(talk: Path, open_selector: Any) -> None:
    """U-62: and none of them is search text."""
    async with open_selector(talk) as on:
        for key, mode, count in (
            ("alt+a", "all", 9),
            ("alt+t", "no-tools", 5),
            ("alt+u", "user-only", 3),
            ("alt+l", "labeled-only", 1),
            ("alt+d", "default", 6),
        ):
            await on.press(key)
            assert (on.model.mode, len(on.model.rows.ids), on.model.query) == (mode, count, "")
            assert f"/{count})  [{mode}]" in on.foot
            assert len([line for line in on.rows if line]) == count


async def test_what_is_typed_is_searched_and_backspace_takes_the_last_character_back(
    talk: Path, open_selector: Any
) -> None:
    """U-58, U-62: with an empty query backspace does nothing."""
    async with open_selector(talk) as on:
        await on.press("backspace")
        assert on.model.query == ""
        await on.type("WAIT  look")
        assert (on.model.query, on.rows[0]) == ("WAIT  look", "› • user: wait, look again")
        assert on.foot == "(1/1)  [default]  search: WAIT  look  F1 help"
        await on.press("x")
        assert on.model.rows.ids == []
        await on.press("backspace", "backspace")
        assert (on.model.query, on.selected) == ("WAIT  loo", "u3")


async def test_escape_clears_the_query_and_then_closes(talk: Path, open_selector: Any) -> None:
    """U-62."""
    async with open_selector(talk) as on:
        await on.type("commit")
        assert on.model.rows.ids == ["u2"]
        await on.press("escape")
        assert (on.model.query, len(on.model.rows.ids), on.host.chosen) == ("", 6, [])
        assert "search" not in on.foot
        await on.press("escape")
        assert on.host.chosen == [None]


@pytest.mark.parametrize("query", ["xL", "x?", "lL?", " L", "会议L", "[b]", "é"])
async def test_with_a_query_every_character_is_search_text(query: str, talk: Path, open_selector: Any) -> None:
    """U-62, U-63: `L` and `?` too; a small `l` begins one."""
    async with open_selector(talk) as on:
        await on.type(query)
        assert (on.model.query, on.selector.query_one("#label").display) == (query, False)
        assert not on.selector.query_one("#help").display
        assert f"search: {query} " in on.foot


async def test_a_filter_key_keeps_the_query(talk: Path, open_selector: Any) -> None:
    """U-58."""
    async with open_selector(talk) as on:
        await on.type("the")
        assert on.model.rows.ids == ["u1", "a2", "u2"]
        await on.press("alt+u")
        assert (on.model.query, on.model.rows.ids) == ("the", ["u1", "u2"])


async def test_a_filter_and_a_query_can_be_given(talk: Path, open_selector: Any) -> None:
    """U-57: the query is found when the texts have come."""
    async with open_selector(talk, mode=FilterMode.USER_ONLY, query="commit") as on:
        assert on.model.rows.ids == ["u2"]
        assert on.foot == "(1/1)  [user-only]  search: commit  F1 help"
        assert on.rows[0] == "› user: then commit"


async def test_a_session_without_entries_says_so(tmp_path: Path, open_selector: Any) -> None:
    """U-67, U-68, X-147."""
    path = tmp_path / "session.jsonl"
    path.touch()
    async with open_selector(path) as on:
        assert "No entries" in on.text
        assert on.foot.startswith("(0/0)")
        await on.press(*MOVES, "enter", "alt+enter", "L", "backspace")
        assert on.host.chosen == []
        assert on.foot.startswith("(0/0)")


async def test_a_query_that_finds_nothing_is_quoted_and_no_filter_is_blamed(talk: Path, open_selector: Any) -> None:
    """U-67, U-69, X-147: Backspace is the way out."""
    async with open_selector(talk) as on:
        await on.type("nowhere")
        said = on.text.partition("(0/9)")[0]
        assert "“nowhere”" in said
        assert "Backspace" in said
        assert not any(word in said for word in ("filter", "hides", "Alt+"))
        assert on.foot.startswith("(0/9)")
        await on.press(*MOVES, "enter", "shift+enter")
        assert (on.host.chosen, on.selector.query_one("#empty").display) == ([], True)
        await on.press("escape")
        assert (on.selected, on.selector.query_one("#empty").display) == ("u3", False)


@pytest.mark.parametrize("query", ["", "word"])
async def test_a_filter_that_hides_everything_is_named_with_the_keys_that_show_more(
    query: str, write: Callable[..., Path], open_selector: Any
) -> None:
    """U-67, U-6A, X-147: a fresh session holds settings only; a query is not to blame."""
    model = {"id": "m1", "type": "model_change", "model": "acme/m-1"}
    thinking = {"id": "h1", "type": "thinking_level_change", "thinkingLevel": "low"}
    async with open_selector(write(model, thinking), query=query) as on:
        said = on.text.partition("(0/2)")[0]
        assert all(word in said for word in ("2 entries", "default", "Alt+A", "Alt+D"))
        assert "Nothing is found" not in said
        assert on.foot.startswith("(0/2)")
        await on.press("up", "down", "enter")
        assert on.host.chosen == []
        await on.press("escape", "alt+a") if query else await on.press("alt+a")
        assert (on.selected, on.rows[:2]) == ("h1", ["  • [model: acme/m-1]", "› • [thinking: low]"])


@pytest.mark.parametrize("key", ["question_mark", "f1"])
async def test_help_is_shown_and_hidden(key: str, talk: Path, open_selector: Any) -> None:
    """Settled, the terminal: F1, and `?` with an empty query; the keys go on working."""
    async with open_selector(talk, 120) as on:
        await on.press(key)
        assert all(name in on.text for name in ("Shift+L", "Ctrl+O", "Alt+O", "Alt+Enter", "Home", "F1"))
        await on.press("up")
        assert on.selected == "a2"
        await on.press(key)
        assert "Shift+L" not in on.text


async def test_f1_helps_with_a_query_too(talk: Path, open_selector: Any) -> None:
    async with open_selector(talk, 120) as on:
        await on.type("the")
        await on.press("f1")
        assert ("Shift+L" in on.text, on.model.query) == (True, "the")


async def test_what_is_pasted_is_searched(talk: Path, open_selector: Any) -> None:
    """U-62: as if it was typed; in the label it is the label."""
    async with open_selector(talk) as on:
        on.host.post_message(events.Paste("then\rcommit"))
        await on.press()
        assert (on.model.query, on.selected) == ("then commit", "u2")
        await on.press("escape", "L")
        on.host.post_message(events.Paste("mark"))
        await on.press("enter")
        assert (on.model.query, on.model.labels["u2"]) == ("", "mark")
