"""`sessiontree navigate`, `branch` and `compact`, with digests for summaries."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Refuse = Callable[..., str]
Write = Callable[..., Path]
Case = Callable[[str], Path]

LABEL, SUMMARIZE, COMPACT = (
    ["navigate", "u2", "--label"],
    ["navigate", "u2", "--summarize"],
    ["compact", "--keep", "1"],
)
STORING = [[*LABEL, "x"], SUMMARIZE, ["branch", "u2"], ["branch", "u1"], COMPACT]
"""Every way in which something is stored, of `chat`: the command, and what follows the file."""
ABOVE_ALL = "(above all roots)"
HOSTILE = "\x1b[31mred\x07\x9b2J\x7f\x00\u202e\u2066 \r\ttail"


def user(entry_id: str, text: str) -> dict[str, Any]:
    return {"id": entry_id, "message": {"role": "user", "content": text}}


def assistant(entry_id: str, text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"}
    return {"id": entry_id, "message": message}


def custom(entry_id: str, text: str) -> dict[str, Any]:
    return {"type": "custom_message", "id": entry_id, "customType": "note", "content": text, "display": True}


@pytest.fixture
def chat(write: Write) -> Path:
    """A chain without settings: `u1`, `a1`, the custom message `c1`, `u2` and the leaf `a2`."""
    said = [user("u1", "first"), assistant("a1", "one"), custom("c1", "told"), user("u2", "second")]
    return write(*said, assistant("a2", "two"))


def records(path: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def files(path: Path) -> dict[str, bytes]:
    """All that lies beside a session, itself too."""
    return {file.name: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}


WHERE = [("u1", None, "first"), ("u2", "c1", "second"), ("c1", "a1", "told"), ("a1", "a1", None)]


@pytest.mark.parametrize(("target", "leaf", "text"), WHERE)
def test_a_navigation_prints_leaf_and_text_and_says_that_nothing_is_stored(
    run: Run, chat: Path, target: str, leaf: str | None, text: str | None
) -> None:
    """N-21..N-24, N-31, X-97, X-98, X-103."""
    before = chat.read_bytes()
    ended = run("navigate", chat, target)
    assert ended.lines == [f"leaf: {leaf or ABOVE_ALL}", *(["text:", f"  {text}"] if text else [])]
    assert (ended.status, ended.err.startswith("Nothing was stored: ")) == (0, True)
    ended = run("navigate", chat, target, "--json")
    assert ended.json == {
        "leaf_id": leaf,
        "editor_text": text,
        "editor_images": 0,
        "summary_id": None,
        "stored": False,
    }
    assert (ended.err, chat.read_bytes()) == ("", before)


LEAF_OPTIONS = [[], ["--label", "x"], ["--summarize"], ["--summarize", "--label", "x"]]


@pytest.mark.parametrize("options", LEAF_OPTIONS, ids=" ".join)
def test_the_current_leaf_is_no_target(run: Run, talk: Path, options: list[str]) -> None:
    """N-02, X-104: whatever was asked for, nothing happens, and no text of a user message is given."""
    before = talk.read_bytes()
    ended = run("navigate", talk, "u3", *options)
    assert (ended.status, ended.lines, talk.read_bytes()) == (0, ["leaf: u3"], before)
    assert ended.err.startswith("Nothing was stored: ")


@pytest.mark.parametrize("options", LEAF_OPTIONS, ids=" ".join)
def test_a_person_is_told_that_the_target_is_the_current_leaf(run: Run, talk: Path, options: list[str]) -> None:
    """N-02: why nothing happened."""
    assert "current leaf" in run("navigate", talk, "u3", *options).err


def test_a_label_alone_hangs_at_the_new_leaf_and_names_the_target(run: Run, chat: Path) -> None:
    """N-36, F-48."""
    ended = run("navigate", chat, "u2", "--label", "again")
    *_, label = records(chat)
    assert (label["type"], label["parentId"], label["targetId"], label["label"]) == ("label", "c1", "u2", "again")
    assert (ended.lines, ended.err) == ([f"leaf: {label['id']}", "text:", "  second"], "")
    record = run("navigate", chat, "u1", "--label", "root", "--json").json
    *_, label = records(chat)
    assert record == {
        "leaf_id": label["id"],
        "editor_text": "first",
        "editor_images": 0,
        "summary_id": None,
        "stored": True,
    }
    assert (label["parentId"], label["targetId"]) == (None, "u1")


@pytest.mark.parametrize(("target", "parent", "text"), WHERE)
def test_a_summary_is_stored_below_the_new_leaf(
    run: Run, chat: Path, target: str, parent: str | None, text: str | None
) -> None:
    """N-30, N-32, X-99..X-101."""
    before = chat.read_bytes()
    ended = run("navigate", chat, target, "--summarize", "--summarizer", "digest")
    *_, summary = records(chat)
    assert chat.read_bytes().startswith(before)
    assert (summary["type"], summary["parentId"], summary["fromId"]) == ("branch_summary", parent, parent or "root")
    assert ("two" in summary["summary"], summary["details"]["digest"]) == (True, True)
    shown = [f"leaf: {summary['id']}", f"summary: {summary['id']}"]
    shown += [f"  {line}".rstrip() for line in summary["summary"].split("\n")]
    assert ended.lines == [*shown, *(["text:", f"  {text}"] if text else [])]
    assert (ended.status, ended.err, run("verify", chat).status) == (0, "", 0)


def test_a_label_with_a_summary_is_the_label_of_the_summary(run: Run, chat: Path) -> None:
    """N-36: the label entry is the leaf."""
    record = run("navigate", chat, "a1", "--summarize", "--label", "side track", "--json").json
    *_, summary, label = records(chat)
    assert (label["parentId"], label["targetId"], label["label"]) == (summary["id"], summary["id"], "side track")
    assert record == {
        "leaf_id": label["id"],
        "editor_text": None,
        "editor_images": 0,
        "summary_id": summary["id"],
        "stored": True,
    }


def test_a_branch_is_a_new_file_that_ends_before_the_message(run: Run, chat: Path) -> None:
    """N-74, N-78, X-118, T-69."""
    before = chat.read_bytes()
    path, *text = run("branch", chat, "u2").lines
    header, *entries = records(path)
    assert (Path(path).parent, text) == (chat.parent, ["text:", "  second"])
    assert (header["parentSession"], [entry["id"] for entry in entries]) == (str(chat), ["u1", "a1", "c1"])
    record = run("branch", chat, "u2", "--json").json
    told = {
        "id": records(record["path"])[0]["id"],
        "parent_session": str(chat),
        "editor_text": "second",
        "editor_images": 0,
    }
    assert (record, chat.read_bytes()) == ({"path": record["path"], **told}, before)


def test_a_branch_at_a_root_message_is_a_file_that_can_be_gone_on_with(run: Run, write: Write) -> None:
    """N-73, X-116, X-119: it is there when the command ends, with its parent session and its name."""
    path = write(user("u1", "first"), assistant("a1", "one"), title="the name")
    record = run("branch", path, "u1", "--json").json
    [header] = records(record["path"])
    assert (header["id"], header["parentSession"], header["title"]) == (record["id"], str(path), "the name")
    [entry_id] = run("append", record["path"], "--role", "user", "--text", "anew").lines
    _, entry = records(record["path"])
    assert (entry["id"], entry["parentId"], run("verify", record["path"]).status) == (entry_id, None, 0)


@pytest.mark.parametrize(("keep", "first_kept"), [("1", "a2"), ("2", "c1")])
def test_a_compaction_prints_what_it_stored(run: Run, chat: Path, keep: str, first_kept: str) -> None:
    """K-03, K-32, K-34, K-67, K-69, X-137."""
    head, kept, tokens, *summary = run("compact", chat, "--keep", keep).lines
    *_, record = records(chat)
    assert (record["type"], record["parentId"], record["firstKeptEntryId"]) == ("compaction", "a2", first_kept)
    assert (head, kept) == (f"compaction: {record['id']}", f"first kept: {first_kept}")
    assert tokens == f"tokens before: {record['tokensBefore']:,}"
    assert summary == ["summary:", *(f"  {line}".rstrip() for line in record["summary"].split("\n"))]


def test_json_of_a_compaction_and_no_second_one(run: Run, refuse: Refuse, chat: Path) -> None:
    """K-40, K-62, K-69."""
    record = run("compact", chat, "--keep", "1", "--json").json
    *_, stored = records(chat)
    told = {"first_kept_entry_id": "a2", "tokens_before": stored["tokensBefore"], "summary": stored["summary"]}
    assert record == {"id": stored["id"], **told}
    assert refuse("compact", chat, "--keep", "1") == "already compacted"
    assert records(chat)[-1] == stored


REFUSED = [
    (["navigate", "u"], "Entry u not found"),
    (["navigate", "\udcff"], "Entry \ufffd not found"),
    (["navigate", "nope", "--summarize", "--label", "x"], "Entry nope not found"),
    (
        ["navigate", "u1", "--summarizer", "digest"],
        "--summarizer and --instructions need --summarize. (sessiontree nav",
    ),
    (["navigate", "u1", "--instructions", ""], "--summarizer and --instructions need --summarize. (sessiontree nav"),
    (["branch", "u"], "Entry u not found"),
    (["branch", "a1"], "Entry a1 is not a user message: a session is branched at one"),
    (["branch", "c1"], "Entry c1 is not a user message: a session is branched at one"),
    (["compact"], "nothing to compact: the session is too small"),
    (["compact", "--keep", "0"], "Invalid value for '--keep': 0 is not in the range x>=1."),
]


@pytest.mark.parametrize(("arguments", "line"), REFUSED, ids=ascii)
def test_what_cannot_be_done_is_said_in_one_line(refuse: Refuse, chat: Path, arguments: list[str], line: str) -> None:
    """N-03, N-70, T-101, T-102, K-62: ids are given whole; nothing is written."""
    before = files(chat)
    assert refuse(arguments[0], chat, *arguments[1:]).startswith(line)
    assert files(chat) == before


@pytest.mark.parametrize("who", ["", "openai", "openai:", "digest:", "Digest", "other:m", ":m", "\x1b[31m"])
def test_a_summarizer_that_is_none_is_refused(refuse: Refuse, chat: Path, who: str) -> None:
    for command, *rest in (SUMMARIZE, COMPACT):
        line = refuse(command, chat, *rest, "--summarizer", who)
        assert line.startswith(f"Invalid value for '--summarizer': {who!r} is not digest, openai:MODEL or anthropic:")


@pytest.mark.parametrize("arguments", [LABEL, [*SUMMARIZE, "--instructions"], [*COMPACT, "--instructions"]])
def test_a_text_of_other_bytes_than_utf8_is_refused(refuse: Refuse, chat: Path, arguments: list[str]) -> None:
    """As by `label` and `append`: no lone surrogate comes into the file or to a model."""
    assert refuse(arguments[0], chat, *arguments[1:], "\udcff").startswith(f"{arguments[-1]} is not UTF-8.")


def test_a_label_is_trimmed_and_a_blank_one_is_none(run: Run, chat: Path) -> None:
    """T-53, U-63: as by `label`."""
    assert run("navigate", chat, "u2", "--label", " ", "--json").json["stored"] is False
    run("navigate", chat, "u2", "--label", " side track ")
    assert run("dump", chat).json["labels"] == {"u2": "side track"}


@pytest.mark.parametrize("arguments", [["navigate", "u1"], ["branch", "u1"], ["compact"]], ids=" ".join)
def test_a_file_that_is_no_session_is_refused(refuse: Refuse, case: Case, write: Write, arguments: list[str]) -> None:
    """F-80, F-89, cases 11 and 12: a file of zero bytes is a session without entries, and stays so."""
    other, empty, missing = case("11"), write(path="empty.jsonl"), write().with_name("missing.jsonl")
    empty.write_bytes(b"")
    before = files(other), files(empty)
    assert "no session header" in refuse(arguments[0], other, *arguments[1:])
    assert refuse(arguments[0], missing, *arguments[1:]) == f"{missing}: no such file"
    assert refuse(arguments[0], empty, *arguments[1:]).startswith(("Entry u1 not found", "nothing to compact"))
    assert (files(other), files(empty)) == before


@pytest.mark.parametrize("number", ["01", "04", "16"])
def test_a_damaged_file_keeps_every_byte(run: Run, case: Case, number: str) -> None:
    """D7: a torn tail, bytes that are not UTF-8, lines that are no objects."""
    path = case(number)
    before = path.read_bytes()
    ended = run("navigate", path, "u1", "--summarize", "--json")
    assert (ended.status, path.read_bytes().startswith(before)) == (0, True)
    assert json.loads(path.read_bytes().splitlines()[-1])["id"] == ended.json["summary_id"]


def test_a_newer_version_is_read_and_not_written(run: Run, refuse: Refuse, case: Case) -> None:
    """F-100, case 78; a branch would claim that its entries are those of version 3."""
    before = files(path := case("78"))
    assert run("navigate", path, "u1").lines[0] == f"leaf: {ABOVE_ALL}"
    for arguments in (["navigate", path, "u1", "--label", "x"], ["branch", path, "u1"]):
        assert refuse(*arguments).endswith("is version 4, newer than version 3: it can be read, not written")
    assert files(path) == before


@pytest.mark.parametrize("arguments", STORING, ids=" ".join)
def test_a_place_that_cannot_be_written_is_said(
    refuse: Refuse, run: Run, chat: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    """Case 68, like by modes but for root too; a bare navigation needs no right to write."""
    real_open = os.open

    def refusing(path: Any, flags: int, *args: Any, **options: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and Path(os.fsdecode(path)).is_relative_to(chat.parent):
            raise OSError(30, "Read-only file system", os.fsdecode(path))
        return real_open(path, flags, *args, **options)

    before = files(chat)
    monkeypatch.setattr(os, "open", refusing)
    assert "Read-only file system" in refuse(arguments[0], chat, *arguments[1:])
    assert (run("navigate", chat, "u2").status, files(chat)) == (0, before)


@pytest.mark.parametrize("arguments", STORING, ids=" ".join)
def test_beside_another_writer_only_a_new_file_is_written(run: Run, chat: Path, arguments: list[str]) -> None:
    """D5."""
    before = chat.read_bytes()
    with chat.open("rb") as held:
        flock(held, LOCK_EX)
        ended = run(arguments[0], chat, *arguments[1:])
        assert run("navigate", chat, "u2").status == 0
    refused = f"sessiontree: {chat}: is being written by process " if arguments[0] != "branch" else ""
    assert (ended.status, ended.err[: len(refused)], chat.read_bytes()) == (2 if refused else 0, refused, before)


ODD_ID = "u2\x1b[1m\u202e"
LABELLED = [*SUMMARIZE, "--label", HOSTILE]


@pytest.mark.parametrize("arguments", [LABELLED, ["navigate", ODD_ID], ["branch", ODD_ID], COMPACT])
def test_nothing_that_a_terminal_obeys_is_printed(run: Run, write: Write, arguments: list[str]) -> None:
    """Case 67: of texts, ids, labels, summaries and paths; JSON holds all the same what was said."""
    said = [user("u2", HOSTILE), custom(HOSTILE, HOSTILE), user(ODD_ID, HOSTILE), assistant(f"{ODD_ID}a", HOSTILE)]
    path = write(*said, path="o\x1b[1md/session.jsonl")
    before = path.read_bytes()
    printed = run(arguments[0], path, *arguments[1:])
    path.write_bytes(before)
    as_json = run(arguments[0], path, *arguments[1:], "--json")
    lines = (printed.out + printed.err + as_json.out + as_json.err).split("\n")
    assert (printed.status, as_json.status, all(map(str.isprintable, lines))) == (0, 0, True)
    assert "tail" in printed.out
    assert HOSTILE in as_json.json.get("editor_text", as_json.json.get("summary"))
