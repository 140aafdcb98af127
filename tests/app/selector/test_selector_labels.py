"""Labels are edited in place, with Shift+L (U-63, U-64, U-78)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]


def last(path: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
    return record


async def test_a_new_label_is_recorded_and_shown_at_once(talk: Path, open_selector: Any) -> None:
    """U-63, U-64, U-78: trimmed, as a label entry for the selected row."""
    async with open_selector(talk) as on:
        await on.press("L")
        assert (on.selector.query_one("#label").value, on.selector.query_one("#label").has_focus) == ("", True)
        await on.type("  L? el ")
        assert on.model.query == ""
        await on.press("enter")
        assert on.rows[3] == "› ├─ • [L? el] user: wait, look again"
        assert on.session.labels["u3"] == "L? el"
        assert on.host.chosen == []
        await on.press("alt+l")
        assert on.model.rows.ids == ["a2", "u3"]
        await on.press("up")
        assert on.selected == "a2"
    assert (last(talk)["type"], last(talk)["targetId"], last(talk)["label"]) == ("label", "u3", "L? el")


async def test_the_editor_begins_with_the_label_there_is(talk: Path, open_selector: Any) -> None:
    """U-63."""
    async with open_selector(talk) as on:
        await on.press("up", "L")
        assert on.selector.query_one("#label").value == "green"
        await on.press("end", "2", "enter")
        assert on.rows[2] == "› • [green2] assistant: They pass."
    assert last(talk)["label"] == "green2"


@pytest.mark.parametrize("typed", ["", "   "])
async def test_a_blank_label_clears(typed: str, talk: Path, open_selector: Any) -> None:
    """U-63: and the row leaves the filter of labelled rows."""
    async with open_selector(talk) as on:
        await on.press("up", "L", "ctrl+u", "end", "ctrl+u", *typed, "enter")
        assert on.rows[2] == "› • assistant: They pass."
        assert dict(on.session.labels) == {}
        await on.press("alt+l")
        assert on.model.rows.ids == []
    assert last(talk)["targetId"] == "a2"
    assert last(talk).get("label") is None


@pytest.mark.parametrize("keys", [["escape"], ["x", "y", "escape"], ["enter"], ["ctrl+c"], ["x", "ctrl+c"]])
async def test_nothing_is_written_for_a_label_that_is_given_up_or_left_as_it_is(
    keys: list[str], talk: Path, open_selector: Any
) -> None:
    """U-63; U-62: Escape leaves the editor only, Ctrl+C closes from everywhere."""
    before = talk.read_bytes()
    async with open_selector(talk) as on:
        await on.press("up", "L", *keys)
        if "ctrl+c" in keys:
            assert on.host.chosen == [None]
        else:
            assert not on.selector.query_one("#label").display
            assert (on.host.chosen, on.rows[2]) == ([], "› • [green] assistant: They pass.")
            await on.press("escape")
            assert on.host.chosen == [None]
    assert talk.read_bytes() == before


@pytest.mark.parametrize("keys", [["down"], ["alt+u"], ["ctrl+o", "ctrl+o"]], ids=" ".join)
async def test_a_label_goes_to_the_row_it_was_begun_on(keys: list[str], talk: Path, open_selector: Any) -> None:
    """U-63: whatever is selected meanwhile."""
    async with open_selector(talk) as on:
        await on.press("up", "L", *keys, "end", "2", "enter")
        assert dict(on.session.labels) == {"a2": "green2"}


async def test_a_click_on_the_tree_ends_the_editor_or_leaves_it_the_keys(talk: Path, open_selector: Any) -> None:
    """U-63."""
    async with open_selector(talk) as on:
        await on.press("L")
        await on.pilot.click(on.view, offset=(8, 0))
        field = on.selector.query_one("#label")
        assert field.has_focus == field.display


async def test_in_an_empty_list_there_is_nothing_to_label(talk: Path, open_selector: Any) -> None:
    """U-67."""
    async with open_selector(talk) as on:
        await on.type("nowhere")
        await on.press("escape", "up", "L", "ctrl+u", "end", "ctrl+u", "enter", "alt+l", "L")
        assert on.model.rows.ids == []
        assert not on.selector.query_one("#label").display


@pytest.mark.parametrize("version", [3, 4])
async def test_a_label_that_cannot_be_recorded_is_refused_with_its_reason(
    version: int, write: Write, open_selector: Any
) -> None:
    """U-64: opened to read only, or of a newer version; what was typed stays, the view shows what is recorded."""
    path = write({"id": "u1", "message": {"role": "user", "content": "text"}}, version=version)
    before = path.read_bytes()
    async with open_selector(path, read_only=version == 3) as on:
        await on.press("L", "x", "enter")
        await on.pilot.pause()
        (notice,) = on.host._notifications
        assert (notice.severity, notice.message.isprintable()) == ("error", True)
        assert ("read" if version == 3 else "version 4") in notice.message
        assert on.rows[0] == "› • user: text"
        field = on.selector.query_one("#label")
        assert (field.display, field.value) == (True, "x")
        await on.press("escape", "escape")
        assert on.host.chosen == [None]
    assert path.read_bytes() == before


async def test_a_label_leaves_the_leaf_that_the_selector_shows(talk: Path, open_selector: Any) -> None:
    """U-64, U-70: the label entry is the session's leaf now, and the row still stands for it."""
    async with open_selector(talk) as on:
        await on.press("L", "x", "enter")
        assert (on.session.leaf_id == "u3", on.model.position(on.session.leaf_id)) == (False, -1)
        await on.press("enter")
        assert on.host.chosen == [("u3", False, True)]


async def test_a_label_that_a_terminal_would_obey_is_shown_as_text(write: Write, open_selector: Any) -> None:
    """Case 67: in its row and in the editor."""
    label = {"type": "label", "id": "l1", "targetId": "u1", "label": "a\x1b[31m\u202eb\n[bold]c"}
    async with open_selector(write({"id": "u1", "message": {"role": "user", "content": "x"}}, label)) as on:
        assert on.rows[0] == "› • [a[31mb [bold]c] user: x"
        await on.press("L")
        assert on.selector.query_one("#label").value == "a[31mb [bold]c"
        assert all(line.isprintable() for line in on.lines)
