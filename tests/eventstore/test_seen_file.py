"""Whether a file is as it was seen (design D5)."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.jsonl_store import JsonlEventStore
from sessiontree.eventstore.read_file import ReadFile


async def test_a_write_that_has_only_begun_is_no_rewrite(
    session_file: Callable[..., Path],
    entry_line: Callable[..., bytes],
    open_store: Callable[..., Awaitable[JsonlEventStore]],
    read_all: Callable[..., Awaitable[list[Envelope]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D4: the system notes the time of a foreign write before the new size; growth is folded first."""
    path = session_file(entry_line("a"))
    store = await open_store(path)
    await read_all(store)
    os.utime(path, ns=(1, 1))

    def finish_the_write(_: float) -> None:
        with path.open("ab") as file:
            file.write(entry_line("b") + b"\n")
        monkeypatch.setattr("sessiontree.eventstore.seen_file.time.sleep", lambda _: None)

    monkeypatch.setattr("sessiontree.eventstore.seen_file.time.sleep", finish_the_write)
    assert await store.check()
    assert [envelope.id for envelope in await read_all(store)] == ["a", "b"]


async def test_what_is_recorded_is_answered_though_no_descriptor_is_left(
    session_file: Callable[..., Path],
    entry_line: Callable[..., bytes],
    open_store: Callable[..., Awaitable[JsonlEventStore]],
    read_all: Callable[..., Awaitable[list[Envelope]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D4, D14: after the write nothing has to be opened to answer for it."""
    path = session_file(entry_line("a"))
    store = await open_store(path)
    await read_all(store)
    store._known.file.close()

    def refuse(self: Any) -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(ReadFile, "_open", refuse)
    assert [envelope.id for envelope in (await store.append([entry_line("b")])).envelopes] == ["b"]
    empty = path.with_name("new.jsonl")
    empty.touch()
    new = await open_store(empty)
    assert [envelope.id for envelope in (await new.append([entry_line("c")])).envelopes] == ["c"]
