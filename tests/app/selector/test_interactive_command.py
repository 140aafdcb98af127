"""`sessiontree tree -i` in this process, as if it were on a terminal."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from textual.pilot import Pilot

from sessiontree.app.cli import main
from sessiontree.app.selector.tree_app import TreeApp
from sessiontree.app.ui_extra import needed_ui


def test_without_textual_nothing_is_opened(
    talk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same in this process."""

    def absent(name: str, package: str) -> None:
        raise ModuleNotFoundError("No module named 'textual'", name="textual")

    monkeypatch.setattr("sessiontree.app.ui_extra.import_module", absent)
    monkeypatch.setattr("sessiontree.app.tree_command.SessionManager", None)
    with terminals(monkeypatch), pytest.raises(SystemExit) as ended:
        main.main(["tree", "-i", str(talk)])
    assert (ended.value.code, "sessiontree[tui]" in capsys.readouterr().err) == (2, True)


def test_another_module_that_is_not_there_is_an_error_of_ours() -> None:
    with pytest.raises(ModuleNotFoundError):
        needed_ui(".selector.no_such_module", "choose_entry")


class Ended(NamedTuple):
    status: int
    out: str
    err: str


Interact = Callable[..., Ended]


@pytest.fixture
def interact(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Interact:
    """Runs the command in this process as if on a terminal, and presses keys."""
    run_async = TreeApp.run_async

    def interact(*args: str | Path, keys: str = "enter") -> Ended:
        async def press(pilot: Pilot[object]) -> None:
            await pilot.app.workers.wait_for_complete()
            for key in keys.split():
                await pilot.press(key)

        monkeypatch.setattr(TreeApp, "run_async", lambda app: run_async(app, headless=True, auto_pilot=press))
        with terminals(monkeypatch), pytest.raises(SystemExit) as ended:
            main.main(["tree", *map(str, args), "-i"], prog_name="sessiontree")
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, *capsys.readouterr())

    return interact


@contextmanager
def terminals(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO())
        for stream in (sys.stdin, sys.stderr):
            patch.setattr(stream, "isatty", lambda: True)
        yield


@pytest.mark.parametrize(
    ("options", "keys", "printed"),
    [
        ([], "enter", "u3\n"),
        ([], "up shift+enter", "a2\n"),
        ([], "escape", ""),
        ([], "ctrl+c", ""),
        (["--filter", "labeled-only"], "enter", "a2\n"),
        (["--search", "commit"], "enter", "u2\n"),
        (["--search", "nowhere"], "enter escape escape", ""),
        (["--leaf", "a3"], "enter", "a3\n"),
        (["--leaf", "l1"], "enter", "a3\n"),
    ],
)
def test_the_id_of_what_is_chosen_is_printed(
    options: list[str], keys: str, printed: str, talk: Path, interact: Interact
) -> None:
    """U-57, U-5B, U-61: options as without `-i`; nothing chosen, nothing printed."""
    before = talk.read_bytes()
    assert interact(talk, *options, keys=keys) == (0, printed, "")
    assert talk.read_bytes() == before


def test_an_id_that_a_terminal_would_obey_is_printed_clean(write: Callable[..., Path], interact: Interact) -> None:
    """Case 67."""
    path = write({"id": "a\x1b[31mb", "message": {"role": "user", "content": "x"}})
    assert interact(path).out == "a[31mb\n"


@pytest.mark.parametrize("options", [["--leaf", "gone"], ["--filter", "none"], ["--json"]])
def test_a_wrong_option_is_refused_before_anything_is_drawn(
    options: list[str], talk: Path, interact: Interact
) -> None:
    ended = interact(talk, *options, keys="ctrl+c")
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)


def test_a_damaged_file_is_refused_before_anything_is_drawn(tmp_path: Path, interact: Interact) -> None:
    """F-89."""
    path = tmp_path / "session.jsonl"
    path.write_text("no session\n")
    ended = interact(path, keys="ctrl+c")
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)


def test_no_progress_is_counted_while_a_person_chooses(talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard error is the terminal that the tree is on."""
    running: list[str] = []

    async def choose_entry(*args: object) -> None:
        await asyncio.sleep(0)
        running.extend(repr(task.get_coro()) for task in asyncio.all_tasks())

    monkeypatch.setattr("sessiontree.app.selector.tree_app.choose_entry", choose_entry)
    with terminals(monkeypatch), pytest.raises(SystemExit):
        main.main(["tree", "-i", str(talk)])
    assert running
    assert not any("Progress" in name for name in running)
