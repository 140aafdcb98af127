"""What the terminal shows, as text files beside this one, and that it fits whatever its size."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from wcwidth import wcswidth

from sessiontree.app.cells import cell_width
from sessiontree.app.selector.tree_help import help_text
from sessiontree.app.tree_rows import render_row

SCREENS = Path(__file__).parent / "screens"
SHOWN = {
    "tree": [],
    "search": [*"the"],
    "folded": ["end", "ctrl+left", "ctrl+left"],
    "nothing-found": [*"nowhere"],
    "label": ["home", "L", *"start"],
}


def said(entry_id: str, role: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"id": entry_id, "message": {"role": role, "content": [{"type": "text", "text": text}]}, **fields}


@pytest.fixture
def tour(write: Callable[..., Path]) -> Path:
    """A session with something of everything; the leaf is the label entry below `a5`."""
    long = "rewrite the parser so that it reads a line at a time, and keep the old one beside it until the tests agree"
    call = {"type": "toolCall", "id": "t1", "name": "read", "arguments": {"path": "/src/parser.py", "limit": 80}}
    made = {"role": "assistant", "content": [call], "stopReason": "toolUse"}
    result = {"role": "toolResult", "toolCallId": "t1", "toolName": "read", "content": "…"}
    return write(
        {"id": "m1", "type": "model_change", "model": "acme/m-1"},
        said("u1", "user", long),
        {"id": "a1", "message": made},
        {"id": "r1", "message": result},
        said("a2", "assistant", "The parser reads lines now."),
        said("u2", "user", "日本語の識別子も読めますか？ 👩‍🚀"),
        said("a3", "assistant", "はい、読めます。"),
        {"id": "s1", "type": "branch_summary", "parentId": "a2", "summary": "tried names\nin Japanese"},
        said("u3", "user", "what about tabs?"),
        said("a4", "assistant", "[bold]They[/bold] are spaces\tnow."),
        {"id": "k1", "type": "compaction", "summary": "s", "tokensBefore": 31_600, "firstKeptEntryId": "a2"},
        said("u4", "user", "thanks"),
        said("u5", "user", "and the docs?", parentId="u3"),
        said("a5", "assistant", "Written."),
        {"id": "l1", "type": "label", "targetId": "u3", "label": "the question that took a whole afternoon"},
        id="tour-of-the-selector",
    )


def check(name: str, lines: list[str]) -> None:
    """Compare with the file; one that is not there is written, to be looked at."""
    path = SCREENS / f"{name}.txt"
    text = "".join(line.rstrip() + "\n" for line in lines)
    if not path.exists():
        path.write_text(text, encoding="utf-8")
        pytest.fail(f"{path.name} was written")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "width"), [*product(SHOWN, (40, 80, 120))])
async def test_a_screen_looks_as_it_did(name: str, width: int, tour: Path, open_selector: Any) -> None:
    """U-20..U-4D, U-66, U-69, U-6A."""
    async with open_selector(tour, width, 18) as on:
        await on.press("alt+a", "home", *["down"] * 10, "alt+d", *SHOWN[name])
        check(f"{name}-{width}", on.lines)


async def test_the_tree_draws_the_rows_that_are_printed(tour: Path, open_selector: Any) -> None:
    """U-26, U-30: cut to the room there is, one column less beside a scrollbar."""
    async with open_selector(tour) as on:
        model = on.model
        for width, (height, bar) in product((20, 21, 26, 40, 79, 80, 120), ((24, 0), (8, 1))):
            await on.resize(width, height)
            top = on.view.scroll_offset.y
            for line, row in zip(on.rows, range(top, len(model.rows.ids)), strict=False):
                label = model.labels.get(model.rows.ids[row])
                text = model.text_of(row) or ""
                drawn = render_row(model.rows, row, text, label, width=width - bar)
                if row == model.row:
                    drawn = "›" + drawn[1:]
                assert line[: len(drawn)] == drawn
                assert wcswidth(line) <= width


async def test_after_a_resize_everything_fits_and_the_selection_is_in_view(tour: Path, open_selector: Any) -> None:
    """U-26, U-65: smaller and larger."""
    async with open_selector(tour) as on:
        for width, height in ((40, 10), (20, 6), (33, 5), (120, 40), (20, 24), (80, 24)):
            await on.resize(width, height)
            assert (len(on.lines), {wcswidth(line) for line in on.lines}) == (height, {width})
            assert sum(line.startswith("›") for line in on.rows) == 1
            assert on.foot.startswith(f"({on.model.row + 1}/")


async def test_after_a_resize_the_footer_has_the_room_there_is(tour: Path, open_selector: Any) -> None:
    """U-66."""
    async with open_selector(tour, 20) as on:
        await on.resize(80, 24)
        assert on.foot.endswith("[default]  F1 help")


async def test_help_leaves_the_selected_row_and_the_footer_on_the_screen(tour: Path, open_selector: Any) -> None:
    """U-65, U-66."""
    async with open_selector(tour, 40, 18) as on:
        await on.press("f1")
        assert on.foot.startswith("(7/12)")
        assert sum(line.startswith("›") for line in on.rows) == 1


@pytest.mark.parametrize(("width", "lines"), [(200, 7), (78, 7), (76, 13), (38, 13)])
def test_help_fits_the_terminal(width: int, lines: int) -> None:
    text = help_text(width)
    assert len(text.splitlines()) == lines
    assert max(map(cell_width, text.splitlines())) <= width


async def test_nothing_is_read_as_markup(write: Callable[..., Path], open_selector: Any) -> None:
    """In title, label, text, query and reason."""
    label = {"id": "l1", "type": "label", "targetId": "u1", "label": "[red]l[/]"}
    name = {"id": "i1", "type": "session_info", "name": "[b]name[/b]"}
    async with open_selector(write(said("u1", "user", "[/x][i]text[/i]"), label, name)) as on:
        assert on.lines[0].strip() == "[b]name[/b]"
        await on.press("home")
        assert "› • [[red]l[/]] user: [/x][i]text[/i]" in on.rows
        await on.type("[b][/b]")
        assert "“[b][/b]”" in on.text
        assert "search: [b][/b]" in on.foot


async def test_a_session_without_a_name_is_called_by_its_id(tour: Path, open_selector: Any) -> None:
    async with open_selector(tour) as on:
        assert on.lines[0].strip() == "tour-of-the-selector"


async def test_a_line_is_as_wide_by_its_own_count_as_by_the_terminal_s(
    write: Callable[..., Path], open_selector: Any
) -> None:
    """U-26, case 72."""
    async with open_selector(write(said("u1", "user", "🇩 half a flag"))) as on:
        assert cell_width(on.lines[1]) == 80


async def test_a_search_among_few_rows_brings_what_it_selects_into_view(
    write: Callable[..., Path], open_selector: Any
) -> None:
    """U-5C, U-65: with a subtree folded, all rows were on the screen; now there are more."""
    turns = [said(f"n{number:02}", "user", f"turn {number:02}") for number in range(50)]
    records = [
        said("u1", "user", "top"),
        said("u2", "user", "aside"),
        *turns,
        said("u3", "user", "end", parentId="u1"),
    ]
    async with open_selector(write(*records), 60, 12) as on:
        await on.press("end", "ctrl+left", "ctrl+left")
        assert [line for line in on.rows if line] == ["  • user: top", "  ├─ • user: end", "› └─ ▸ user: aside"]
        await on.type("4")
        assert on.selected == "n49"
        assert any(line.startswith("›") and "turn 49" in line for line in on.rows)


@pytest.mark.parametrize(("width", "height"), [(20, 8), (40, 12)])
async def test_all_the_help_can_be_read_on_a_small_terminal(
    width: int, height: int, tour: Path, open_selector: Any
) -> None:
    """Issue 4, widths from 20 columns up: F1 turns its pages, and takes it away after the last one."""
    read = []
    async with open_selector(tour, width, height) as on:
        await on.press("f1")
        shown = on.selector.query_one("#help")
        while shown.display:
            read += on.lines[shown.region.y : shown.region.bottom]
            await on.press("f1")
        assert not shown.display
    words = " ".join(read)
    assert all(word in words for word in ("move", "Home", "fold", "Alt+Enter", "label", "search", "straight"))


async def test_a_label_has_the_room_of_the_help(tour: Path, open_selector: Any) -> None:
    """U-63, U-66: on a small terminal the row and the footer stay."""
    async with open_selector(tour, 20, 8) as on:
        await on.press("f1", "L")
        assert on.foot.startswith("(7/12)")
        assert sum(line.startswith("›") for line in on.rows) == 1


async def test_a_long_name_is_cut_in_the_title(write: Callable[..., Path], open_selector: Any) -> None:
    name = {"id": "i1", "type": "session_info", "name": "name of-many-words-without-a-blank"}
    async with open_selector(write(name), 20, 8) as on:
        assert on.lines[0].strip().startswith("name of-many-wo")
