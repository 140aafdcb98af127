"""Progress on standard error."""

from __future__ import annotations

import asyncio
import io
import sys

import pytest

from sessiontree.app import progress
from sessiontree.app.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that the progress sees, in a list of one."""
    now = [100.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    return now


async def test_the_first_second_shows_nothing(monkeypatch: pytest.MonkeyPatch, now: list[float]) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    async with Progress("reading") as shown:
        now[0] += 0.99
        shown(1, 2)
    assert terminal.getvalue() == ""


async def test_counts_are_shown_on_one_line_and_erased(monkeypatch: pytest.MonkeyPatch, now: list[float]) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    async with Progress("reading") as shown:
        for step in range(3):
            now[0] += 1.0
            shown(1000 * step, 2000)
            shown(1000 * step, 2000)
    drawn = terminal.getvalue().split("\r\x1b[K")
    assert drawn == ["", "reading … 0 of 2,000", "reading … 1,000 of 2,000", "reading … 2,000 of 2,000", ""]


async def test_the_line_makes_room_for_what_is_printed_and_comes_again(
    monkeypatch: pytest.MonkeyPatch, now: list[float]
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    async with Progress("searching") as shown:
        shown.erase()
        now[0] += 2.0
        shown(1, 2)
        shown.erase()
        shown.erase()
        shown(2, 2)
    assert terminal.getvalue().split("\r\x1b[K") == ["", "searching … 1 of 2", "", "searching … 2 of 2", ""]


async def test_the_time_is_shown_where_nothing_is_counted(monkeypatch: pytest.MonkeyPatch, now: list[float]) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "_AGAIN_AFTER", 0.0)
    async with Progress("reading"):
        now[0] += 7.0
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert terminal.getvalue().startswith("\r\x1b[Kreading … 7 s")
    assert terminal.getvalue().endswith("\r\x1b[K")


async def test_the_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, now: list[float]) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "10")
    async with Progress("reading") as shown:
        now[0] += 2.0
        shown(1, 2)
    assert terminal.getvalue() == "\r\x1b[Kreading …\r\x1b[K"


async def test_nothing_is_shown_where_no_terminal_is(monkeypatch: pytest.MonkeyPatch, now: list[float]) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    async with Progress("reading") as shown:
        now[0] += 9.0
        shown(1, 2)
    assert pipe.getvalue() == ""
