"""`sessiontree show`, and fields as lines for people."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.app.field_lines import field_lines

Run = Callable[..., Any]
Write = Callable[..., Path]


def test_people_get_the_place_the_label_and_all_fields_of_an_entry(run: Run, talk: Path) -> None:
    assert run("show", talk, "a2").lines == [
        "entry     a2",
        "type      message",
        "parent    r1",
        "children  u2, u3",
        "time      2026-01-05T10:00:05.000Z",
        "label     green",
        "",
        "message:",
        "  role: assistant",
        "  content:",
        "    - type: text",
        "      text: They pass.",
        "  provider: acme",
        "  model: m-1",
        "  stopReason: stop",
    ]
    assert run("show", talk, "m1").lines[2:4] == ["parent    none, it is a root", "children  u1"]
    assert run("show", talk, "u3").lines[3] == "children  none"


def test_json_is_the_line_as_it_is_stored(run: Run, write: Write) -> None:
    """D1: fields that we do not know, their order and their spelling."""
    line = (
        b'{"z":1.50,"type":"custom","customType":"t","id":"c1","parentId":null,"timestamp":7,"n":12345678901234567890}'
    )
    path = write(line)
    assert run("show", path, "c1", "--json").out == line.decode() + "\n"


def test_json_of_an_old_version_is_that_of_version_3(run: Run, case: Callable[[str], Path]) -> None:
    """F-101."""
    path = case("27")
    entry_id = run("dump", path).json["roots"][0]
    record = run("show", path, entry_id, "--json").json
    assert (record["id"], record["parentId"]) == (entry_id, None)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_no_character_that_a_terminal_obeys_is_shown(run: Run, write: Write, options: list[str]) -> None:
    """Case 67: C0, DEL, C1, bidirectional controls, and bytes that are no UTF-8."""
    text = "a\u001b[31m\u009b2J\u007f\u202e\u2066b\rc"
    record = {"id": "u1", "message": {"role": "user", "content": text, text: text}}
    line = json.dumps({"type": "message", "parentId": None, **record}, ensure_ascii=False).encode()
    ended = run("show", write(line.replace(b'"user"', b'"us\xff\x9ber"')), "u1", *options)
    assert ended.status == 0
    assert all(line.isprintable() for line in ended.out.split("\n"))
    if options:
        assert ended.json["message"]["content"] == text


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ({}, ["{}"]),
        (
            {"a": None, "b": True, "c": 1.5, "d": "", "e": {}, "f": []},
            ["a: null", "b: true", "c: 1.5", 'd: ""', "e: {}", "f: []"],
        ),
        ({"a": {"b": {"c": "d"}}}, ["a:", "  b:", "    c: d"]),
        ({"a": [1, "x\ny"]}, ["a:", "  - 1", "  - x", "    y"]),
        ({"a": [{"b": 1, "c": [2]}, {}]}, ["a:", "  - b: 1", "    c:", "      - 2", "  - {}"]),
        ({"a": [[1, [2, 3]], 4]}, ["a:", "  - - 1", "    - - 2", "      - 3", "  - 4"]),
        ({"a": [{"b": {"c": 1}, "d": 2}]}, ["a:", "  - b:", "      c: 1", "    d: 2"]),
        ({"a": "x\r\n\ty\n"}, ["a:", "  x", "      y", "  "]),
        ({"a": "y" * 401}, [f"a: {'y' * 60}… (401 characters; --json shows them)"]),
        ({"a": "好" * 401}, [f"a: {'好' * 401}"]),
        ({"a": "\ud800"}, ["a: \ufffd"]),
    ],
)
def test_fields_are_indented_by_level(fields: dict[str, Any], lines: list[str]) -> None:
    assert list(field_lines(fields)) == lines
    assert list(field_lines(fields, 2)) == ["  " + line for line in lines]


def test_fields_of_any_depth_are_shown(run: Run, write: Write) -> None:
    """Nothing recurses."""
    value: Any = 1
    for _ in range(300):
        value = [{"k": value}]
    path = write({"type": "custom", "id": "c1", "customType": "deep", "data": value})
    assert run("show", path, "c1").lines[-1].strip().endswith("- k: 1")
