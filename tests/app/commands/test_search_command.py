"""`sessiontree search`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[..., Path]


def user(entry_id: str, text: str) -> dict[str, Any]:
    return {"id": entry_id, "message": {"role": "user", "content": text}}


def test_each_hit_is_a_line_with_id_role_and_the_text_around(run: Run, talk: Path) -> None:
    ended = run("search", talk, "PASS")
    assert (ended.status, ended.err) == (0, "")
    assert ended.lines == ["u1  user: do the tests pass?", "a2  assistant: They pass."]
    assert run("search", talk, "test make").lines == ["a1  assistant: bash make test"]
    assert run("search", talk, "green").lines == ["l1  label: green"]
    assert run("search", talk, "acme/").lines == ["m1  model_change: acme/m-1"]


def test_the_status_is_1_when_nothing_is_found(run: Run, talk: Path) -> None:
    """As grep has it."""
    for options in ([], ["--json"]):
        ended = run("search", talk, "nowhere", *options)
        assert (ended.status, ended.out, ended.err) == (1, "", "")


def test_json_is_an_object_on_each_line(run: Run, talk: Path) -> None:
    ended = run("search", talk, "pass they", "--json")
    assert [json.loads(line) for line in ended.lines] == [
        {
            "id": "a2",
            "type": "message",
            "role": "assistant",
            "timestamp": "2026-01-05T10:00:05.000Z",
            "position": 5,
            "excerpt": "They pass.",
        }
    ]


def test_the_search_ends_with_the_last_entry_that_was_asked_for(run: Run, write: Write) -> None:
    path = write(*(user(f"u{number}", "hit") for number in range(9)))
    assert len(run("search", path, "hit").lines) == 9
    assert run("search", path, "hit", "--limit", "2").lines == ["u0  user: hit", "u1  user: hit"]


def test_a_hit_in_a_long_text_is_shown_with_what_is_near(run: Run, write: Write) -> None:
    path = write(user("u1", f"{'far ' * 50}\n\n    the needle\tis here {'far ' * 50}"))
    [line] = run("search", path, "needle").lines
    assert line.startswith("u1  user: far far far far far the needle is here far")
    assert len(line) < 140


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_no_character_that_a_terminal_obeys_is_shown(run: Run, write: Write, options: list[str]) -> None:
    """Case 67, and in ids too."""
    text = "hit \u001b[31m\u009b2J\u007f\u202e\u2066b\rc"
    ended = run("search", write(user("u\u001b1", text)), "hit", *options)
    assert ended.status == 0
    assert all(line.isprintable() for line in ended.out.split("\n"))
    if options:
        assert ended.json["excerpt"] == text


def test_a_line_is_as_wide_as_the_terminal(on_terminal: Callable[..., list[str]], write: Write) -> None:
    path = write(user("u1", "a hit " + "会议" * 30))
    assert on_terminal(24, "search", path, "hit") == ["u1  user: a hit 会议会…"]
