"""The tree is there at once; its texts come in the background (D15)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore.errors import SessionFileError
from sessiontree.projections.entry_reader import EntryReader

READ = EntryReader.read


class Gate:
    """Stands for `EntryReader.read`: lets so many reads pass, then holds them, or fails."""

    def __init__(self, passes: int, error: Exception | None = None) -> None:
        self.opened = asyncio.Event()
        self.reached = asyncio.Event()
        self._passes = passes
        self._error = error

    async def read(self, reader: EntryReader, *args: Any, **options: Any) -> Any:
        self._passes -= 1
        if self._passes < 0:
            self.reached.set()
            if self._error is not None:
                raise self._error
            await self.opened.wait()
        return await READ(reader, *args, **options)


@pytest.fixture
async def gate(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Gate]:
    """Sets a gate before the reads of entries."""

    def gate(passes: int = 0, error: Exception | None = None) -> Gate:
        made = Gate(passes, error)
        monkeypatch.setattr(EntryReader, "read", lambda self, *args, **options: made.read(self, *args, **options))
        return made

    return gate


async def reached(gate: Gate) -> None:
    async with asyncio.timeout(20):
        await gate.reached.wait()


async def test_before_its_texts_come_the_tree_is_drawn_and_can_be_used(
    talk: Path, open_selector: Any, gate: Callable[..., Gate]
) -> None:
    """D15: rows, connectors, labels, filters, movement; a text that is not read yet is `…`."""
    held = gate()
    async with open_selector(talk, settle=False) as on:
        await reached(held)
        await on.press("up")
        assert on.rows[:7] == ["  • …", "  • …", "  • …", "› • [green] …", "  ├─ • …", "  └─ …", "     …"]
        assert on.foot == "(4/7)  [default]  reading 0 %  F1 help"
        await on.press("alt+u", "end")
        assert on.rows[:3] == ["  • …", "  ├─ • …", "› └─ …"]
        held.opened.set()
        await on.settle()
        assert on.rows[:3] == [
            "  • user: do the tests pass?",
            "  ├─ • user: wait, look again",
            "› └─ user: then commit",
        ]
        await on.press("alt+d")
        assert on.model.rows.ids == ["u1", "r1", "a2", "u3", "u2", "a3"], "the silent turn is known"


async def test_a_search_that_was_typed_before_the_texts_came_finds_them(
    talk: Path, open_selector: Any, gate: Callable[..., Gate]
) -> None:
    """U-58: its query stays."""
    held = gate()
    async with open_selector(talk, settle=False) as on:
        await reached(held)
        await on.type("commit")
        assert on.model.rows.ids == []
        held.opened.set()
        await on.settle()
        assert (on.model.query, on.rows[0]) == ("commit", "› └─ user: then commit".replace("└─ ", ""))


async def test_a_selector_that_is_closed_while_it_reads_ends(
    talk: Path, open_selector: Any, gate: Callable[..., Gate]
) -> None:
    """U-62: nothing is waited for."""
    held = gate()
    async with open_selector(talk, settle=False) as on:
        await reached(held)
        await on.press("escape")
        assert on.host.chosen == [None]
        assert len(on.host.workers) == 0
        held.opened.set()
        assert await on.session.get_entry("u1")


@pytest.mark.parametrize("passes", [0, 1])
async def test_an_error_while_reading_is_said_and_the_tree_stays(
    passes: int, talk: Path, open_selector: Any, gate: Callable[..., Gate]
) -> None:
    """With what was read before it; case 67: no character that a terminal obeys."""
    gate(passes, SessionFileError("se\x1b[31mssion", OSError(5, "Input/output error")))
    async with open_selector(talk) as on:
        (notice,) = on.host._notifications
        assert (notice.severity, notice.message.isprintable()) == ("error", True)
        assert "Input/output error" in notice.message
        await on.press("up")
        assert on.rows[3 - passes] == ("› • [green] assistant: They pass." if passes else "› • [green] …")
        await on.press("enter")
        assert on.host.chosen == [("a2", False, False)]


async def test_what_is_read_is_drawn_now_and_then_while_the_rest_is_read(
    write: Callable[..., Path], open_selector: Any, gate: Callable[..., Gate]
) -> None:
    """D15: every 16 slices of 256 entries, without a key."""
    path = write(*({"id": f"n{n:04}", "message": {"role": "user", "content": f"turn {n}"}} for n in range(5000)))
    first = gate(1)
    async with open_selector(path, settle=False) as on:
        await reached(first)
        await on.press("home")
        assert on.rows[0] == "› • …"
        second = gate(15)
        first.opened.set()
        await reached(second)
        await on.pilot.pause()
        assert on.rows[:2] == ["› • user: turn 0", "  • user: turn 1"]
        assert None in on.model.texts
        second.opened.set()
        await on.settle()
        assert None not in on.model.texts


async def test_what_was_scrolled_to_stays_when_the_texts_come(
    chain: Path, open_selector: Any, gate: Callable[..., Gate]
) -> None:
    """The wheel was turned while the texts were read."""
    held = gate()
    async with open_selector(chain, settle=False) as on:
        await reached(held)
        on.view.scroll_to(y=10, animate=False)
        await on.pilot.pause()
        held.opened.set()
        await on.settle()
        assert on.view.scroll_offset.y == 10
