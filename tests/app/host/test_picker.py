"""The session picker: which session to open."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import OptionList

from sessiontree.app.host.picker_app import PickerApp
from sessiontree.app.session_table import age_text

ONE = {"role": "user", "content": "one"}


@pytest.fixture
def three(write: Callable[..., Path], tmp_path: Path) -> Path:
    """A directory with `alpha`, `beta` and a damaged file."""
    for name in ("alpha", "beta"):
        records = [
            {"id": "u1", "message": {"role": "user", "content": name}},
            {"id": "s1", "type": "session_info", "name": name},
        ]
        write(*records, name=f"{name}.jsonl", id=f"{name}-0000")
    (tmp_path / "sessions" / "bad.jsonl").write_text("no session\n")
    return tmp_path / "sessions"


class Picking:
    """The picker on the screen."""

    def __init__(self, app: PickerApp, pilot: Any) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def options(self) -> OptionList:
        return self.app.screen.query_one(OptionList)

    @property
    def lines(self) -> list[str]:
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        for _ in range(4):
            await self.pilot.pause()


@pytest.fixture
def picking() -> Any:
    """Runs the steps of a test with the picker of a directory; returns what was picked."""

    async def picking(directory: Path, steps: Any, width: int = 80) -> Path | None:
        app = PickerApp(directory)
        async with app.run_test(size=(width, 20)) as pilot:
            await pilot.pause()
            await app.workers.wait_for_complete()
            await pilot.pause()
            await steps(Picking(app, pilot))
        return app.return_value

    return picking


async def test_a_search_finds_the_session_that_is_picked(three: Path, picking: Any) -> None:
    """Issue 4: search, age, branches; the damaged file is marked."""

    async def steps(on: Picking) -> None:
        assert any("damaged" in line and "bad.jsonl" in line for line in on.lines)
        assert "3 of 3 sessions" in on.lines[-1]
        await on.press(*"beta")
        assert "1 of 3 sessions" in on.lines[-1]
        await on.press("enter")

    assert await picking(three, steps) == three / "beta.jsonl"


async def test_a_damaged_file_cannot_be_picked(three: Path, picking: Any) -> None:
    """Issue 4; an empty result has nothing to pick either."""

    async def steps(on: Picking) -> None:
        await on.press(*"damaged", "enter")
        await on.press("z", "z", "down", "up", "enter")
        assert on.app.is_running
        await on.press("escape")
        assert "3 of 3 sessions" in on.lines[-1]
        await on.press("escape")

    assert await picking(three, steps) is None


async def test_the_arrows_move_and_pass_over_damaged_files(three: Path, picking: Any) -> None:
    """Issue 4: damaged files come last."""

    async def steps(on: Picking) -> None:
        assert [option.disabled for option in on.options.options] == [False, False, True]
        for key, at in [("", 0), ("down", 1), ("up", 0), ("down", 1), ("down", 0)]:
            await on.press(*([key] if key else []))
            assert on.options.highlighted == at

    assert await picking(three, steps) is None


async def test_a_click_picks(three: Path, picking: Any) -> None:
    """Issue 4: the mouse works."""

    async def steps(on: Picking) -> None:
        [row] = [at for at, line in enumerate(on.lines) if "alpha" in line]
        await on.pilot.click(offset=(5, row))
        await on.press()

    assert await picking(three, steps) == three / "alpha.jsonl"


async def test_ctrl_c_leaves_without_a_session(three: Path, picking: Any) -> None:
    """Issue 4."""

    async def steps(on: Picking) -> None:
        await on.press("x", "ctrl+c")

    assert await picking(three, steps) is None


async def test_a_directory_that_cannot_be_read_is_told(tmp_path: Path, picking: Any) -> None:
    """Issue 4."""
    place = tmp_path / "file"
    place.write_text("")

    async def steps(on: Picking) -> None:
        assert str(place.name) in on.lines[-1]
        assert "reading" not in on.lines[-1]

    assert await picking(place, steps) is None


async def test_a_line_tells_name_age_branches_and_directory(write: Callable[..., Path], picking: Any) -> None:
    """Issue 4; a session without a name is told by the beginning of its id."""
    path = write({"id": "u1", "message": ONE}, {"id": "u2", "message": ONE, "parentId": None}, id="abcdefghij")
    named = [{"id": "u1", "message": ONE}, {"id": "s1", "type": "session_info", "name": "odd\x1b[31m\n[b]name[/b]"}]
    write(*named, name="named.jsonl", id="second")
    write(name="empty.jsonl", id="nothing", cwd=os.environ["HOME"])

    async def steps(on: Picking) -> None:
        shown = {str(option.prompt) for option in on.options.options}
        age = age_text(datetime(2026, 1, 5, 10, tzinfo=UTC), datetime.now(UTC))
        assert f"abcdefgh  {age}  2 branches  /proj/demo" in shown
        assert any(line.startswith("odd[31m [b]name[/b]  ") for line in shown)
        assert "nothing  now  0 branches  ~" in shown
        assert any("odd[31m [b]name[/b]" in line for line in on.lines)

    assert await picking(path.parent, steps) is None


async def test_the_newest_activity_comes_first_and_is_chosen(write: Callable[..., Path], picking: Any) -> None:
    """F-92."""
    for year in (2022, 2024, 2023):
        message = {"id": "u1", "message": ONE, "timestamp": f"{year}-01-05T10:00:00.000Z"}
        path = write(message, name=f"{year}.jsonl", id=f"of-{year}")

    async def steps(on: Picking) -> None:
        assert [str(option.prompt)[:7] for option in on.options.options] == ["of-2024", "of-2023", "of-2022"]
        await on.press("enter")

    picked = await picking(path.parent, steps)
    assert picked.name == "2024.jsonl"


async def test_a_search_takes_all_its_words_in_any_case(three: Path, picking: Any) -> None:
    """U-59: as in the tree."""

    async def steps(on: Picking) -> None:
        await on.press(*"BRANCH", "space", *"Alph")
        assert "1 of 3" in on.lines[-1]
        await on.press("enter")

    assert await picking(three, steps) == three / "alpha.jsonl"


async def test_a_click_on_a_damaged_file_picks_nothing(three: Path, picking: Any) -> None:
    """Issue 4."""

    async def steps(on: Picking) -> None:
        [row] = [at for at, line in enumerate(on.lines) if "bad.jsonl" in line]
        await on.pilot.click(offset=(5, row))
        await on.press()
        assert on.app.is_running

    assert await picking(three, steps) is None


@pytest.mark.parametrize("there", [True, False])
async def test_an_empty_directory_has_nothing_to_pick(there: bool, tmp_path: Path, picking: Any) -> None:
    """Issue 4; a directory that is not there yet is empty too."""
    place = tmp_path / "empty"
    if there:
        place.mkdir()

    async def steps(on: Picking) -> None:
        assert "0 of 0 sessions" in on.lines[-1]
        await on.press("enter", "down", "up", "enter")
        assert on.app.is_running
        await on.press("escape")
        assert not on.app.is_running

    assert await picking(place, steps) is None


@pytest.mark.parametrize("width", [400, 40])
async def test_a_directory_without_permission_is_told(
    width: int, three: Path, picking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 4: by a refusing system, because tests may run as root."""

    def refuse(directory: Path) -> None:
        raise PermissionError(13, "Permission denied", str(directory))

    monkeypatch.setattr("sessiontree.eventstore.catalogue.session_paths", refuse)

    async def steps(on: Picking) -> None:
        assert "Permission denied" in on.lines[-1]
        await on.press("enter")
        assert on.app.is_running

    assert await picking(three, steps, width) is None


