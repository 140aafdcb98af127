"""`sessiontree verify`, `migrate` and `dump`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[..., Path]


def test_a_sound_session_is_ok_in_one_line(run: Run, talk: Path) -> None:
    ended = run("verify", talk)
    assert (ended.status, ended.out) == (0, "ok: 8 entries\n")
    assert run("verify", talk, "--json").json == {"path": str(talk), "version": 3, "entries": 8, "faults": []}


def test_every_fault_is_named_by_line_and_kind_and_the_status_is_1(run: Run, write: Write) -> None:
    path = write(
        {"id": "u1", "message": {"role": "user", "content": "q"}},
        b'{"torn',
        {"type": "custom", "id": "c1", "customType": 7},
        {"type": "compaction", "id": "k1", "summary": "s", "firstKeptEntryId": "nope", "tokensBefore": 1},
    )
    ended = run("verify", path)
    assert (ended.status, ended.err) == (1, "")
    assert ended.lines == [
        "line 3: malformed: Unterminated string starting at: line 1 column 2 (char 1)",
        "line 4: bad-body (c1): Expected `str`, got `int` - at `$.customType`",
        "line 5: first-kept (k1): its first kept entry nope is not in the file",
        "3 faults in 3 entries",
    ]
    ended = run("verify", path, "--json")
    assert (ended.status, [fault["kind"] for fault in ended.json["faults"]]) == (
        1,
        ["malformed", "bad-body", "first-kept"],
    )


def test_a_single_fault_is_counted_as_one(run: Run, write: Write) -> None:
    assert run("verify", write(b"[]")).lines[-1] == "1 fault in 0 entries"


def test_a_newer_version_is_noted_and_is_no_fault(run: Run, case: Callable[[str], Path]) -> None:
    """F-100, case 78."""
    ended = run("verify", case("78"))
    assert ended.status == 0
    assert ended.lines == [
        "note: this is version 4, newer than version 3: it can be read, not written",
        "ok: 2 entries",
    ]


def test_nothing_that_a_terminal_obeys_comes_from_a_fault(run: Run, write: Write) -> None:
    label = {"type": "label", "id": "l\x1b[2J", "targetId": "\x9b31m\n", "label": "x"}
    ended = run("verify", write(label))
    assert len(ended.lines) == 2
    assert all(line.isprintable() for line in ended.lines)


@pytest.mark.parametrize("version", [None, 2])
def test_an_old_session_is_brought_to_version_3_in_place(run: Run, write: Write, version: int | None) -> None:
    """F-101..F-105: once; damaged lines stay."""
    header = {"version": version} if version else {}
    path = write({"id": "u1", "message": {"role": "hookMessage", "content": "q"}}, b"{torn", **header)
    if version is None:
        path.write_bytes(path.read_bytes().replace(b'"version": 3, ', b""))
    dump = run("dump", path).json
    assert (dump["version"], dump["file_version"]) == (3, version or 1)
    assert run("migrate", path).lines == [f"{path}: was version {version or 1}, is version 3 now"]
    first, entry, torn = path.read_bytes().splitlines()
    assert json.loads(first)["version"] == 3
    assert (json.loads(entry)["message"]["role"], torn) == ("custom", b"{torn")
    assert run("dump", path).json == {**dump, "file_version": 3}
    before = path.read_bytes()
    assert run("migrate", path).lines == [f"{path}: is version 3 already, nothing to do"]
    assert run("migrate", path, "--json").json == {
        "path": str(path),
        "migrated": False,
        "version_before": 3,
        "version": 3,
    }
    assert path.read_bytes() == before


def test_a_dump_is_the_shape_of_the_session_in_one_line(run: Run, talk: Path) -> None:
    ended = run("dump", talk)
    assert len(ended.lines) == 1
    assert ended.json == {
        "version": 3,
        "file_version": 3,
        "id": "019b8d00-0000-7000-8000-000000000001",
        "cwd": "/proj/demo",
        "name": None,
        "entries": 8,
        "leaf": "u3",
        "labels": {"a2": "green"},
        "roots": ["m1"],
        "children": {"m1": ["u1"], "u1": ["a1"], "a1": ["r1"], "r1": ["a2"], "a2": ["u2", "u3"], "u2": ["l1"]},
        "path": ["m1", "u1", "a1", "r1", "a2", "u3"],
        "report": {"faults": [], "skipped_lines": [], "orphans": [], "duplicates": []},
    }


def test_the_path_of_a_dump_is_that_of_a_given_leaf(run: Run, talk: Path) -> None:
    dump = run("dump", talk, "--leaf", "a1").json
    assert (dump["leaf"], dump["path"]) == ("a1", ["m1", "u1", "a1"])


def test_children_of_a_dump_are_oldest_first_and_roots_in_file_order(run: Run, write: Write) -> None:
    """T-27, T-28."""

    def entry(entry_id: str, parent_id: str | None, second: int) -> dict[str, Any]:
        place = {"id": entry_id, "parentId": parent_id, "timestamp": f"2026-01-05T10:00:{second:02}Z"}
        return {**place, "message": {"role": "user", "content": entry_id}}

    path = write(entry("r2", None, 9), entry("c2", "r2", 8), entry("c1", "r2", 7), entry("r1", None, 1))
    dump = run("dump", path).json
    assert (dump["roots"], dump["children"]) == (["r2", "r1"], {"r2": ["c1", "c2"]})


def test_a_dump_reports_what_is_wrong(run: Run, write: Write) -> None:
    """F-81..F-87."""
    message = {"role": "user", "content": "q"}
    path = write({"id": "u1", "message": message}, b"{torn", {"id": "u2", "parentId": "gone", "message": message})
    again = {"type": "message", "id": "u2", "parentId": "u1", "timestamp": 1, "message": message}
    path.write_bytes(path.read_bytes() + json.dumps(again).encode())
    dump = run("dump", path).json
    assert dump["report"]["skipped_lines"] == [3]
    assert dump["report"]["duplicates"] == ["u2"]
    assert [(fault["line"], fault["kind"], fault["id"]) for fault in dump["report"]["faults"]] == [
        (3, "malformed", None),
        (4, "duplicate-id", "u2"),
    ]
    assert (dump["roots"], dump["entries"]) == (["u1"], 2)


def test_a_blank_file_is_a_session_without_entries(run: Run, tmp_path: Path) -> None:
    """F-80, case 12."""
    path = tmp_path / "blank.jsonl"
    path.touch()
    dump = run("dump", path).json
    assert (dump["entries"], dump["leaf"], dump["roots"], dump["path"]) == (0, None, [], [])
    assert run("verify", path).lines == ["ok: 0 entries"]
    assert path.read_bytes() == b""
