"""The generator of the benchmark makes well-formed sessions, the same ones for the same seed."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import pytest

from bench.generate import COMPACT_EVERY, FARTHEST_BRANCH, KEPT, chat_lines, chat_session, unique_id
from bench.profile import PROFILES
from bench.shapes import chain_lines, small_sessions, tips_lines

ENTRIES = 6000
TAIL = 300


def refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def strict_json(line: bytes) -> dict[str, Any]:
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    record = json.loads(line.decode("utf-8", errors="strict"), parse_constant=refuse)
    assert isinstance(record, dict)
    return record


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    return [strict_json(line) for line in chat_lines(ENTRIES, tail=TAIL)]


def path_to(leaf_id: str, records: list[dict[str, Any]]) -> list[str]:
    parents = {record["id"]: record["parentId"] for record in records[1:]}
    path = []
    at: str | None = leaf_id
    while at is not None:
        path.append(at)
        at = parents[at]
    return path[::-1]


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    assert list(chat_lines(300, seed=7)) == list(chat_lines(300, seed=7))
    assert list(chat_lines(300, seed=7)) != list(chat_lines(300, seed=8))


def test_a_session_is_a_version_3_header_and_as_many_entries_as_asked_for(
    records: list[dict[str, Any]],
) -> None:
    header, *entries = records
    assert (header["type"], header["version"]) == ("session", 3)
    assert len(entries) == ENTRIES


def test_ids_are_unique_and_parents_come_first(records: list[dict[str, Any]]) -> None:
    seen: set[str | None] = {None}
    for entry in records[1:]:
        assert entry["parentId"] in seen
        assert entry["id"] not in seen
        assert len(entry["id"]) == 8 and int(entry["id"], 16) >= 0
        seen.add(entry["id"])
    assert [entry["id"] for entry in records[1:] if entry["parentId"] is None] == [records[1]["id"]]


def test_ids_of_a_large_session_do_not_collide() -> None:
    assert len({unique_id(number, seed=1) for number in range(100_000)}) == 100_000


def test_timestamps_rise_and_are_iso_8601_in_milliseconds(records: list[dict[str, Any]]) -> None:
    times = [record["timestamp"] for record in records]
    assert times == sorted(times)
    assert all(len(time) == len("2026-01-05T10:00:00.000Z") and time.endswith("Z") for time in times)


def test_every_type_and_role_occurs(records: list[dict[str, Any]]) -> None:
    kinds = {entry["type"] for entry in records[1:]}
    assert kinds == {
        "message",
        "model_change",
        "thinking_level_change",
        "label",
        "custom",
        "custom_message",
        "compaction",
        "branch_summary",
    }
    roles = {entry["message"]["role"] for entry in records[1:] if entry["type"] == "message"}
    assert roles == {"user", "assistant", "toolResult"}


def test_every_first_kept_entry_lies_on_the_path_about_100_back(records: list[dict[str, Any]]) -> None:
    compactions = [entry for entry in records[1:] if entry["type"] == "compaction"]
    assert len(compactions) >= ENTRIES // COMPACT_EVERY
    for compaction in compactions:
        path = path_to(compaction["id"], records)
        back = len(path) - 1 - path.index(compaction["firstKeptEntryId"])
        assert KEPT <= back <= KEPT + 30


def test_tool_results_answer_the_call_above_them_on_every_path(records: list[dict[str, Any]]) -> None:
    by_id = {entry["id"]: entry for entry in records[1:]}
    for entry in records[1:]:
        parent = by_id.get(entry["parentId"])
        content = parent["message"]["content"] if parent and parent["type"] == "message" else []
        calls = [block["id"] for block in content if block["type"] == "toolCall"]
        answered = entry["message"].get("toolCallId") if entry["type"] == "message" else None
        assert calls == ([answered] if answered else [])


def test_branches_go_back_50_entries_at_most_about_once_in_200_entries(records: list[dict[str, Any]]) -> None:
    branches = 0
    for before, entry in pairwise(records[1:]):
        if entry["parentId"] != before["id"]:
            branches += 1
            path = path_to(before["id"], records)
            assert len(path) - 1 - path.index(entry["parentId"]) <= FARTHEST_BRANCH
    assert ENTRIES / 400 < branches < ENTRIES / 100


def test_entries_have_about_1500_bytes_on_average() -> None:
    size = sum(map(len, chat_lines(ENTRIES)))
    assert 1400 < size / ENTRIES < 1600


def test_the_tail_is_one_compaction_and_the_same_turns_for_every_size(records: list[dict[str, Any]]) -> None:
    shorter = [strict_json(line) for line in chat_lines(ENTRIES // 2, tail=TAIL)]

    def texts(session: list[dict[str, Any]]) -> list[object]:
        last = max(at for at, record in enumerate(session) if record["type"] == "compaction")
        tail = session[last + 1 :]
        assert TAIL - 20 <= len(tail) < TAIL
        assert all(entry["parentId"] == before["id"] for before, entry in zip(session[last:], tail, strict=False))
        return [[block.get("text") for block in entry["message"]["content"]] for entry in tail]

    shared = TAIL - 20
    assert texts(records)[:shared] == texts(shorter)[:shared]


@pytest.mark.parametrize("profile", PROFILES)
def test_each_profile_has_as_many_entries_as_asked_for_and_the_same_ones_each_time(profile: str) -> None:
    lines = list(chat_lines(300, profile=profile))
    assert len(lines) == 301
    assert lines == list(chat_lines(300, profile=profile))
    assert all(strict_json(line) for line in lines)


def test_profiles_differ_by_result_size_branches_and_huge_entries() -> None:
    sizes = {profile: [len(line) for line in chat_lines(2000, profile=profile)] for profile in PROFILES}
    assert max(sizes["chat"]) < 20_000 < max(sizes["agent"])
    assert sum(sizes["agent"]) > 2 * sum(sizes["chat"])
    assert [size > 10_000_000 for size in sizes["huge"]].count(True) == 4
    branched = [strict_json(line) for line in chat_lines(2000, profile="branches")][1:]
    assert sum(entry["parentId"] != before["id"] for before, entry in pairwise(branched)) > 2000 / 50


def test_a_chain_is_straight_and_tips_share_one_parent() -> None:
    chain = [strict_json(line) for line in chain_lines(50)][1:]
    assert [entry["parentId"] for entry in chain] == [None, *(entry["id"] for entry in chain[:-1])]
    tips = [strict_json(line) for line in tips_lines(5, 8)][1:]
    assert [entry["id"] for entry in tips if entry["parentId"] == "n0004"] == [f"t{n:04d}" for n in range(8)]


def test_files_hold_the_lines_and_sizes_are_reported(tmp_path: Path) -> None:
    size = chat_session(str(tmp_path), entries=40)["bytes"]
    written = (tmp_path / "session.jsonl").read_bytes()
    assert len(written) == size
    assert written == b"".join(chat_lines(40))


def test_a_directory_of_small_sessions_has_one_id_a_file(tmp_path: Path) -> None:
    small_sessions(str(tmp_path), count=12)
    headers = [strict_json(path.read_bytes().split(b"\n")[0] + b"\n") for path in tmp_path.glob("*.jsonl")]
    assert len({header["id"] for header in headers}) == 12
