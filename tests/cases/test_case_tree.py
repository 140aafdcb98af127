"""Cases 22 to 37: the tree of logs whose ids, parents and times are wrong."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionManager, list_sessions

CopyCase = Callable[[str], Path]
Pairs = Callable[[Any], list[list[str]]]
Records = Callable[[Path], list[dict[str, Any]]]


async def test_a_child_before_its_parent_is_no_fault(copy_case: CopyCase) -> None:
    async with await SessionManager.open(copy_case("22")) as session:
        assert session.report.faults == []
        assert [session.shape(entry_id).parent_id for entry_id in session.path_ids()] == [
            None,
            "u1",
            "a1",
            "u2",
            "a2",
        ]


async def test_an_orphan_is_reported_with_the_parent_that_is_missing(
    copy_case: CopyCase, context_pairs: Pairs
) -> None:
    """T-27, C-05."""
    async with await SessionManager.open(copy_case("23")) as session:
        (fault,) = session.report.faults
        assert (fault.line, fault.kind, fault.id) == (4, "orphan", "u2")
        assert "feedbeef" in fault.detail
        session.branch("a1")
        assert context_pairs(await session.build_session_context()) == [
            ["user", "early"],
            ["assistant", "early reply"],
        ]


async def test_a_duplicate_id_that_closes_a_loop_is_one_node(copy_case: CopyCase) -> None:
    """F-87, T-23: the last line counts, and the loop it makes is cut and reported."""
    async with await SessionManager.open(copy_case("25")) as session:
        assert {fault.kind for fault in session.report.faults} == {"duplicate-id", "cycle"}
        assert [entry.id for entry in await session.get_branch("n3")] == ["n2", "n1", "n3"]
        entry: Any = await session.get_entry("n1")
        assert (entry.parent_id, entry.message["content"]) == ("n2", "first id again")


async def test_a_cycle_is_cut_at_its_first_entry_and_reported(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """T-23, T-29."""
    async with await SessionManager.open(copy_case("26")) as session:
        assert [fault.id for fault in session.report.faults if fault.kind == "cycle"][:1] == ["ca"]
        session.branch("cc")
        assert list(session.path_ids()) == ["ca", "cb", "cc"]
        assert context_pairs(await session.build_session_context())[-1] == ["user", "hangs on the loop"]
        assert session.child_ids("cb") == ["cc"]


async def test_a_file_of_version_1_becomes_one_chain_of_version_3(
    copy_case: CopyCase, context_pairs: Pairs, records: Records
) -> None:
    """F-100..F-105: the same ids at every open, on the disk with the next append."""
    path = copy_case("27")
    before = path.read_bytes()
    async with await SessionManager.open(path) as session:
        ids = list(session.path_ids())
        assert len(set(ids)) == session.entry_count == 7
        compaction: Any = await session.get_entry(ids[4])
        assert compaction.first_kept_entry_id == ids[2]
        migrated = [
            ["compactionSummary", "so far"],
            ["user", "three"],
            ["assistant", "four"],
            ["custom", "hook speaks"],
            ["user", "five"],
        ]
        assert context_pairs(await session.build_session_context()) == migrated
    assert path.read_bytes() == before
    async with await SessionManager.open(path) as session:
        assert list(session.path_ids()) == ids
        new = await session.append_message({"role": "user", "content": "six"})
        assert list(session.path_ids()) == [*ids, new]
    header, *entries = records(path)
    assert (header["version"], header["id"]) == (3, "00000000-0000-4000-8000-000000000027")
    assert [entry["id"] for entry in entries] == [*ids, new]
    assert [entry["parentId"] for entry in entries] == [None, *ids]
    assert "firstKeptEntryIndex" not in entries[4]
    assert entries[4]["firstKeptEntryId"] == ids[2]
    assert entries[5]["message"]["role"] == "custom"
    async with await SessionManager.open(path) as session:
        assert session.report.faults == []
        assert context_pairs(await session.build_session_context()) == [*migrated, ["user", "six"]]


@pytest.mark.parametrize(
    "index", ["0", "99", "-1", "1.5", "1e999", "9" * 400, "9" * 5000, "true", "null", '"3"', "[3]"]
)
async def test_an_index_anchor_that_names_no_entry_keeps_nothing(
    index: str, copy_case: CopyCase, context_pairs: Pairs
) -> None:
    """F-102, C-32: the field goes in every case."""
    path = copy_case("27")
    anchor = f'"firstKeptEntryIndex":{index}'
    path.write_bytes(path.read_bytes().replace(b'"firstKeptEntryIndex":3', anchor.encode()))
    async with await SessionManager.open(path) as session:
        texts = [text for _, text in context_pairs(await session.build_session_context())]
        assert texts == ["so far", "hook speaks", "five"]
        await session.append_message({"role": "user", "content": "six"})
    assert b"firstKeptEntryIndex" not in path.read_bytes()


async def test_ids_given_by_a_migration_are_unique_even_if_their_source_repeats_itself(
    copy_case: CopyCase, context_pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-22, F-101."""
    letters = iter("aabacdefghijklmnop")
    monkeypatch.setattr(
        "sessiontree.eventstore.migrations.derive_entry_id",
        lambda position, line, attempt: next(letters) * 8,
    )
    async with await SessionManager.open(copy_case("28")) as session:
        ids = [entry.id for entry in await session.get_entries()]
        assert len(set(ids)) == 4
        assert [entry.parent_id for entry in await session.get_entries()] == [None, *ids[:-1]]
        texts = [text for _, text in context_pairs(await session.build_session_context())]
        assert texts == ["one", "two", "three", "four"]


