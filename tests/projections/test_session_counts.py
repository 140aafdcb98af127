"""The name and the counts of one session in a list (design D6)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import AbortController, AbortError, SessionInfo, SessionRewrittenError
from sessiontree.eventstore.catalogue import catalogue
from sessiontree.projections import listing
from sessiontree.projections.projector import Projector

Factory = Callable[..., Any]
Fields = dict[str, Any]

USER: Fields = {"type": "message", "message": {"role": "user", "content": "q"}}
LABEL: Fields = {"type": "label", "targetId": "e1", "label": "x"}


@pytest.fixture
def listed(tmp_path: Path) -> Callable[..., Any]:
    """Writes a session of these entries and returns its row, not counted yet."""

    async def write(entries: list[Fields]) -> SessionInfo:
        header = {"type": "session", "version": 3, "id": "s", "cwd": "/p", "timestamp": "2026-01-05T10:00:00.000Z"}
        text = "".join(json.dumps(record) + "\n" for record in [header, *entries])
        (tmp_path / "session.jsonl").write_text(text, encoding="utf-8")
        [info] = await catalogue(tmp_path, cwd=None, known={}, progress=None, signal=None)
        return info

    return write


async def test_messages_and_ends_of_branches_are_counted(listed: Factory, chain: Factory) -> None:
    """T-27, F-87: an id that stands twice counts once, roots without children are branches too."""
    entries = [
        *chain(USER, LABEL, USER, {"type": "session_info", "name": " name "}),
        *chain(USER, first=5, parent="e1"),
        *chain(USER, first=6, parent="ghost"),
        *chain(USER, first=5, parent="e2"),
    ]
    counted = await listing.count(await listed(entries))
    assert (counted.name, counted.message_count, counted.branch_count) == ("name", 4, 3)
    assert counted.fault_count == 2


async def test_a_session_that_is_replaced_while_it_is_read_is_marked(
    listed: Factory, chain: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged file in a list is never fatal."""
    info = await listed(chain(USER))

    async def replaced(*_: object) -> None:
        raise SessionRewrittenError(info.path, "was replaced by another program")

    monkeypatch.setattr(Projector, "catch_up", replaced)
    counted = await listing.count(info)
    assert (counted.message_count, "was replaced" in (counted.fault or "")) == (None, True)


async def test_counting_lets_others_run_and_stops_when_the_signal_is_aborted(
    listed: Factory, chain: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D6, D8."""
    info = await listed(chain(*[USER] * 5000))
    monkeypatch.setattr("sessiontree.eventstore.turns._TURN", -1.0)
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(count_turns())
    counted = await listing.count(info)
    task.cancel()
    assert (counted.message_count, counted.branch_count) == (5000, 1)
    assert turns >= 5
    controller = AbortController()
    controller.abort("enough")
    with pytest.raises(AbortError):
        await listing.count(info, controller.signal)
