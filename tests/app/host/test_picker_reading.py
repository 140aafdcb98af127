"""The session picker while it reads, and what it gives back to its program."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import OptionList

from sessiontree import list_sessions
from sessiontree.app.host.picker_app import PickerApp, pick_session


@pytest.fixture
def two(write: Callable[..., Path]) -> Path:
    """A directory with `alpha` and `beta`."""
    for name in ("alpha", "beta"):
        path = write({"id": "s1", "type": "session_info", "name": name}, name=f"{name}.jsonl", id=f"{name}-0000")
    return path.parent


async def test_whoever_leaves_while_it_reads_picks_nothing(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 4: nobody has to wait."""

    async def endless(*args: Any, **options: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("sessiontree.app.host.picker_screen.list_sessions", endless)
    app = PickerApp(two)
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press("enter", "escape")
    assert (app.return_value, app.return_code) == (None, 0)


async def test_the_program_gives_back_what_was_picked(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 4."""
    run_async = PickerApp.run_async

    async def pick(pilot: Any) -> None:
        await pilot.app.workers.wait_for_complete()
        await pilot.press(*"beta", "enter")

    monkeypatch.setattr(PickerApp, "run_async", lambda app: run_async(app, headless=True, auto_pilot=pick))
    assert await pick_session(two) == two / "beta.jsonl"


async def test_what_was_typed_while_it_read_is_searched(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 4: list with search."""
    go_on = asyncio.Event()

    async def slow(*args: Any, **options: Any) -> Any:
        await go_on.wait()
        return await list_sessions(*args, **options)

    monkeypatch.setattr("sessiontree.app.host.picker_screen.list_sessions", slow)
    app = PickerApp(two)
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press(*"beta")
        go_on.set()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.screen.query_one(OptionList).option_count == 1


async def test_the_list_is_there_before_the_names_are_looked_up(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 4: what is selected stays so when a session gets its name, and the search finds it by that."""
    go_on = asyncio.Event()

    async def slow(directory: Path, *, limit: int) -> Any:
        if limit:
            await go_on.wait()
        return await list_sessions(directory, limit=limit)

    monkeypatch.setattr("sessiontree.app.host.picker_screen.list_sessions", slow)
    app = PickerApp(two)
    async with app.run_test(size=(80, 20)) as pilot:
        options = app.screen.query_one(OptionList)
        while not options.option_count:
            await pilot.pause()
        await pilot.press("down")
        before = [str(option.prompt)[:8] for option in options.options]
        go_on.set()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert (before, options.highlighted) == (["beta-000", "alpha-00"], 1)
        assert [str(option.prompt)[:6] for option in options.options] == ["beta  ", "alpha "]
