"""`sessiontree label`, `append` and `fork`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[..., Path]


def last(path: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
    return record


def test_a_label_is_set_at_the_last_entry(run: Run, talk: Path) -> None:
    """T-51: the new entry's id is printed."""
    ended = run("label", talk, "u1", "  where it began ")
    record = last(talk)
    assert ended.lines == [record["id"]]
    assert (record["type"], record["parentId"]) == ("label", "u3")
    assert (record["targetId"], record["label"]) == ("u1", "where it began")
    assert run("dump", talk).json["labels"] == {"a2": "green", "u1": "where it began"}


@pytest.mark.parametrize("nothing", [[], [""], [" "]])
def test_a_label_without_text_is_cleared(run: Run, talk: Path, nothing: list[str]) -> None:
    """F-48."""
    assert run("label", talk, "a2", *nothing).status == 0
    assert "label" not in last(talk)
    assert run("dump", talk).json["labels"] == {}


def test_a_label_can_hang_elsewhere(run: Run, talk: Path) -> None:
    record = run("label", talk, "u1", "x", "--at", "u2", "--json").json
    assert record == {"id": last(talk)["id"], "parent_id": "u2", "target_id": "u1", "label": "x"}
    assert last(talk)["parentId"] == "u2"


def test_a_message_is_appended_to_the_last_entry(run: Run, talk: Path) -> None:
    """T-10, F-60."""
    before = time.time() * 1000 - 1
    ended = run("append", talk, "--role", "user", "--text", "and now?")
    record = last(talk)
    assert ended.lines == [record["id"]]
    assert record["parentId"] == "u3"
    assert before < record["message"].pop("timestamp") < time.time() * 1000 + 1
    assert record["message"] == {"role": "user", "content": "and now?"}


def test_a_reply_is_a_list_of_blocks(run: Run, talk: Path) -> None:
    """F-61."""
    run("append", talk, "--role", "assistant", "--text", "later")
    message = last(talk)["message"]
    assert (message["content"], message["stopReason"]) == ([{"type": "text", "text": "later"}], "stop")
    assert run("verify", talk).status == 0


def test_a_message_can_open_another_branch(run: Run, talk: Path) -> None:
    """T-40: `--at` moves the leaf, then appends."""
    record = run("append", talk, "--role", "user", "--text", "other", "--at", "u1", "--json").json
    assert record == {"id": last(talk)["id"], "parent_id": "u1"}
    assert run("dump", talk).json["children"]["u1"] == ["a1", record["id"]]


def test_text_can_come_from_standard_input(run: Run, talk: Path) -> None:
    run("append", talk, "--role", "user", "--text", "-", stdin="zwei\nZeilen — ü\n".encode())
    assert last(talk)["message"]["content"] == "zwei\nZeilen — ü"


def test_a_blank_file_becomes_a_session(run: Run, tmp_path: Path) -> None:
    """F-80, case 12."""
    path = tmp_path / "new.jsonl"
    path.touch()
    assert run("append", path, "--role", "user", "--text", "first").status == 0
    header, entry = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert (header["type"], header["version"], entry["parentId"]) == ("session", 3, None)


def test_a_fork_is_a_new_file_that_ends_with_the_entry(run: Run, talk: Path) -> None:
    """T-60..T-65: its path is printed, labels are set anew, the old file stays as it is."""
    before = talk.read_bytes()
    ended = run("fork", talk, "a2")
    [path] = ended.lines
    assert Path(path).parent == talk.parent
    dump = run("dump", path).json
    assert dump["path"][:-1] == ["m1", "u1", "a1", "r1", "a2"]
    assert dump["labels"] == {"a2": "green"}
    assert talk.read_bytes() == before


def test_json_of_a_fork_names_both_sessions(run: Run, talk: Path) -> None:
    record = run("fork", talk, "u2", "--json").json
    assert record == {"path": record["path"], "id": record["id"], "parent_session": str(talk)}
    dump = run("dump", record["path"]).json
    assert (dump["id"], dump["path"]) == (record["id"], ["m1", "u1", "a1", "r1", "a2", "u2", dump["leaf"]])


def test_a_session_is_found_by_the_beginning_of_its_id(run: Run, talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-24: in the directory given, or else in the default one."""
    new_id = run("append", "019b8", "--sessions-dir", talk.parent, "--role", "user", "--text", "x").lines
    assert new_id == [last(talk)["id"]]
    monkeypatch.setenv("SESSIONTREE_DIR", str(talk.parent))
    assert run("dump", "019b8d00-0000").json["leaf"] == new_id[0]


@pytest.mark.parametrize(
    "command",
    [["label", "u1", "x"], ["append", "--role", "user", "--text", "x"], ["fork", "u1"], ["migrate"]],
    ids=lambda command: command[0],
)
def test_a_session_of_a_newer_version_is_not_written(
    refuse: Callable[..., str], case: Callable[[str], Path], command: list[str]
) -> None:
    """F-100, case 78; a fork would claim that its entries are those of version 3."""
    path = case("78")
    before = path.read_bytes()
    assert "is version 4, newer than version 3" in refuse(command[0], path, *command[1:])
    assert (path.read_bytes(), list(path.parent.glob("*.jsonl"))) == (before, [path])
