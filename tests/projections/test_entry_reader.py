"""Bodies of entries: read when asked for, checked against the tree, cached within a bound (design D2, D6)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from sessiontree import AbortController, AbortError, SessionRewrittenError
from sessiontree.eventstore.header import make_header
from sessiontree.eventstore.memory_store import MemoryEventStore
from sessiontree.projections import entry_reader
from sessiontree.projections.entry_reader import EntryReader
from sessiontree.projections.projector import Projector

Factory = Callable[..., Any]
Fields = dict[str, Any]
USER: Fields = {"type": "message", "message": {"role": "user", "content": "q"}}


class Shelf(MemoryEventStore):
    """A store whose lines can be changed behind the reader's back. `asked`: what was read, in turn."""

    must_wait = False

    def __init__(self, entries: Sequence[Fields]) -> None:
        super().__init__(make_header("s", "", ""), [json.dumps(entry).encode() for entry in entries])
        self.asked: list[list[int]] = []

    def replace(self, seq: int, **fields: Any) -> None:
        entry = json.loads(self._lines[seq - 1])
        self._lines[seq - 1] = json.dumps({**entry, **fields}).encode()

    def read_lines_now(self, seqs: Sequence[int]) -> Any:
        if self.must_wait:
            return None
        self.asked.append(list(seqs))
        return super().read_lines_now(seqs)

    async def read_lines(self, seqs: Sequence[int]) -> Any:
        await asyncio.sleep(0)
        self.asked.append(list(seqs))
        return super().read_lines_now(seqs)


async def reader_of(entries: Sequence[Fields]) -> tuple[EntryReader, Shelf]:
    shelf = Shelf(entries)
    projector = Projector(shelf)
    await projector.catch_up()
    return EntryReader(shelf, projector.tree), shelf


async def test_entries_come_by_number_in_whatever_order_they_are_asked_for(chain: Factory) -> None:
    """D2."""
    reader, _ = await reader_of(chain(USER, {"type": "new", "x": 1}, USER))
    found = await reader.read([3, 1, 3, 2])
    assert {seq: entry.id for seq, entry in found.items()} == {1: "e1", 2: "e2", 3: "e3"}
    assert found[2].type == "new"
    assert await reader.read([]) == {}


async def test_an_entry_that_was_read_is_not_read_again(chain: Factory) -> None:
    """D2: the same object."""
    reader, shelf = await reader_of(chain(USER, USER, USER))
    first = await reader.read([1, 2])
    again = await reader.read([2, 3])
    assert shelf.asked == [[1, 2], [3]]
    assert again[2] is first[2]


async def test_where_the_disk_has_to_be_waited_for_it_is(chain: Factory) -> None:
    """D2."""
    reader, shelf = await reader_of(chain(USER, USER))
    shelf.must_wait = True
    assert [entry.id for entry in (await reader.read([1, 2])).values()] == ["e1", "e2"]
    assert shelf.asked == [[1, 2]]


async def test_the_cache_is_bounded_in_bytes_and_drops_what_was_not_asked_for_longest(
    chain: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D2."""
    reader, shelf = await reader_of(chain(*[USER] * 4))
    size = len(shelf.read_lines_now([1])[0])
    monkeypatch.setattr(entry_reader, "CACHE_BYTES", 2 * size + 1)
    await reader.read([1])
    await reader.read([2])
    await reader.read([1])
    await reader.read([3])
    shelf.asked.clear()
    await reader.read([1, 3])
    assert shelf.asked == []
    await reader.read([2])
    assert shelf.asked == [[2]]


async def test_an_entry_that_is_read_twice_at_once_is_counted_once(
    chain: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D2: the cache does not shrink by it."""
    reader, shelf = await reader_of(chain(*[USER] * 3))
    monkeypatch.setattr(entry_reader, "CACHE_BYTES", 2 * len(shelf.read_lines_now([1])[0]) + 1)
    shelf.must_wait = True
    await asyncio.gather(*(reader.read([1, 1]) for _ in range(3)))
    await reader.read([2])
    shelf.asked.clear()
    await reader.read([1, 2])
    assert shelf.asked == []


async def test_an_entry_larger_than_the_cache_is_read_all_the_same(
    chain: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D2."""
    monkeypatch.setattr(entry_reader, "CACHE_BYTES", 1)
    reader, _ = await reader_of(chain(USER, USER))
    assert len(await reader.read([1, 2])) == 2


@pytest.mark.parametrize("changed", [{"id": "e9"}, {"type": "new"}, {"parentId": "e9"}, {"parentId": None}])
async def test_another_entry_in_its_place_means_that_the_file_was_rewritten(chain: Factory, changed: Fields) -> None:
    """D2: id, parent and type are checked."""
    reader, shelf = await reader_of(chain(USER, USER, USER))
    shelf.replace(2, **changed)
    with pytest.raises(SessionRewrittenError):
        await reader.read([1, 2])
    assert [entry.id for entry in (await reader.read([1, 3])).values()] == ["e1", "e3"]


async def test_what_is_no_entry_means_that_the_file_was_rewritten(chain: Factory) -> None:
    """D2."""
    reader, shelf = await reader_of(chain(USER, USER))
    shelf._lines[1] = shelf._lines[1][:-5]
    with pytest.raises(SessionRewrittenError):
        await reader.read([2])


async def test_odd_parents_are_no_rewriting(chain: Factory) -> None:
    """D2, T-27, F-87: orphans, own parents, cut cycles, parents that are no string, lines whose id stands again."""
    entries = [
        *chain(USER, parent="ghost"),
        *chain(USER, first=2, parent="e2"),
        *chain(USER, first=3, parent="e4"),
        *chain(USER, first=4, parent="e3"),
        {**USER, "id": "e5", "parentId": 7, "timestamp": 0},
        *chain(USER, first=6, parent="e1"),
        *chain(USER, first=7, parent="e6"),
        *chain(USER, first=6, parent="e2"),
    ]
    for settle_first in (False, True):
        reader, _ = await reader_of(entries)
        if settle_first:
            reader._tree.settle()
        assert len(await reader.read(range(1, 9))) == 8


async def test_other_tasks_run_between_entries(chain: Factory, monkeypatch: pytest.MonkeyPatch) -> None:
    """D6: a turn may end after every entry, however many are read at once."""
    monkeypatch.setattr("sessiontree.eventstore.turns._TURN", -1.0)
    reader, _ = await reader_of(chain(*[USER] * 10))
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(count_turns())
    await reader.read(range(1, 11))
    task.cancel()
    assert turns >= 9


async def test_reading_stops_when_the_signal_is_aborted(chain: Factory) -> None:
    """D8: what is in the cache is no exception."""
    reader, _ = await reader_of(chain(USER, USER))
    await reader.read([1])
    controller = AbortController()
    controller.abort("enough")
    for seq in (1, 2):
        with pytest.raises(AbortError):
            await reader.read([seq], signal=controller.signal)
