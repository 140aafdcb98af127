"""How the selector ends: with what was chosen, or with nothing (U-61, U-62, U-70, U-74)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionManager
from sessiontree.app.selector.tree_app import TreeApp
from sessiontree.app.tree_filter import FilterMode


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        ("enter", ("u3", False, True)),
        ("shift+enter", ("u3", True, True)),
        ("alt+enter", ("u3", True, True)),
        ("ctrl+s", ("u3", True, True)),
        ("up enter", ("a2", False, False)),
        ("up shift+enter", ("a2", True, False)),
        ("up alt+enter", ("a2", True, False)),
        ("c o m m i t enter", ("u2", False, False)),
        ("escape", None),
        ("ctrl+c", None),
        ("x ctrl+c", None),
        ("f1 ctrl+c", None),
    ],
)
async def test_a_key_ends_the_selector(
    keys: str, chosen: tuple[str, bool, bool] | None, talk: Path, open_selector: Any
) -> None:
    """U-61, U-62, U-70: Enter chooses, with Shift or Alt a summary is asked for; Escape and Ctrl+C choose nothing."""
    before = talk.read_bytes()
    async with open_selector(talk) as on:
        await on.press(*keys.split())
        assert on.host.chosen == [chosen]
    assert talk.read_bytes() == before


async def test_the_row_that_stands_for_a_hidden_leaf_is_the_leaf(talk: Path, open_selector: Any) -> None:
    """U-70 as settled."""
    async with await SessionManager.open(talk) as session:
        await session.append_thinking_level_change("low")
    async with open_selector(talk) as on:
        await on.press("enter")
        assert on.host.chosen == [("u3", False, True)]


@pytest.mark.parametrize(("keys", "chosen"), [(["up", "enter"], "a2"), (["enter"], "u3"), (["escape"], None)])
async def test_the_selector_alone_ends_with_an_id(keys: list[str], chosen: str | None, talk: Path) -> None:
    async with await SessionManager.open(talk) as session:
        app = TreeApp(session, FilterMode.DEFAULT, "")
        async with app.run_test() as pilot:
            await app.workers.wait_for_complete()
            await pilot.press(*keys)
        assert (app.return_value, app.return_code) == (chosen, 0)


async def test_the_selector_alone_takes_a_filter_and_a_query_and_records_labels(talk: Path) -> None:
    """U-57, U-63."""
    async with await SessionManager.open(talk) as session:
        app = TreeApp(session, FilterMode.USER_ONLY, "tests")
        async with app.run_test() as pilot:
            await app.workers.wait_for_complete()
            for key in ("escape", "L", "x", "enter", "enter"):
                await pilot.press(key)
        assert (app.return_value, session.labels["u1"]) == ("u1", "x")
