"""`sessiontree list`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Write = Callable[..., Path]

MESSAGE = {"id": "u1", "message": {"role": "user", "content": "hi"}}


@pytest.fixture
def write_many(write: Write) -> Callable[[int], Path]:
    """Writes sessions `s000`, `s001` … whose only messages are a minute apart, the first one the newest."""

    def write_many(count: int) -> Path:
        for number in range(count):
            time = f"2026-01-05T{9 - number // 60:02}:{59 - number % 60:02}:00.000Z"
            write(
                {**MESSAGE, "timestamp": time},
                path=f"many/{number:03}.jsonl",
                id=f"s{number:03}",
                title=f"no {number}",
            )
        return write(path="many/empty.txt").parent

    return write_many


def test_a_row_has_name_messages_branches_size_age_and_id(run: Run, talk: Path) -> None:
    head, row = run("list", "--sessions-dir", talk.parent).lines
    assert head.split() == ["NAME", "MESSAGES", "BRANCHES", "SIZE", "AGE", "ID"]
    assert row.split()[:3] == ["019b8d00", "6", "2"]
    assert row.split()[-1] == "019b8d00"


def test_sessions_come_by_the_time_of_their_last_message(run: Run, case: Callable[[str], Path]) -> None:
    """F-92, case 65: not by the time of the file."""
    path = case("65")
    now = time.time()
    os.utime(path.with_name("old.jsonl"), (now, now))
    os.utime(path, (now - 3600, now - 3600))
    records = run("list", "--sessions-dir", path.parent, "--json").json
    assert [(Path(record["path"]).name, record["modified"]) for record in records] == [
        ("session.jsonl", "2026-01-05T12:46:42.000Z"),
        ("old.jsonl", "2026-01-05T10:00:02.000Z"),
    ]


def test_damaged_files_are_marked_at_the_end_and_hide_no_session(run: Run, case: Callable[[str], Path]) -> None:
    """Case 66: a directory and a file of another name are passed over."""
    path = case("66")
    now = time.time()
    os.utime(path.with_name("broken.jsonl"), (now + 60, now + 60))
    ended = run("list", "--sessions-dir", path.parent)
    _, good, *damaged = ended.lines
    assert (ended.status, ended.err) == (0, "")
    assert good.split()[-1].startswith("00000000")
    assert sorted(line.partition(": ")[0] for line in damaged) == [
        "damaged  broken.jsonl",
        "damaged  empty.jsonl",
        "damaged  headerless.jsonl",
    ]
    records = run("list", "--sessions-dir", path.parent, "--json").json
    assert [record["damage"] is None for record in records] == [True, False, False, False]


def test_a_long_line_is_counted_like_any_other(run: Run, write: Write) -> None:
    """Case 09: a tool result of 6 MiB."""
    content = [{"type": "text", "text": "x" * (6 << 20)}]
    result = {"role": "toolResult", "toolCallId": "t1", "toolName": "bash", "content": content}
    path = write(MESSAGE, {"id": "r1", "message": result})
    [record] = run("list", "--sessions-dir", path.parent, "--json").json
    assert (record["messages"], record["faults"]) == (2, 0)
    assert "6.3 MB" in run("list", "--sessions-dir", path.parent).out


def test_the_newest_fifty_are_shown_unless_all_are_asked_for(run: Run, write_many: Callable[[int], Path]) -> None:
    directory = write_many(62)
    (directory / "damaged.jsonl").write_bytes(b"no session\n")
    head, *rows, rest = run("list", "--sessions-dir", directory).lines
    assert [row.split()[1] for row in rows] == [str(number) for number in range(50)]
    assert rest == "13 more, 1 of them damaged: --all lists them"
    assert len(run("list", "--sessions-dir", directory, "--json").json) == 50
    assert len(run("list", "--sessions-dir", directory, "--json", "--all").json) == 63
    assert run("list", "--sessions-dir", directory, "--all").lines[-1].startswith("damaged  damaged.jsonl: line 1")
    assert head.startswith("NAME")


def test_an_id_is_as_long_as_it_must_be_to_name_one_session(run: Run, write: Write) -> None:
    """F-24: each that is shown can be given as FILE."""
    ids = ["019b8d00-aaaa", "019b8d00-aaab", "019b8d00-b", "019c", "019c-and-more"]
    for number, session_id in enumerate(ids):
        path = write(MESSAGE, path=f"dir/{number}.jsonl", id=session_id)
    shown = [line.split()[-1] for line in run("list", "--sessions-dir", path.parent).lines[1:]]
    assert sorted(shown) == ["019b8d00-aaaa", "019b8d00-aaab", "019b8d00-b", "019c", "019c-and"]
    for short_id in shown:
        assert run("dump", short_id, "--sessions-dir", path.parent).json["id"].startswith(short_id)


def test_of_two_sessions_with_one_id_the_paths_are_shown(run: Run, write: Write) -> None:
    paths = [write(MESSAGE, path=f"dir/{name}.jsonl") for name in ("one", "two")]
    shown = [line.split()[-1] for line in run("list", "--sessions-dir", paths[0].parent).lines[1:]]
    assert sorted(shown) == [str(path) for path in paths]


def test_faults_and_links_are_marked_in_the_row(run: Run, write: Write) -> None:
    path = write(MESSAGE, b"{torn", path="dir/real.jsonl", title="Broken in one place")
    path.with_name("link.jsonl").symlink_to("real.jsonl")
    names = [line.split("  ")[0] for line in run("list", "--sessions-dir", path.parent).lines[1:]]
    assert sorted(names) == ["Broken in one place (1 fault)", "Broken in one place (link, 1 fault)"]


def test_one_working_directory_can_be_asked_for(run: Run, write: Write) -> None:
    for name in ("one", "two"):
        path = write(MESSAGE, path=f"dir/{name}.jsonl", id=name, cwd=f"/proj/{name}")
    [record] = run("list", "--sessions-dir", path.parent, "--cwd", "/proj/one", "--json").json
    assert (record["id"], record["cwd"]) == ("one", "/proj/one")


def test_an_empty_directory_says_so_and_where_it_looked(run: Run, tmp_path: Path, own_home: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run("list", "--sessions-dir", empty).lines == [f"no sessions in {empty}"]
    assert run("list", "--sessions-dir", empty, "--cwd", "/x").lines == [f"no sessions of /x in {empty}"]
    default = own_home / ".sessiontree" / "sessions"
    assert run("list").lines == [f"no sessions in {default}, which does not exist"]
    assert run("list", "--sessions-dir", empty, "--json").json == []


@pytest.mark.parametrize(("home", "directory"), [("pi", ".pi/agent/sessions"), ("omp", ".omp/agent/sessions")])
def test_the_sessions_of_other_homes_are_found(
    run: Run, write: Write, own_home: Path, home: str, directory: str
) -> None:
    write(MESSAGE, path=f"home/{directory}/--proj-demo--/one.jsonl", title="Theirs")
    assert [record["name"] for record in run("list", "--home", home, "--json").json] == ["Theirs"]


def test_the_variables_of_other_homes_are_respected(
    run: Run, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(MESSAGE, path="agent/sessions/one.jsonl", title="by agent directory")
    write(MESSAGE, path="elsewhere/one.jsonl", title="by session directory")
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    assert [record["name"] for record in run("list", "--home", "omp", "--json").json] == ["by agent directory"]
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(tmp_path / "elsewhere"))
    assert [record["name"] for record in run("list", "--home", "pi", "--json").json] == ["by session directory"]


def test_json_says_all_that_is_known_of_a_session(run: Run, talk: Path) -> None:
    [record] = run("list", "--sessions-dir", talk.parent, "--json").json
    assert record == {
        "path": str(talk),
        "id": "019b8d00-0000-7000-8000-000000000001",
        "name": None,
        "cwd": "/proj/demo",
        "created": "2026-01-05T10:00:00.000Z",
        "modified": "2026-01-05T10:00:08.000Z",
        "messages": 6,
        "branches": 2,
        "size": talk.stat().st_size,
        "version": 3,
        "parent_session": None,
        "is_link": False,
        "faults": 0,
        "damage": None,
    }
