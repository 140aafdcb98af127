"""`make demo` runs to its end, leaves what it says it leaves, and ends with the tree and the context."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from sessiontree import SessionManager

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def demo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo", EXAMPLES / "demo.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def ran(demo: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("demo") / "demo-session"
    directory.mkdir()
    (directory / "left-over.jsonl").touch()
    demo.main(directory)
    return directory


def test_every_step_is_named_in_short_lines_and_the_tree_and_the_context_come_last(
    demo: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    demo.main(tmp_path / "demo-session")
    printed, errors = capfd.readouterr()
    assert errors == ""
    assert re.findall(r"^(\d)\. ", printed, re.MULTILINE) == list("123456789")
    tree, context = printed.partition("8. ")[2].split("9. ")
    assert "[for the changelog]" in tree
    assert "[fixed]" in tree
    assert "One line for the changelog, please." in context
    assert [line for line in printed.partition("8. ")[0].splitlines() if len(line) > 80] == []


def test_the_directory_is_made_anew(ran: Path) -> None:
    assert not (ran / "left-over.jsonl").exists()
    assert len(list(ran.iterdir())) == 2


async def test_the_sample_stands_at_the_start_of_the_copy(ran: Path) -> None:
    sample = (EXAMPLES / "sample-session.jsonl").read_bytes()
    lines = (ran / "session.jsonl").read_bytes()
    assert lines.startswith(sample)
    assert lines[len(sample) :].count(b"\n") == 3


async def test_the_fork_ends_with_the_answer_and_names_its_origin(ran: Path) -> None:
    [path] = set(ran.iterdir()) - {ran / "session.jsonl"}
    async with await SessionManager.open(path, read_only=True) as fork:
        assert fork.header.parent_session == str(ran / "session.jsonl")
        assert set(fork.labels.values()) == {"cause found", "fixed", "for the changelog"}
        assert fork.report.faults == []