async def test_a_parent_that_is_no_string_is_reported(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """T-27."""
    async with await SessionManager.open(copy_case("29")) as session:
        faults = {fault.id: fault.kind for fault in session.report.faults}
        assert faults["r3"] == "bad-parent"
        assert faults.keys() <= {"r1", "r2", "r3"}
        session.branch("r3")
        assert context_pairs(await session.build_session_context()) == [["user", "number"]]


async def test_a_clock_that_runs_backwards_changes_neither_leaf_nor_path(copy_case: CopyCase) -> None:
    """T-25, T-28: times order the tree's children only."""
    async with await SessionManager.open(copy_case("33")) as session:
        assert session.child_ids("u1") == ["a1", "b1"]
        assert [entry.id for entry in await session.get_children("u1")] == ["a1", "b1"]
        assert session.report.faults == []


async def test_siblings_of_one_time_keep_file_order_in_every_copy(copy_case: CopyCase, tmp_path: Path) -> None:
    """T-28."""
    path = copy_case("34")
    order = ["z9", "m3", "a1", "q7", "b2"]
    async with await SessionManager.open(path) as session:
        for _ in range(3):
            (root,) = await session.get_tree()
            assert [child.entry.id for child in root.children] == order
    async with await SessionManager.fork_from(path, "/proj/other", sessions_dir=tmp_path / "forks") as session:
        (root,) = await session.get_tree()
        assert [child.entry.id for child in root.children] == order


async def test_unreadable_times_are_reported_and_never_date_a_session(copy_case: CopyCase) -> None:
    """T-28, F-92: `p3` has no time at all."""
    path = copy_case("36")
    async with await SessionManager.open(path) as session:
        faults = [(fault.line, fault.kind, fault.id) for fault in session.report.faults]
    assert faults == [(line, "bad-timestamp", entry) for line, entry in ((4, "p2"), (5, "p3"), (6, "p4"), (8, "p6"))]
    (info,) = await list_sessions(path.parent)
    assert info.modified == datetime(2026, 3, 1, 10, tzinfo=UTC)


async def test_a_name_set_from_an_old_position_hides_no_branch(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """T-30, F-55: the leaf is the last line, and all else is one move away."""
    path = copy_case("37")
    async with await SessionManager.open(path) as session:
        session.branch("a3")
        texts = [text for _, text in context_pairs(await session.build_session_context())]
        assert texts == ["q1", "r1", "q2", "r2", "q3", "r3"]
        assert session.session_name == "renamed elsewhere"
    (info,) = await list_sessions(path.parent)
    assert (info.name, info.message_count) == ("renamed elsewhere", 6)
