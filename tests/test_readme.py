"""The README's Python blocks run in order, as one program, and print what their comments say."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def promised_output() -> list[str]:
    """The comments behind the calls of print."""
    return [line.partition("  # ")[2] for block in BLOCKS for line in block.splitlines() if "print(" in line]


async def test_the_python_blocks_run_and_print_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    names: dict[str, Any] = {}
    for number, block in enumerate(BLOCKS, start=1):
        code = compile(block, f"README block {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, names)
        if inspect.isawaitable(result):
            await result
    assert capsys.readouterr().out.splitlines() == promised_output()


def test_the_first_commands_are_the_two_that_set_everything_up() -> None:
    shell = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert [line.split("#")[0].strip() for line in shell[0].splitlines()] == ["make demo", "make test"]
