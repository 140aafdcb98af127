"""Where sessions live, and which files of a directory are sessions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sessiontree.eventstore.directories import (
    canonical_cwd,
    default_sessions_dir,
    directory_for,
    home_sessions_dir,
    session_paths,
)


def test_the_default_is_the_variable_or_a_directory_in_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-30..F-33 as settled"""
    assert default_sessions_dir() == tmp_path / "home" / ".sessiontree" / "sessions"
    monkeypatch.setenv("SESSIONTREE_DIR", str(tmp_path / "mine"))
    assert default_sessions_dir() == tmp_path / "mine"
    monkeypatch.setenv("SESSIONTREE_DIR", "")
    assert default_sessions_dir() == tmp_path / "home" / ".sessiontree" / "sessions"


def test_below_the_default_each_working_directory_has_its_own(tmp_path: Path) -> None:
    """F-31 as settled: a readable name and a digest; the same every time."""
    directory = directory_for("/proj/My demo!")
    assert directory.parent == default_sessions_dir()
    assert directory.name.startswith("My-demo-")
    assert directory == directory_for("/proj/My demo!") == directory_for("/proj/x/../My demo!")
    assert not directory.exists()


def test_no_two_working_directories_share_one(tmp_path: Path) -> None:
    """F-30, F-31 as settled: names that the homes' own encoding would mix up."""
    cwds = [
        "/",
        "/a/b",
        "/a-b",
        "/a/b-",
        "/a:b",
        "/a b",
        "/b/a b",
        "/A/B",
        "/ä",
        "/a\\b",
        "/" + "x" * 100,
        "/y/" + "x" * 100,
    ]
    directories = {directory_for(cwd) for cwd in cwds}
    assert len(directories) == len(cwds)
    assert len({str(directory).casefold() for directory in directories}) == len(cwds)
    assert all(len(directory.name) <= 120 for directory in directories)


@pytest.mark.parametrize(
    ("cwd", "readable"),
    [
        ("/", "project"),
        ("/...", "project"),
        ("/--", "project"),
        ("/日本", "project"),
        ("/proj/.hidden", "hidden"),
        ("/proj/a--b__c.d", "a--b__c.d"),
        ("/proj/a   b", "a-b"),
        ("/proj/" + "x" * 100 + "END", "x" * 77 + "END"),
    ],
)
def test_the_readable_part_is_the_last_name_in_plain_characters(cwd: str, readable: str) -> None:
    """F-31: at most 80 characters; `project` where nothing is left."""
    assert directory_for(cwd).name.rpartition("-")[0] == readable


def test_links_to_one_working_directory_lead_to_one_sessions_directory(tmp_path: Path) -> None:
    """F-31: the canonical path counts, whether it exists or not."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert directory_for(tmp_path / "link") == directory_for(tmp_path / "real")
    assert canonical_cwd(tmp_path / "link" / "gone") == str(tmp_path / "real" / "gone")
    assert canonical_cwd("/no/such/../place") == "/no/place"


@pytest.mark.parametrize("odd", ["/a\0b", "/\ud83d", "relative", ""])
def test_a_recorded_working_directory_that_can_be_no_path_is_compared_as_it_stands(odd: str) -> None:
    """F-91: what a header says is data."""
    assert isinstance(canonical_cwd(odd), str)


def test_an_explicit_directory_takes_files_directly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-33: made absolute, not resolved."""
    monkeypatch.chdir(tmp_path)
    assert directory_for("/any", tmp_path / "mine") == directory_for("/other", "mine") == tmp_path / "mine"


def test_the_homes_of_pi_and_oh_my_pi_are_found_by_their_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-30: `PI_CODING_AGENT_SESSION_DIR`, else `PI_CODING_AGENT_DIR`, else the home."""
    home = tmp_path / "home"
    assert home_sessions_dir("pi") == home / ".pi" / "agent" / "sessions"
    assert home_sessions_dir("omp") == home / ".omp" / "agent" / "sessions"
    monkeypatch.setenv("PI_CODING_AGENT_DIR", "~/agent")
    assert {home_sessions_dir("pi"), home_sessions_dir("omp")} == {home / "agent" / "sessions"}
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", "~/there")
    assert home_sessions_dir("pi") == home / "there"


def test_sessions_are_the_jsonl_files_of_a_directory_and_one_level_below(tmp_path: Path) -> None:
    """F-33, F-92 as settled, X-46: other names, deeper levels and directories are none."""
    wanted = ["a.jsonl", "b.jsonl", "sub/c.jsonl", "sub.jsonl/d.jsonl", "--old--/e.jsonl"]
    others = ["a.json", "a.jsonl.bak", ".a.jsonl.0123.tmp", "jsonl", "sub/deep/f.jsonl", "sub/g.txt", "a.JSONL"]
    for name in wanted + others:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "sub" / "directory.jsonl").mkdir()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
    (tmp_path / "linked").symlink_to(tmp_path / "--old--")
    found = list(session_paths(tmp_path))
    assert sorted(found) == sorted(tmp_path / name for name in [*wanted, "link.jsonl", "linked/e.jsonl"])
    assert found == list(session_paths(str(tmp_path)))


def test_a_directory_that_is_not_there_has_none(tmp_path: Path) -> None:
    """F-92"""
    assert list(session_paths(tmp_path / "no" / "such")) == []


def test_what_cannot_be_listed_is_an_error_above_and_passed_over_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-92: and links in a circle harm nobody."""
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "closed").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "up").symlink_to(tmp_path)
    with pytest.raises(NotADirectoryError):
        list(session_paths(tmp_path / "a.jsonl"))
    scandir = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert list(session_paths(tmp_path)) == [tmp_path / "a.jsonl", tmp_path / "up" / "a.jsonl"]
