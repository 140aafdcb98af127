"""Of a long path only what is shown is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import EntryNotFoundError, SessionManager
from sessiontree.projections.entry_reader import EntryReader

Write = Callable[..., Path]


def turn(number: int) -> dict[str, Any]:
    return {"id": f"n{number:03}", "message": {"role": "user", "content": f"turn {number:03}"}}


def tools(count: int) -> list[dict[str, Any]]:
    """An assistant message with so many calls, and their results."""
    calls = [
        {"type": "toolCall", "id": f"t{n}", "name": "bash", "arguments": {"command": f"run {n}"}} for n in range(count)
    ]
    results = [
        {"role": "toolResult", "toolCallId": f"t{n}", "toolName": "bash", "content": "ok"} for n in range(count)
    ]
    made = [{"role": "assistant", "content": calls}, *results]
    return [{"id": f"c{number}", "message": message} for number, message in enumerate(made)]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the entries that are read."""
    seqs: list[int] = []
    original = EntryReader.read

    async def noting(self: EntryReader, wanted: Any, **options: Any) -> Any:
        seqs.extend(wanted)
        return await original(self, wanted, **options)

    monkeypatch.setattr(EntryReader, "read", noting)
    return seqs


async def test_only_the_newest_entries_are_read_and_more_on_the_way_up(
    write: Write, show: Any, read: list[int]
) -> None:
    """Issue 4, Speed: the first frame of a session costs what it shows."""
    async with show(write(*map(turn, range(1, 201)))) as on:
        assert read == list(range(141, 201))
        assert "turn 200" in on.text
        on.conversation.scroll_home(animate=False)
        await on.pilot.pause()
        assert "140 earlier entries" in on.text
        read.clear()
        await on.press("pageup")
        assert read == list(range(81, 141))
        await on.until(lambda: "turn 140" in on.text)


@pytest.mark.parametrize("count", [1, 59, 60, 61, 90])
async def test_what_is_shown_first_is_no_result_whose_call_is_not(count: int, write: Write, show: Any) -> None:
    """U-43: however many tools a message called, each result is titled by its call."""
    async with show(write(turn(1), *tools(count), name=f"{count}.jsonl")) as on:
        await on.press("pageup")
        titles = [folded.title for folded in on.app.query("Collapsible").results()]
        assert titles == [f"\\[bash: run {number}]" for number in range(count)]


async def test_what_another_program_took_out_meanwhile_is_said(
    write: Write, show: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(self: SessionManager, ids: Any, **options: Any) -> Any:
        raise EntryNotFoundError(ids[0])

    async with show(write(*map(turn, range(1, 101)))) as on:
        monkeypatch.setattr(SessionManager, "get_entries", gone)
        on.conversation.scroll_home(animate=False)
        await on.pilot.pause()
        await on.press("pageup")
        assert on.told == ["Entry n001 not found"]
        assert "40 earlier entries" in on.text
