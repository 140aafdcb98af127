"""The session picker: which session to open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import OptionList

from sessiontree.app.host.picker_app import PickerApp


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

    async def picking(directory: Path, steps: Any) -> Path | None:
        app = PickerApp(directory)
        async with app.run_test(size=(80, 20)) as pilot:
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


async def test_the_arrows_move(three: Path, picking: Any) -> None:
    """Issue 4."""

    async def steps(on: Picking) -> None:
        first = on.options.highlighted
        await on.press("down")
        assert on.options.highlighted != first
        await on.press("up")
        assert on.options.highlighted == first

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
