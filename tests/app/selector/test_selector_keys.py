"""The keys that move, and the mouse (U-60, U-65)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual import events

AROUND = [("up", 98), ("down", 99), ("down", 0), ("up", 99), ("home", 0), ("down", 1), ("end", 99), ("pagedown", 99)]
AROUND += [("alt+up", 98), ("alt+down", 99), ("alt+down", 99), ("home", 0), ("pageup", 0), ("left", 0), ("alt+up", 0)]
PAGES = [("home", 0), ("pagedown", 22), ("right", 44), ("pageup", 22), ("left", 0), ("right", 22), ("pageup", 0)]
PAGES += [("end", 99), ("pageup", 77), ("left", 55), ("pagedown", 77), ("right", 99)]


@pytest.mark.parametrize("moves", [AROUND, PAGES])
async def test_keys_move_the_selection_of_a_long_list(
    moves: list[tuple[str, int]], chain: Path, open_selector: Any
) -> None:
    """U-60: around the ends; a page is the window, 22 rows of 24 lines here, and clamped."""
    async with open_selector(chain) as on:
        assert on.view.size.height == 22
        for number, (key, row) in enumerate(moves):
            await on.press(key)
            assert (number, on.selected) == (number, f"n{row:02}")
            assert f"› • user: turn {row:02}" in on.rows
            assert on.foot.startswith(f"({row + 1}/100)")


async def test_keys_move_the_selection_of_a_list_that_fits(talk: Path, open_selector: Any) -> None:
    """U-60: a page is clamped; turn by turn leaves the tool row out."""
    moves = [("up", "a2"), ("alt+up", "u1"), ("alt+up", "u1"), ("up", "a3"), ("down", "u1"), ("end", "a3")]
    moves += [("home", "u1"), ("pagedown", "a3"), ("pageup", "u1"), ("right", "a3"), ("left", "u1")]
    moves += [("down", "r1"), ("alt+down", "a2")]
    async with open_selector(talk) as on:
        assert (on.model.rows.ids, on.selected) == (["u1", "r1", "a2", "u3", "u2", "a3"], "u3")
        for number, (key, selected) in enumerate(moves):
            await on.press(key)
            assert (number, on.selected) == (number, selected)
            (cursor,) = [row for row, line in enumerate(on.rows) if line.startswith("›")]
            assert on.model.rows.ids[cursor] == selected


@pytest.mark.parametrize("fold, unfold", [("ctrl+left", "ctrl+right"), ("alt+left", "alt+right")])
async def test_keys_fold_and_unfold_and_go_from_branch_to_branch(
    fold: str, unfold: str, talk: Path, open_selector: Any
) -> None:
    """X-151: a folded row is marked."""
    async with open_selector(talk) as on:
        await on.press("end", fold)
        assert on.selected == "u2"
        await on.press(fold)
        assert on.rows[:6] == [
            "  • user: do the tests pass?",
            "  • [bash: make test]",
            "  • [green] assistant: They pass.",
            "  ├─ • user: wait, look again",
            "› └─ ▸ user: then commit",
            "",
        ]
        assert on.foot.startswith("(5/5)")
        await on.press(unfold)
        assert on.rows[4:6] == ["› └─ user: then commit", "     assistant: Done."]
        await on.press("home", unfold)
        assert on.selected == "u3"


async def test_the_selection_is_in_the_middle_as_far_as_there_are_rows(chain: Path, open_selector: Any) -> None:
    """U-65: and at the ends the window is full."""
    async with open_selector(chain) as on:
        for row, line in ((99, 21), (50, 11), (88, 11), (89, 11), (90, 12), (0, 0), (10, 10), (11, 11), (12, 11)):
            on.model.select_row(row)
            await on.press("alt+a")
            assert (row, on.rows.index(f"› • user: turn {row:02}")) == (row, line)
            assert all("turn" in text for text in on.rows)


async def test_a_click_selects_and_below_the_rows_it_does_nothing(talk: Path, open_selector: Any) -> None:
    async with open_selector(talk) as on:
        await on.pilot.click(on.view, offset=(8, 1))
        assert on.selected == "r1"
        assert on.rows[1].startswith("› ")
        await on.pilot.click(on.view, offset=(8, 15))
        assert (on.selected, on.host.chosen) == ("r1", [])


async def test_the_footer_follows_a_click(talk: Path, open_selector: Any) -> None:
    """U-66."""
    async with open_selector(talk) as on:
        await on.pilot.click(on.view, offset=(8, 1))
        assert on.foot.startswith("(2/6)")


async def test_a_double_click_enters(talk: Path, open_selector: Any) -> None:
    async with open_selector(talk) as on:
        await on.pilot.double_click(on.view, offset=(8, 2))
        assert on.host.chosen == [("a2", False, False)]


async def test_a_click_counts_in_a_list_that_is_scrolled(chain: Path, open_selector: Any) -> None:
    async with open_selector(chain) as on:
        await on.pilot.click(on.view, offset=(8, 0))
        assert on.selected == "n78"


async def test_the_wheel_scrolls_and_the_selection_stays(chain: Path, open_selector: Any) -> None:
    """The next movement brings the selection back into view."""
    async with open_selector(chain) as on:
        top = on.rows[0]
        wheel = events.MouseScrollUp(on.view, 5, 5, 0, -1, 0, False, False, False)
        for _ in range(3):
            on.view.post_message(wheel)
            await on.pilot.pause()
        await on.pilot.wait_for_scheduled_animations()
        assert on.rows[0] < top
        assert (on.selected, any(line.startswith("›") for line in on.rows)) == ("n99", False)
        await on.press("alt+up")
        assert "› • user: turn 98" in on.rows
