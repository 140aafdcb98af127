"""The README's examples run: the Python blocks in order, as one program, and the commands of the transcript."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def promised_output() -> list[str]:
    """The comments behind the calls of print."""
    return [line.partition("  # ")[2] for block in blocks("python") for line in block.splitlines() if "print(" in line]


async def test_the_python_blocks_run_and_print_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    names: dict[str, Any] = {}
    for number, block in enumerate(blocks("python"), start=1):
        code = compile(block, f"README block {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, names)
        if inspect.isawaitable(result):
            await result
    assert capsys.readouterr().out.splitlines() == promised_output()


def test_the_first_commands_are_the_two_that_set_everything_up() -> None:
    assert [line.split("#")[0].strip() for line in blocks("sh")[0].splitlines()] == ["make demo", "make test"]


def pattern(shown: str) -> str:
    """What a command has to print: an ellipsis stands for anything, an id alone on its line for another one."""
    return re.sub(r"^[0-9a-f]{8}$", "[0-9a-f]{8}", re.escape(shown).replace("…", ".*"), flags=re.MULTILINE)


def test_the_commands_of_the_transcript_print_what_it_shows(tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "sample-session.jsonl", tmp_path / "session.jsonl")
    [transcript] = blocks("console")
    for part in transcript.removeprefix("$ ").split("\n$ "):
        line, _, shown = part.partition("\n")
        program, *arguments = shlex.split(line)
        command = [str(Path(sys.executable).with_name(program)), *arguments]
        printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert re.fullmatch(pattern(shown.rstrip("\n")), printed.rstrip("\n")), f"{line}\n{printed}"
