"""What a person typed wrong, and what the system refuses: one line, status 2, nothing written."""

from __future__ import annotations

import os
from collections.abc import Callable
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete

from sessiontree.app.cli import main

Run = Callable[..., Any]
Refuse = Callable[..., str]
Write = Callable[..., Path]

MESSAGE = {"id": "u1", "message": {"role": "user", "content": "hi"}}
FILE_COMMANDS: dict[str, list[str]] = {
    "tree": [],
    "context": [],
    "show": ["u1"],
    "search": ["pass"],
    "label": ["u1", "x"],
    "append": ["--role", "user", "--text", "x"],
    "fork": ["u1"],
    "navigate": ["u1"],
    "branch": ["u1"],
    "compact": [],
    "verify": [],
    "migrate": [],
    "dump": [],
}
WRITING = ["label", "append", "compact", "migrate"]
READING = FILE_COMMANDS.keys() - {*WRITING, "fork", "branch"}


def test_every_command_that_takes_a_file_is_tried_here() -> None:
    assert {*FILE_COMMANDS, "list", "config", "ui"} == set(main.commands)


@pytest.mark.parametrize("command", FILE_COMMANDS)
def test_a_file_that_is_no_session_is_refused_with_its_name(
    refuse: Refuse, tmp_path: Path, case: Callable[[str], Path], command: str
) -> None:
    """F-80, F-89, case 11: missing, a directory, binary, of another program, a device, a dead link."""
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(bytes(range(256)) * 9)
    other = case("11")
    link = tmp_path / "link.jsonl"
    link.symlink_to("nowhere")
    missing = tmp_path / "missing.jsonl"
    before = sorted(tmp_path.rglob("*")), binary.read_bytes(), other.read_bytes()
    for path, reason in [
        (missing, "no such file"),
        (tmp_path / "no" / "such", "no such file"),
        (link, "no such file"),
        (tmp_path, "is a directory"),
        (binary, "no session header"),
        (other, "no session header"),
        (Path("/dev/null"), "is no regular file"),
    ]:
        line = refuse(command, path, *FILE_COMMANDS[command])
        assert line.startswith(f"{path}: ")
        assert reason in line
    assert (sorted(tmp_path.rglob("*")), binary.read_bytes(), other.read_bytes()) == before


