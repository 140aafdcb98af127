"""`sessiontree config`: every setting with its default, and the file that it goes into."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.app.settings import DEFAULTS, Settings, read_settings

Run = Callable[..., Any]
Refuse = Callable[..., str]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the settings file of this test would be."""
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "sessiontree" / "config.toml"


@pytest.fixture
def settings_file(place: Path) -> Callable[[bytes], Path]:
    """Writes the settings file."""

    def write(content: bytes) -> Path:
        place.parent.mkdir(parents=True)
        place.write_bytes(content)
        return place

    return write


def test_the_file_is_named_first_and_every_default_follows(run: Run, place: Path) -> None:
    """Issue 4: every default documented; nothing is written."""
    ended = run("config")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == f"# {place} (not there yet)\n\n{DEFAULTS}"
    assert not place.parent.exists()


def test_what_is_printed_is_a_settings_file_that_changes_nothing(
    run: Run, settings_file: Callable[[bytes], Path]
) -> None:
    """Issue 4: `sessiontree config >` the file that it names."""
    path = settings_file(run("config").out.encode())
    assert read_settings() == Settings()
    assert run("config").lines[0] == f"# {path} (read)"


def test_the_defaults_are_printed_whatever_is_set(run: Run, settings_file: Callable[[bytes], Path]) -> None:
    settings_file(b"theme = 'dark'\n")
    printed = tomllib.loads(run("config").out)
    assert (printed["theme"], printed["double_escape_action"]) == ("auto", "branch")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"colour = 'red'", "unknown field `colour`"),
        (b"theme = 3", "at `$.theme`"),
        (b"[compaction", "at "),
        (b"\xff", "is not UTF-8"),
        (b'"\\u001b[31m" = 1', "unknown field"),
    ],
)
def test_a_file_that_holds_no_settings_is_one_line_with_its_path(
    refuse: Refuse, settings_file: Callable[[bytes], Path], content: bytes, reason: str
) -> None:
    path = settings_file(content)
    line = refuse("config")
    assert line.startswith(f"{path}: ")
    assert reason in line


def test_a_path_that_a_terminal_would_obey_is_printed_clean(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 67."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/odd\x1b[31m\n")
    assert run("config").lines[0].isprintable()


def test_it_takes_no_arguments(refuse: Refuse) -> None:
    assert "unexpected extra argument" in refuse("config", "theme")
