"""`sessiontree tree`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.app.tree_filter import FilterMode

Run = Callable[..., Any]
Write = Callable[..., Path]


def test_the_tree_shows_ids_the_active_branch_first_and_labels(run: Run, talk: Path) -> None:
    """U-11, U-20..U-22, U-30, U-43."""
    ended = run("tree", talk)
    assert (ended.status, ended.err) == (0, "")
    assert ended.lines == [
        "u1  • user: do the tests pass?",
        "r1  • [bash: make test]",
        "a2  • [green] assistant: They pass.",
        "u3  ├─ • user: wait, look again",
        "u2  └─ user: then commit",
    ]


def test_a_leaf_can_be_given(run: Run, talk: Path) -> None:
    """U-14: the path of the leaf is the marked one."""
    assert run("tree", talk, "--leaf", "u2").lines[-2:] == [
        "u2  ├─ • user: then commit",
        "u3  └─ user: wait, look again",
    ]


@pytest.mark.parametrize(
    ("mode", "ids"),
    [
        ("default", ["u1", "r1", "a2", "u3", "u2"]),
        ("no-tools", ["u1", "a2", "u3", "u2"]),
        ("user-only", ["u1", "u3", "u2"]),
        ("labeled-only", ["a2"]),
        ("all", ["m1", "u1", "a1", "r1", "a2", "u3", "u2", "l1"]),
    ],
)
def test_a_filter_leaves_the_rows_of_its_kind(run: Run, talk: Path, mode: str, ids: list[str]) -> None:
    """U-50..U-55."""
    assert [line.split()[0] for line in run("tree", talk, "--filter", mode).lines] == ids
    assert [record["id"] for record in run("tree", talk, "--filter", mode, "--json").json] == ids


def test_every_filter_of_the_row_model_can_be_asked_for(run: Run, talk: Path) -> None:
    assert [run("tree", talk, "--filter", mode).status for mode in FilterMode] == [0] * len(FilterMode)


def test_a_search_leaves_the_rows_with_all_its_words(run: Run, talk: Path) -> None:
    """U-58, settled U-5A: labels and tool calls are searched too."""
    assert [line.split()[0] for line in run("tree", talk, "--search", "PASS tests").lines] == ["u1"]
    assert [line.split()[0] for line in run("tree", talk, "--search", "green").lines] == ["a2"]
    assert [line.split()[0] for line in run("tree", talk, "--search", "make").lines] == ["r1"]
    assert run("tree", talk, "--search", "nowhere", "--json").json == []


def test_json_has_a_record_for_each_row(run: Run, talk: Path) -> None:
    records = run("tree", talk, "--json").json
    assert records[2] == {
        "id": "a2",
        "parent_id": "r1",
        "type": "message",
        "role": "assistant",
        "timestamp": "2026-01-05T10:00:05.000Z",
        "label": "green",
        "active": True,
        "text": "assistant: They pass.",
    }
    assert [record["active"] for record in records] == [True, True, True, True, False]
    assert run("tree", talk, "--json", "--filter", "all").json[0]["parent_id"] is None


def test_an_empty_tree_says_why(run: Run, write: Write, talk: Path) -> None:
    """U-68..U-6A."""
    assert run("tree", talk, "--search", "no\x1b such").lines == ["no entry has 'no\\x1b such' in its row"]
    setting = {"type": "model_change", "id": "m1", "model": "acme/m-1"}
    hidden = "no rows: the filter default hides {} (--filter all shows everything)"
    settings = write(setting, path="settings.jsonl")
    assert run("tree", settings).lines == [hidden.format("the one entry")]
    assert run("tree", settings, "--search", "x").lines == [hidden.format("the one entry")]
    settings = write(setting, {**setting, "id": "m2"}, path="settings.jsonl")
    assert run("tree", settings).lines == [hidden.format("all 2 entries")]
    assert run("tree", write(path="new.jsonl")).lines == ["no entries: nothing was recorded in this session yet"]
    blank = talk.with_name("blank.jsonl")
    blank.touch()
    assert run("tree", blank).lines == ["no entries: nothing was recorded in this session yet"]


@pytest.mark.parametrize("number", ["67", "72"])
def test_rows_fit_the_terminal_and_hold_nothing_that_it_obeys(
    on_terminal: Callable[..., list[str]],
    fits: Callable[[str, int], bool],
    case: Callable[[str], Path],
    number: str,
    width: int,
) -> None:
    """Cases 67 and 72, on a real terminal of each width."""
    path = case(number)
    lines = on_terminal(width, "tree", path, "--filter", "all")
    assert all(fits(line, width) for line in lines)
    if width >= 40:
        assert all(len(line) > 12 for line in lines)
    assert all(fits(line, width) for line in on_terminal(width, "list", "--sessions-dir", path.parent))


def test_ids_are_left_out_on_a_narrow_terminal(on_terminal: Callable[..., list[str]], talk: Path) -> None:
    assert on_terminal(40, "tree", talk)[0] == "u1  • user: do the tests pass?"
    assert on_terminal(39, "tree", talk)[0] == "  • user: do the tests pass?"


def test_a_long_id_leaves_room_for_the_row(on_terminal: Callable[..., list[str]], run: Run, write: Write) -> None:
    entry_id = "an-id-of-other-programs-may-be-long"
    path = write({"id": entry_id, "message": {"role": "user", "content": "hello there"}})
    assert on_terminal(40, "tree", path) == ["an-id-of-ot…  • user: hello there"]
    assert run("tree", path).lines == [f"{entry_id}  • user: hello there"]


def test_a_deep_tree_is_no_wider_than_it_has_to_be(run: Run, write: Write) -> None:
    """U-26: without a limit the text would grow with the square of the branches."""
    records: list[dict[str, Any]] = []
    for number in range(300):
        parent_id = f"q{number - 1}" if number else None
        for entry_id in (f"p{number}", f"q{number}"):
            records.append({"id": entry_id, "parentId": parent_id, "message": {"role": "user", "content": entry_id}})
    path = write(*[{"timestamp": f"2026-01-05T10:00:00.{n:03}Z", **record} for n, record in enumerate(records)])
    lines = run("tree", path).lines
    assert len(lines) == 600
    assert max(map(len, lines)) < 330
    assert all(f"user: {line.split()[0]}" in line for line in lines)


def test_the_tree_of_a_newer_version_can_be_seen(run: Run, case: Callable[[str], Path]) -> None:
    """F-100, case 78."""
    assert run("tree", case("78")).status == 0
