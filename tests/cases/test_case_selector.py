"""Cases 67, 72, 73, 75 and 76 in the tree selector, on terminals of many sizes."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from textual.pilot import Pilot
from wcwidth import wcswidth

from sessiontree import SessionManager
from sessiontree.app.selector.tree_app import TreeApp
from sessiontree.app.selector.tree_model import TreeModel
from sessiontree.app.selector.tree_screen import TreeSelector
from sessiontree.app.selector.tree_view import TreeView
from sessiontree.app.tree_filter import FilterMode

CopyCase = Callable[[str], Path]


class Opened(NamedTuple):
    """A selector on a terminal without a screen."""

    app: TreeApp
    pilot: Pilot[str]

    @property
    def model(self) -> TreeModel:
        assert isinstance(self.app.screen, TreeSelector)
        return self.app.screen.model

    @property
    def lines(self) -> list[str]:
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    @property
    def rows(self) -> list[str]:
        region = self.app.screen.query_one(TreeView).region
        return [line.rstrip() for line in self.lines[region.y : region.bottom]]

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause()
        await self._done()

    async def resize(self, width: int, height: int) -> None:
        await self.pilot.resize_terminal(width, height)
        await self._done()

    async def _done(self) -> None:
        """A message leads to others: each pause takes those there are."""
        for _ in range(2):
            await self.pilot.pause()


@pytest.fixture(autouse=True)
def quick_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pilot looks every 2 ms, not every 20 ms, whether the program is idle."""
    monkeypatch.setattr("textual._wait.SLEEP_GRANULARITY", 0.002)
    monkeypatch.setattr("textual._wait.SLEEP_IDLE", 0.001)


@asynccontextmanager
async def opened(
    path: Path, width: int = 80, height: int = 24, mode: FilterMode = FilterMode.DEFAULT
) -> AsyncIterator[Opened]:
    before = path.read_bytes()
    async with await SessionManager.open(path) as session:
        app = TreeApp(session, mode, "")
        async with app.run_test(size=(width, height)) as pilot:
            await app.workers.wait_for_complete()
            await pilot.pause()
            yield Opened(app, pilot)
    assert path.read_bytes() == before