async def test_nothing_that_a_terminal_obeys_is_drawn(tmp_path: Path, picking: Any) -> None:
    """Case 67, D15."""
    place = tmp_path / "odd\x1b[31m"
    place.mkdir()

    async def steps(on: Picking) -> None:
        assert all(line.isprintable() for line in on.lines)

    await picking(place, steps, 400)


@pytest.mark.parametrize("name", ["   ", "\x1b"])
async def test_a_blank_name_is_no_name(name: str, write: Callable[..., Path], picking: Any) -> None:
    """As `sessiontree list` shows it."""
    path = write({"id": "s1", "type": "session_info", "name": name}, id="abcdefghij")

    async def steps(on: Picking) -> None:
        assert str(on.options.options[0].prompt).startswith("abcdefgh  ")

    await picking(path.parent, steps)


async def test_a_session_takes_one_line(write: Callable[..., Path], picking: Any) -> None:
    """Issue 4: a list; widths from 20 columns up."""
    path = write({"id": "s1", "type": "session_info", "name": "long " * 40})

    async def steps(on: Picking) -> None:
        assert sum("long" in line for line in on.lines) == 1

    await picking(path.parent, steps)


@pytest.mark.parametrize("width", [20, 40])
async def test_age_branches_and_damage_stand_beside_a_long_name(
    width: int, write: Callable[..., Path], picking: Any
) -> None:
    """Issue 4: widths from 20 columns up; the reason stands before the name of the damaged file."""
    path = write({"id": "s1", "type": "session_info", "name": "漢字" * 40})
    path.with_name("long " * 20 + ".jsonl").write_text("")

    async def steps(on: Picking) -> None:
        [line] = [line for line in on.lines if "漢字" in line]
        assert (" 1 b" in line, "…  now" in line) == (width == 40, True)
        assert any("damaged  empty" in line for line in on.lines)

    await picking(path.parent, steps, width)


async def test_a_wider_terminal_shows_more_of_a_name(write: Callable[..., Path], picking: Any) -> None:
    """Issue 4: widths from 20 columns up."""
    path = write({"id": "s1", "type": "session_info", "name": "word " * 12 + "end"})

    async def steps(on: Picking) -> None:
        assert not any("end" in line for line in on.lines)
        await on.pilot.resize_terminal(120, 20)
        await on.press()
        assert any("word end  " in line for line in on.lines)

    await picking(path.parent, steps, 40)


async def test_pages_move_in_the_list(write: Callable[..., Path], picking: Any) -> None:
    """Issue 4: while the search has the keys."""
    for number in range(40):
        message = {"id": "u1", "message": ONE, "timestamp": f"2026-01-05T10:00:{59 - number:02}.000Z"}
        path = write(message, name=f"{number:02}.jsonl", id=f"id-{number:02}")

    async def steps(on: Picking) -> None:
        await on.press("pagedown")
        assert (on.options.highlighted or 0) > 10
        await on.press("pageup", "pageup")
        assert on.options.highlighted == 0

    await picking(path.parent, steps)


async def test_one_branch_is_a_branch(three: Path, picking: Any) -> None:
    async def steps(on: Picking) -> None:
        assert not any("1 branches" in line for line in on.lines)

    await picking(three, steps)


async def test_a_search_finds_every_session_by_its_name(write: Callable[..., Path], picking: Any) -> None:
    """Issue 4: list with search."""
    for number in range(51):
        name = {"id": "s1", "type": "session_info", "name": f"title {number:02}"}
        message = {"id": "u1", "message": ONE, "timestamp": f"2026-01-05T10:00:{59 - number:02}.000Z"}
        path = write(name, message, name=f"{number:02}.jsonl", id=f"id-{number:02}")

    async def steps(on: Picking) -> None:
        await on.press("t", *"itle", "space", *"50")
        assert "1 of 51" in on.lines[-1]

    await picking(path.parent, steps)
