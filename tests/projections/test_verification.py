"""What `verify` finds by decoding every line, and along the paths of the tree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiontree import AbortController, AbortError, Fault
from sessiontree.eventstore.header import make_header
from sessiontree.eventstore.jsonl_store import JsonlEventStore
from sessiontree.eventstore.memory_store import MemoryEventStore
from sessiontree.projections.projector import Projector
from sessiontree.projections.verification import verify

Fields = dict[str, Any]
Found = list[tuple[str, str | None]]


async def faults_of(*entries: Fields | bytes) -> list[Fault]:
    lines = [entry if isinstance(entry, bytes) else json.dumps(entry).encode() for entry in entries]
    store = MemoryEventStore(make_header("s", "", ""), lines)
    projector = Projector(store)
    await projector.catch_up()
    return (await verify(store, projector)).faults


async def found_in(*entries: Fields | bytes) -> Found:
    """The (kind, id) of each fault, in the order of the report."""
    return [(fault.kind, fault.id) for fault in await faults_of(*entries)]


def entry(entry_id: str, parent_id: str | None, entry_type: str = "message", **fields: Any) -> Fields:
    return {
        "type": entry_type,
        "id": entry_id,
        "parentId": parent_id,
        "timestamp": "2026-01-05T10:00:01.000Z",
        **fields,
    }


def user(entry_id: str, parent_id: str | None) -> Fields:
    return entry(entry_id, parent_id, message={"role": "user", "content": entry_id})


def calls(entry_id: str, parent_id: str | None, *call_ids: Any, stop: str = "toolUse") -> Fields:
    content = [{"type": "toolCall", "id": call_id, "name": "ls", "arguments": {}} for call_id in call_ids]
    return entry(entry_id, parent_id, message={"role": "assistant", "content": content, "stopReason": stop})


def result(entry_id: str, parent_id: str | None, call_id: Any) -> Fields:
    return entry(entry_id, parent_id, message={"role": "toolResult", "toolCallId": call_id, "content": []})


def compaction(entry_id: str, parent_id: str | None, first_kept: str | None) -> Fields:
    kept = {"firstKeptEntryId": first_kept} if first_kept is not None else {}
    return entry(entry_id, parent_id, "compaction", summary="sum", tokensBefore=1, **kept)


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({"type": "message", "message": 7}, "Expected `object`, got `int` - at `$.message`"),
        ({"type": "message", "message": {"role": 7}}, "a message without a string role"),
        ({"type": "message"}, "Object missing required field `message`"),
        ({"type": "compaction", "summary": None}, "Expected `str`, got `null` - at `$.summary`"),
        ({"type": "custom", "customType": []}, "Expected `str`, got `array` - at `$.customType`"),
        ({"type": "ttsr_injection", "injectedRules": [1]}, "Expected `str`, got `int` - at `$.injectedRules[0]`"),
    ],
)
async def test_a_known_type_with_fields_of_the_wrong_kind_is_a_bad_body(fields: Fields, detail: str) -> None:
    """F-40..F-56 as settled: the detail names the field."""
    [fault] = await faults_of(user("u1", None), {"id": "x", "parentId": "u1", "timestamp": 1, **fields})
    assert fault == Fault(3, "bad-body", "x", detail)


async def test_an_odd_parent_or_time_does_not_make_a_bad_body() -> None:
    """They are faults of their own, found at open."""
    odd = {**user("u1", None), "parentId": 7, "timestamp": {}}
    assert await found_in({**odd, "type": "unheard_of"}) == [("bad-timestamp", "u1")]
    assert await found_in(odd) == [("bad-timestamp", "u1")]


async def test_bytes_that_are_no_utf8_are_named_by_their_place(tmp_path: Path) -> None:
    """Case 04: in a file, where damaged lines are faults too."""
    path = tmp_path / "session.jsonl"
    bad = json.dumps(user("u2", "u1")).encode().replace(b'"content": "u2"', b'"content": "\xff"')
    header = b'{"type":"session","version":3,"id":"s"}'
    path.write_bytes(b"\n".join([header, json.dumps(user("u1", None)).encode(), b"\xff", bad]) + b"\n")
    store = await JsonlEventStore.open(path, header_of_new=lambda: make_header("", "", ""))
    projector = Projector(store)
    await projector.catch_up()
    faults = (await verify(store, projector)).faults
    await store.close()
    assert [(fault.line, fault.kind, fault.id) for fault in faults] == [(3, "malformed", None), (4, "bad-utf8", "u2")]
    assert faults[1].detail == f"byte {bad.index(0xFF)} of the line is no UTF-8 and is read as U+FFFD"


async def test_a_line_whose_id_stands_again_is_decoded_too() -> None:
    """F-87: but it stands on no path."""
    twice = [calls("a1", None, "t1"), {**user("a1", None), "message": 7}, user("a1", None), user("u2", "a1")]
    assert await found_in(*twice) == [("duplicate-id", "a1"), ("duplicate-id", "a1"), ("bad-body", "a1")]


async def test_pairs_of_calls_and_results_are_sound() -> None:
    """Also with settings between, with a call id used again on the same path, and in any order of the file."""
    assert await found_in(
        user("u1", None),
        calls("a1", "u1", "t1", "t2"),
        result("r1", "a1", "t1"),
        entry("s1", "r1", "model_change", model="a/b"),
        result("r2", "s1", "t2"),
        calls("a2", "r2", "t1"),
        result("r3", "a2", "t1"),
        user("u2", "r3"),
    ) == []  # fmt: skip
    assert await found_in(user("u2", "r1"), result("r1", "a1", "t1"), calls("a1", None, "t1")) == []


async def test_a_result_whose_call_is_not_on_its_path_is_a_fault() -> None:
    """C-40: the call is nowhere, on another branch, or below it; or the result names none."""
    faults = await faults_of(
        user("u1", None),
        calls("a1", "u1", "t1"),
        result("r0", "a1", "t1"),
        result("r1", "u1", "t1"),
        result("r2", "u1", "gone"),
        result("r3", "u1", None),
        result("r4", "u1", "t4"),
        calls("a4", "r4", "t4"),
    )
    assert [(fault.kind, fault.id, fault.detail) for fault in faults] == [
        ("tool-pair", "r1", "its tool call t1 is not on its path"),
        ("tool-pair", "r2", "its tool call gone is not on its path"),
        ("tool-pair", "r3", "its tool call, which it does not name, is not on its path"),
        ("tool-pair", "r4", "its tool call t4 is not on its path"),
    ]


async def test_a_call_without_a_result_is_a_fault_when_the_talk_went_on() -> None:
    """C-40: open at the end of a branch it is still to be answered."""
    assert await found_in(calls("a1", None, "t1"), entry("l1", "a1", "label", targetId="a1")) == []
    [fault] = await faults_of(calls("a1", None, "t1", "t2"), result("r1", "a1", "t1"), user("u2", "r1"))
    assert fault == Fault(2, "tool-pair", "a1", "its tool call t2 has no result below it")


async def test_a_result_on_one_branch_answers_the_call() -> None:
    talk = [calls("a1", None, "t1"), result("r1", "a1", "t1"), user("u2", "a1")]
    assert await found_in(*talk) == []


@pytest.mark.parametrize("stop", ["aborted", "error"])
async def test_an_aborted_or_failed_turn_may_leave_its_calls_open(stop: str) -> None:
    """C-41: such turns are left out of the context."""
    assert await found_in(calls("a1", None, "t1", stop=stop), user("u2", "a1")) == []
    assert await found_in(calls("a1", None, "t1", stop=stop), result("r1", "a1", "t1"), user("u2", "r1")) == []


async def test_a_repeated_call_is_answered_by_the_nearest_result() -> None:
    """Two turns with one call id: each needs its own result."""
    twins = [calls("a1", None, "t1"), calls("a2", "a1", "t1"), result("r2", "a2", "t1"), user("u3", "r2")]
    assert await found_in(*twins) == [("tool-pair", "a1")]
    same_turn = [calls("a1", None, "t1", "t1", 7), user("u2", "a1")]
    assert await found_in(*same_turn) == [("tool-pair", "a1")]


@pytest.mark.parametrize(
    ("first_kept", "detail"),
    [
        ("u1", None),
        ("c0", None),
        (None, "it names no first kept entry"),
        ("gone", "its first kept entry gone is not in the file"),
        ("c1", "its first kept entry is itself"),
        ("u9", "its first kept entry u9 comes after it"),
        ("b1", "its first kept entry b1 is on another branch"),
        ("r1", "its first kept entry r1 is a tool result, and the call is cut away"),
    ],
)
async def test_the_first_kept_entry_stands_above_its_compaction(first_kept: str | None, detail: str | None) -> None:
    """C-32, K-33, cases 39 to 42."""
    faults = await faults_of(
        user("u1", None),
        user("b1", "u1"),
        compaction("c0", "u1", "u1"),
        calls("a1", "c0", "t1"),
        result("r1", "a1", "t1"),
        compaction("c1", "r1", first_kept),
        user("u9", "c1"),
    )
    assert [(fault.kind, fault.id, fault.detail) for fault in faults] == (
        [("first-kept", "c1", detail)] if detail is not None else []
    )


async def test_a_kept_result_without_a_call_is_one_fault() -> None:
    assert await found_in(result("r1", None, "t1"), compaction("c1", "r1", "r1")) == [("tool-pair", "r1")]


async def test_faults_are_in_the_order_of_their_lines() -> None:
    faults = await faults_of(
        result("r1", None, "t1"),
        entry("x1", "gone", "custom", customType=7),
        compaction("c1", "r1", "nope"),
        result("r2", "c1", "t2"),
    )
    assert [fault.line for fault in faults] == [2, 3, 3, 4, 5]
    assert [fault.kind for fault in faults] == ["tool-pair", "orphan", "bad-body", "first-kept", "tool-pair"]


async def test_a_deep_chain_and_a_cycle_are_walked_without_recursion() -> None:
    deep = [user(f"n{number}", f"n{number - 1}" if number else None) for number in range(20_000)]
    assert await found_in(*deep, result("r", "n19999", "t1")) == [("tool-pair", "r")]
    assert await found_in(calls("a", "b", "t1"), user("b", "a")) == [("cycle", "a"), ("tool-pair", "a")]


async def test_progress_counts_entries_and_a_signal_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessiontree.eventstore.turns._TURN", 0.0)
    lines = [json.dumps(user(f"n{number}", None)).encode() for number in range(200)]
    store = MemoryEventStore(make_header("s", "", ""), lines)
    projector = Projector(store)
    await projector.catch_up()
    seen: list[tuple[int, int]] = []
    controller = AbortController()

    def progress(done: int, of: int) -> None:
        seen.append((done, of))
        if done == 128:
            controller.abort()

    with pytest.raises(AbortError):
        await verify(store, projector, progress=progress, signal=controller.signal)
    assert seen == [(64, 200), (128, 200)]
    seen.clear()
    assert (await verify(store, projector, progress=lambda done, of: seen.append((done, of)))).faults == []
    assert seen[-1] == (200, 200)


Steps = list[tuple[int, str, int]]


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.sampled_from(["user", "call", "result"]), st.integers(0, 2)), max_size=25
    )
)
async def test_the_walk_finds_what_a_look_at_each_path_finds(steps: Steps) -> None:
    """Against the plain definition, on random trees."""
    make: dict[str, Callable[..., Fields]] = {"call": calls, "result": result}
    entries: list[Fields] = []
    parents: list[int | None] = []
    for number, (back, kind, call) in enumerate(steps):
        parent = number - 1 - back if number - 1 - back >= 0 else None
        parents.append(parent)
        parent_id = f"n{parent}" if parent is not None else None
        entries.append(
            make[kind](f"n{number}", parent_id, f"t{call}") if kind in make else user(f"n{number}", parent_id)
        )

    def above(number: int) -> list[int]:
        found = []
        here = parents[number]
        while here is not None:
            found.append(here)
            here = parents[here]
        return found

    answered = set()
    expected = set()
    for number, (_, kind, call) in enumerate(steps):
        if kind == "result":
            turns = [other for other in above(number) if steps[other][1:] == ("call", call)]
            answered.update(turns[:1])
            if not turns:
                expected.add(number)
    for number, (_, kind, _) in enumerate(steps):
        spoken = (other for other in range(number + 1, len(steps)) if steps[other][1] != "result")
        if kind == "call" and number not in answered and any(number in above(other) for other in spoken):
            expected.add(number)
    assert await found_in(*entries) == [("tool-pair", f"n{number}") for number in sorted(expected)]