def test_a_file_without_permission_is_refused(refuse: Refuse, talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a refusing system, because tests may run as root."""
    real_open = os.open

    def refusing(path: Any, flags: int, *args: Any, **options: Any) -> int:
        if str(path).endswith("session.jsonl"):
            raise PermissionError(13, "Permission denied", str(path))
        return real_open(path, flags, *args, **options)

    monkeypatch.setattr(os, "open", refusing)
    for command, rest in FILE_COMMANDS.items():
        assert refuse(command, talk, *rest) == f"{talk}: Permission denied"


@pytest.fixture
def read_only_place(talk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session that can be read, in a place where nothing can be written; like by modes, but for root too."""
    real_open = os.open

    def refusing(path: Any, flags: int, *args: Any, **options: Any) -> int:
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        if writes and Path(os.path.realpath(os.fsdecode(path))).is_relative_to(talk.parent):
            raise OSError(30, "Read-only file system", os.fsdecode(path))
        return real_open(path, flags, *args, **options)

    monkeypatch.setattr(os, "open", refusing)
    return talk


@pytest.mark.parametrize("command", sorted(READING))
def test_a_command_that_reads_needs_no_right_to_write(run: Run, read_only_place: Path, command: str) -> None:
    """Case 68: it takes no lock and leaves the file's times alone."""
    before = read_only_place.stat()
    assert run(command, read_only_place, *FILE_COMMANDS[command]).status == 0
    assert run("list", "--sessions-dir", read_only_place.parent).status == 0
    after = read_only_place.stat()
    assert (after.st_mtime_ns, after.st_size) == (before.st_mtime_ns, before.st_size)


@pytest.mark.parametrize("command", ["label", "append", "fork"])
def test_a_command_that_writes_says_that_it_cannot(refuse: Refuse, read_only_place: Path, command: str) -> None:
    """Case 68."""
    before = read_only_place.read_bytes()
    assert "Read-only file system" in refuse(command, read_only_place, *FILE_COMMANDS[command])
    assert (read_only_place.read_bytes(), list(read_only_place.parent.glob("*.jsonl"))) == (before, [read_only_place])


def test_an_old_session_that_cannot_be_rewritten_stays_old(
    refuse: Refuse, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 70."""
    path = write(MESSAGE, version=2)

    def refuse_rename(*args: Any, **options: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "replace", refuse_rename)
    monkeypatch.setattr(os, "rename", refuse_rename)
    before = path.read_bytes()
    assert "Operation not permitted" in refuse("migrate", path)
    assert (path.read_bytes(), list(path.parent.glob("*session*"))) == (before, [path])


@pytest.mark.parametrize("command", WRITING)
def test_a_session_that_another_writer_holds_is_refused(refuse: Refuse, write: Write, command: str) -> None:
    """D5: readers are let in."""
    path = write(MESSAGE, version=2)
    before = path.read_bytes()
    with path.open("rb") as held:
        flock(held, LOCK_EX)
        assert refuse(command, path, *FILE_COMMANDS[command]).startswith(f"{path}: is being written by process")
    assert path.read_bytes() == before


def test_readers_are_let_in_beside_a_writer(run: Run, talk: Path) -> None:
    with talk.open("rb") as held:
        flock(held, LOCK_EX)
        assert [
            run(command, talk, *FILE_COMMANDS[command]).status for command in ("tree", "context", "show", "dump")
        ] == [0] * 4


@pytest.mark.parametrize(
    "arguments",
    [
        ["tree", "--leaf", "nope"],
        ["context", "--leaf", "nope"],
        ["dump", "--leaf", "nope"],
        ["show", "nope"],
        ["label", "nope", "x"],
        ["label", "u1", "x", "--at", "nope"],
        ["append", "--role", "user", "--text", "x", "--at", "nope"],
        ["fork", "nope"],
    ],
    ids=" ".join,
)
def test_an_unknown_entry_is_refused(refuse: Refuse, talk: Path, arguments: list[str]) -> None:
    """C-03 as settled, T-40, T-51, T-60."""
    before = talk.read_bytes()
    assert refuse(arguments[0], talk, *arguments[1:]) == "Entry nope not found"
    assert (talk.read_bytes(), list(talk.parent.glob("*.jsonl"))) == (before, [talk])


def test_an_id_that_names_no_session_or_several_is_refused(refuse: Refuse, write: Write, own_home: Path) -> None:
    """F-24."""
    for name in ("abc1", "abc2"):
        directory = write(MESSAGE, path=f"dir/{name}.jsonl", id=name).parent
    for command, rest in FILE_COMMANDS.items():
        line = refuse(command, "abc", *rest, "--sessions-dir", directory)
        assert line.startswith("abc: fits 2 sessions (abc1.jsonl, abc2.jsonl)")
        line = refuse(command, "zzz", *rest, "--sessions-dir", directory)
        assert line == f"zzz: no such file, and no session in {directory} has an id that begins so"
    assert str(own_home / ".pi" / "agent" / "sessions") in refuse("tree", "abc1", "--home", "pi")
    assert refuse("tree", "", "--sessions-dir", directory).startswith("'': no such file")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["tree"], "Missing argument 'FILE'. (sessiontree tree --help tells more)"),
        (["tree", "x", "--home", "vim"], "Invalid value for '--home': 'vim' is not one of 'pi', 'omp'."),
        (["tree", "x", "--filter", "some"], "Invalid value for '--filter'"),
        (["tree", "x", "y"], "Got unexpected extra argument (y)"),
        (["context", "x", "--format", "yaml"], "Invalid value for '--format'"),
        (["append", "x", "--role", "system", "--text", "t"], "Invalid value for '--role'"),
        (["search", "x"], "Missing argument 'QUERY'."),
        (["search", "x", " \t"], "QUERY has no word."),
        (["search", "x", "a", "--limit", "0"], "Invalid value for '--limit'"),
        (["list", "--sessions-dir", "/no/such"], "Invalid value for '--sessions-dir'"),
        (["list", "--sessions-dir", "/", "--home", "pi"], "--sessions-dir and --home exclude one another."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistyped_command_is_explained_in_one_line(refuse: Refuse, arguments: list[str], line: str) -> None:
    assert refuse(*arguments).startswith(line)


@pytest.mark.parametrize(
    "arguments", [["--what"], ["tree", "--what"], ["what"], ["tree", "x", "--filter"]], ids=" ".join
)
def test_an_unknown_option_or_command_is_named(refuse: Refuse, arguments: list[str]) -> None:
    assert arguments[-1] in refuse(*arguments)


@pytest.mark.parametrize(
    ("text", "stdin"), [("", b""), (" \n", b""), ("-", b""), ("-", b"\n"), ("-", b"\xff\xfe"), ("\udcff", b"")]
)
def test_a_message_without_text_or_of_other_bytes_than_utf8_is_refused(
    refuse: Refuse, talk: Path, text: str, stdin: bytes
) -> None:
    before = talk.read_bytes()
    refuse("append", talk, "--role", "user", "--text", text, stdin=stdin)
    refuse("label", talk, "u1", "\udcff")
    assert talk.read_bytes() == before


def test_nothing_that_a_terminal_obeys_is_in_an_error(refuse: Refuse, talk: Path) -> None:
    """Case 67: of paths, ids and options."""
    for arguments in (
        ["tree", "/no/\x1b[31msuch\x07\n.jsonl"],
        ["tree", "\x9b2J"],
        ["show", talk, "\x1b]0;title\x07\x9b"],
        ["tree", talk, "--leaf", "\u202e"],
        ["tree", talk, "--filter", "\x1b[2J"],
        ["\x1b[2J"],
    ):
        refuse(*arguments)


def test_an_unexpected_error_is_named_and_hints_at_debug(
    run: Run, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise KeyError("\x1b[31m odd")

    monkeypatch.setattr("sessiontree.commands.session_manager.SessionManager.get_line", fail)
    ended = run("show", talk, "u1")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == (
        "sessiontree: unexpected KeyError: '\\x1b[31m odd' (sessiontree --debug COMMAND … shows where)\n"
    )
    ended = run("--debug", "show", talk, "u1")
    first, *_, last = ended.err.splitlines()
    assert (ended.status, first) == (1, "Traceback (most recent call last):")
    assert last.startswith("sessiontree: unexpected KeyError")


def test_debug_shows_where_a_refusal_comes_from(run: Run, tmp_path: Path) -> None:
    ended = run("--debug", "tree", tmp_path / "\x1b[2J")
    assert ended.status == 2
    assert "SessionNotFoundError" in ended.err
    assert all(line.isprintable() for line in ended.err.splitlines())


@pytest.mark.parametrize("option", ["--version", "--help", "-h"])
def test_the_program_says_what_it_is(run: Run, option: str) -> None:
    ended = run(option)
    assert (ended.status, ended.err) == (0, "")
    assert "sessiontree" in ended.out


def test_without_a_command_the_commands_are_listed(run: Run) -> None:
    ended = run()
    assert ended.status == 0
    assert all(f"\n  {name} " in ended.out for name in main.commands)


def test_a_shell_can_complete_commands_options_and_values() -> None:
    shell = ShellComplete(main, {}, "sessiontree", "_SESSIONTREE_COMPLETE")
    for words, begun, ends in [
        ([], "t", "tree"),
        (["tree"], "--f", "--filter"),
        (["tree", "--filter"], "u", "user-only"),
    ]:
        assert [item.value for item in shell.get_completions(words, begun)] == [ends]


@pytest.mark.parametrize("name", [*FILE_COMMANDS, "list"])
def test_every_command_has_help_and_json_where_people_read_it(run: Run, name: str) -> None:
    ended = run(name, "--help")
    assert (ended.status, ended.out.startswith(f"Usage: sessiontree {name} ")) == (0, True)
    _, command, _ = main.resolve_command(click.Context(main), [name])
    assert command is not None
    options = {option for parameter in command.params for option in parameter.opts}
    assert {"--sessions-dir", "--home"} <= options
    assert ("--json" in options) == (name != "dump")
