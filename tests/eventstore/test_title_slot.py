"""The title slot of oh-my-pi, which may stand before the header."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore.errors import NotASessionError
from sessiontree.eventstore.header import find_header, is_title_slot
from sessiontree.eventstore.jsonl_store import JsonlEventStore

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Any]]]


@pytest.mark.parametrize("title", ["My title", "", "ä" * 40, 'quote " \\ \u2028'])
@pytest.mark.parametrize("source", [None, "auto", "user"])
@pytest.mark.parametrize("width", [256, 130, 400, 4096])
async def test_a_title_slot_is_folded_into_the_header(
    session_file: Callable[..., Path],
    header_line: Line,
    title_slot: Line,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    title: str,
    source: str | None,
    width: int,
) -> None:
    """F-03, F-70, F-73, X-59: of any width; an empty title takes the header's away, and so the source."""
    slot = title_slot(title, width, source=source)
    assert width != 256 or len(slot) == 255
    path = session_file(header_line(title="header title", titleSource="auto"), entry_line("a"), header=slot)
    store = await open_store(path)
    assert (store.header.title, store.header.title_source) == (title or None, source)
    assert [envelope.id for envelope in await read_all(store)] == ["a"]
    assert (store.line_number(1), store.faults) == (3, [])
    assert await store.read_lines([1]) == [entry_line("a")]


def test_a_header_title_counts_where_there_is_no_slot(header_line: Line) -> None:
    """F-73, X-59: the legacy form."""
    header = find_header(header_line(title="header title", titleSource="user"), "x", whole_file=True).header
    assert (header.title, header.title_source) == ("header title", "user")


NO_SLOTS: list[dict[str, Any]] = [
    {"type": "headline"},
    {"v": 2},
    {"v": True},
    {"v": "1"},
    {"v": None},
    {"title": 5},
    {"title": None},
    {"updatedAt": 1},
    {"updatedAt": None},
    {"pad": 5},
    {"source": "robot"},
    {"source": 1},
    {"source": []},
]


@pytest.mark.parametrize("odd", NO_SLOTS, ids=str)
async def test_what_only_resembles_a_slot_is_an_ordinary_line(
    session_file: Callable[..., Path], header_line: Line, title_slot: Line, open_store: OpenStore, odd: dict[str, Any]
) -> None:
    """F-72, F-82: and as an ordinary first record it is no header."""
    assert is_title_slot(json.loads(title_slot()))
    assert not is_title_slot(json.loads(title_slot(**odd)))
    path = session_file(header_line(), header=title_slot(**odd))
    with pytest.raises(NotASessionError):
        await open_store(path)


@pytest.mark.parametrize("value", [None, [], 5, "title", {}])
def test_no_other_json_is_a_slot(value: object) -> None:
    """F-72"""
    assert not is_title_slot(value)


async def test_a_slot_stands_on_the_first_line_only(
    session_file: Callable[..., Path],
    header_line: Line,
    title_slot: Line,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
) -> None:
    """F-03, F-70: later it is a line without an id."""
    store = await open_store(session_file(title_slot(), entry_line("a")))
    assert [envelope.id for envelope in await read_all(store)] == ["a"]
    assert [(fault.line, fault.kind) for fault in store.faults] == [(2, "no-id")]
    with pytest.raises(NotASessionError):
        await open_store(session_file(header_line(), header=b"\n" + title_slot(), name="second.jsonl"))
