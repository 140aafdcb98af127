"""The projector folds batches once, catches up with its store, and reports (design D1, D6, F-81..F-87)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from sessiontree import AbortController, AbortError
from sessiontree.eventstore.header import make_header
from sessiontree.eventstore.memory_store import MemoryEventStore
from sessiontree.eventstore.report import Fault
from sessiontree.eventstore.scanner import scan_chunk
from sessiontree.eventstore.store import EntryBatch
from sessiontree.projections.projector import Projector

Factory = Callable[..., Any]
Fields = dict[str, Any]
REPLY: Fields = {"type": "message", "message": {"role": "assistant", "content": [], "usage": {"input": 1}}}


def lines_of(entries: Sequence[Fields]) -> list[bytes]:
    return [json.dumps(entry).encode() for entry in entries]


def store_of(entries: Sequence[Fields]) -> MemoryEventStore:
    return MemoryEventStore(make_header("s", "", ""), lines_of(entries))


def batch_of(entries: Sequence[Fields], first_seq: int) -> EntryBatch:
    return EntryBatch(first_seq, scan_chunk(b"".join(line + b"\n" for line in lines_of(entries)), 0, 1).envelopes)


def test_what_was_folded_before_is_passed_over(chain: Factory) -> None:
    """D1: batches may overlap; every entry counts once."""
    entries = chain(*[REPLY] * 5)
    projector = Projector(store_of(entries))
    for first, last in ((1, 2), (1, 2), (2, 4), (1, 3), (4, 4), (5, 5), (1, 5)):
        projector.apply(batch_of(entries[first - 1 : last], first))
    assert projector.position == projector.tree.last_seq == 5
    assert projector.usage.total.input == 5
    assert projector.report().faults == []


def test_each_projection_takes_one_entry_like_a_batch_of_one(chain: Factory) -> None:
    """D1: `apply` is the one-entry form of `apply_batch`."""
    label = {"type": "label", "targetId": "e1", "label": "x"}
    level = {"type": "thinking_level_change", "thinkingLevel": "low"}
    entries = chain(REPLY, label, level, {"type": "session_info", "name": "n"}, REPLY)
    one_by_one, at_once = Projector(store_of(entries)), Projector(store_of(entries))
    at_once.apply(batch_of(entries, 1))
    for seq, entry in enumerate(entries, 1):
        [envelope] = batch_of([entry], seq).envelopes
        for projection in (one_by_one.tree, one_by_one.states, one_by_one.labels, one_by_one.usage, one_by_one.name):
            projection.apply(seq, envelope)
    for one in (one_by_one, at_once):
        assert one.tree.path(5) == [1, 2, 3, 4, 5]
        assert (one.labels.by_target, one.usage.total.input, one.name.name) == ({"e1": "x"}, 2, "n")
    assert one_by_one.states.at(5) == at_once.states.at(5)


async def test_catching_up_folds_what_the_store_holds_by_now(chain: Factory) -> None:
    """D1: and again when there is more."""
    entries = chain(*[REPLY] * 3000)
    store = store_of(entries[:2500])
    projector = Projector(store)
    await projector.catch_up()
    assert projector.position == 2500
    await store.append(lines_of(entries[2500:]), expected_version=2500)
    await projector.catch_up()
    await projector.catch_up()
    assert (projector.position, projector.usage.total.input) == (3000, 3000)
    assert len(projector.tree.path(3000)) == 3000


async def test_catching_up_settles_what_is_damaged_and_lets_others_run(
    chain: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D3, D6: in steps, with turns of the loop between them."""
    monkeypatch.setattr("sessiontree.eventstore.turns._TURN", -1.0)
    projector = Projector(store_of(chain(*[REPLY] * 20_000)[::-1]))
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(count_turns())
    await projector.catch_up()
    task.cancel()
    assert projector.tree.settled
    assert turns > 3 * 20_000 / 2000
    assert projector.report().faults == []


async def test_catching_up_stops_when_the_signal_is_aborted(chain: Factory) -> None:
    """D8: and can be taken up again."""
    controller = AbortController()
    controller.abort("enough")
    projector = Projector(store_of(chain(REPLY)))
    with pytest.raises(AbortError):
        await projector.catch_up(controller.signal)
    await projector.catch_up()
    assert projector.position == 1


async def test_the_report_joins_faults_of_lines_and_of_the_tree_by_line(chain: Factory) -> None:
    """F-81..F-87 as settled: each with its line, kind and id, and a detail for people."""
    label = {"type": "label", "targetId": "ghost", "label": "x"}
    entries = [
        *chain(REPLY, parent="gone"),
        *chain(REPLY, first=2, parent="e2"),
        *chain(label, first=3, parent="e1"),
        {**REPLY, "id": "e4", "parentId": "e3", "timestamp": "soon"},
        *chain(REPLY, first=1),
        *chain(REPLY, first=5, parent="lost"),
    ]
    store = store_of(entries)
    store.faults += [Fault(9, "malformed", None, "torn"), Fault(1, "not-object", None, "a JSON list, no object")]
    projector = Projector(store)
    await projector.catch_up()
    report = projector.report()
    assert [(fault.line, fault.kind, fault.id) for fault in report.faults] == [
        (1, "not-object", None),
        (2, "duplicate-id", "e1"),
        (3, "cycle", "e2"),
        (4, "label-target", "e3"),
        (5, "bad-timestamp", "e4"),
        (7, "orphan", "e5"),
        (9, "malformed", None),
    ]
    assert (report.skipped_lines, report.orphans, report.duplicates) == ([1, 9], ["e5"], ["e1"])
    assert all(fault.detail for fault in report.faults)
    assert "line 6" in report.faults[1].detail


def test_a_report_is_of_its_moment(chain: Factory) -> None:
    """T-27: an orphan is none any more when its parent comes."""
    entries = [*chain(REPLY, first=2, parent="e1"), *chain(REPLY)]
    projector = Projector(store_of(entries))
    projector.apply(batch_of(entries[:1], 1))
    before = projector.report()
    projector.apply(batch_of(entries[1:], 2))
    assert (before.orphans, projector.report().orphans) == (["e2"], [])