def is_obeyed(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") and character != "\u200d"


async def test_no_escape_sequence_of_the_data_reaches_the_screen(copy_case: CopyCase) -> None:
    """Case 67: in title, rows of every filter, label, label editor, and the answer to a search."""
    async with opened(copy_case("67")) as on:
        for keys in (*([key] for key in ["alt+a", *["ctrl+o"] * 5]), ["up", "L"], ["escape"], [*"wiped"], ["x"]):
            await on.press(*keys)
            assert not any(map(is_obeyed, "".join(on.lines)))
            assert {wcswidth(line) for line in on.lines} == {80}
            assert len([row for row in on.rows if row]) >= len(on.model.rows.ids)


async def test_what_is_visible_of_an_escape_sequence_stays(copy_case: CopyCase) -> None:
    """Case 67."""
    async with opened(copy_case("67"), mode=FilterMode.ALL) as on:
        assert on.rows[:4] == [
            "  • user: look [31mred[0m and ]0;title and tab next",
            "  • [label 2] assistant: [?1049h[2Jwiped31m",
            "  • [session_info]",
            "› • [label: label 2]",
        ]


async def test_wide_characters_stay_on_their_line(copy_case: CopyCase) -> None:
    """Case 72: no line is wider than the terminal or ends in half an emoji, every row shows the start of its text."""
    starts = ["user: 请把", "assistant: 한국", "user: こ", "user: 👨‍👩‍👧", "assistant: xx"]
    async with opened(copy_case("72")) as on:
        assert len(on.model.rows.ids) == len(starts)
        for width in (120, 79, 40, 20, 7, 2, 1):
            await on.resize(width, 12)
            for keys in (["home"], ["end", "up", "L"], ["f1"], ["escape", "f1"]):
                await on.press(*keys)
                assert {wcswidth(line) for line in on.lines} == {width}
            while on.app.screen.query_one("#help").display:  # it has pages where it does not fit
                await on.press("f1")
            assert not any(row.removesuffix("…").endswith("\u200d") for row in on.rows)
            if width >= 40:
                assert all(start in row for start, row in zip(starts, on.rows, strict=False))


@pytest.mark.parametrize(
    ("query", "hit"),
    [
        ("会议", "u1"),
        ("排", "u1"),
        ("评审会", "u1"),
        ("café", "u2"),
        ("CAFÉ", "u2"),
        ("ﾕｰｻﾞｰ", "a2"),
        ("100%_", "a2"),
        ("[x]", "a2"),
        ("(y", "a2"),
        ("done ok", "a2"),
    ],
)
async def test_a_search_that_is_typed_finds_its_row(query: str, hit: str, copy_case: CopyCase) -> None:
    """Case 73, U-58, U-59: the row is selected, and Enter takes it."""
    async with opened(copy_case("73")) as on:
        await on.press(*query)
        assert (on.model.query, on.model.rows.ids) == (query, [hit])
        assert on.rows[0].startswith("› • ")
        await on.pilot.press("enter")
    assert on.app.return_value == hit


async def test_the_selection_begins_on_what_stands_for_a_hidden_leaf(copy_case: CopyCase) -> None:
    """Case 75, U-5B, U-5C, U-67, X-148..X-150: through an empty filter and back."""
    async with opened(copy_case("75")) as on:
        tree = ["  • user: q1", "› ├─ • assistant: r1", "  └─ user: side", "     assistant: side reply"]
        assert on.rows[:4] == tree
        await on.press("alt+l", "up", "down", "enter", "pagedown", "home", "end", "alt+up", "L")
        assert (on.model.rows.ids, on.app.return_value, not any(on.rows)) == ([], None, True)
        await on.press("alt+d")
        assert on.rows[:4] == tree
        assert on.model.stands_for_leaf()
        await on.press("alt+u")
        assert on.rows[:2] == ["› • user: q1", "  user: side"]


async def test_eighty_branch_points_leave_room_for_the_text_at_every_width(copy_case: CopyCase) -> None:
    """Case 76, U-26, X-145: all rows fit, the selected one is on the screen; from 40 columns each shows its text."""
    async with opened(copy_case("76"), 80, 30) as on:
        texts = [on.model.text_of(row) for row in range(len(on.model.rows.ids))]
        assert (len(texts), on.model.selected_id) == (162, "end")
        for width in (20, 27, 40, 60, 79, 100, 120):
            await on.resize(width, 30)
            for row in (0, 40, 81, 161):
                on.model.select_row(row)
                await on.press("alt+d")
                assert {wcswidth(line) for line in on.lines} == {width}
                top = on.app.screen.query_one(TreeView).scroll_offset.y
                assert on.rows[on.model.row - top].startswith("› ")
                if width >= 40:
                    shown = zip(on.rows, texts[top:], strict=False)
                    assert all((text or "?")[:14] in line for line, text in shown)


@pytest.mark.parametrize("width", [80, 40])
async def test_paging_passes_every_row_of_a_deep_tree(width: int, copy_case: CopyCase) -> None:
    """Case 76, U-60: the leaf is selected first; then from the last row up to the root."""
    async with opened(copy_case("76"), width) as on:
        assert any(row.startswith("›") and "the deepest row" in row for row in on.rows)
        await on.press("end")
        seen = set(on.rows)
        for _ in range(162):
            if on.model.row == 0:
                break
            await on.press("pageup")
            assert sum(row.startswith("›") for row in on.rows) == 1
            seen |= set(on.rows)
        assert (on.model.row, len({row[2:].rstrip("▁▂▃▄▅▆▇█ ") for row in seen})) == (0, 162)
