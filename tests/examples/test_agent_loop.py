"""The example of an agent runtime does what it shows, and stops when it is told to."""

from __future__ import annotations

import asyncio
import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "agent_loop.py"


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) < 100


def test_the_example_uses_a_tool_compacts_navigates_and_summarizes() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith(">")] == [
        "> What does this file do?",
        "> What is its tool?",
        "> And Ctrl-C?",
        "> What is its tool? (briefly)",
    ]
    assert sum(line.startswith("  (compacted: ") for line in lines) == 1
    assert sum(line.startswith("  (moved from ") for line in lines) == 1
    turn = "'user', 'assistant', 'toolResult', 'assistant'"
    assert lines[-1] == f"context: [{turn}, 'branchSummary', {turn}]"


async def test_an_interrupt_ends_the_example_with_everything_said_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    example = runpy.run_path(str(EXAMPLE))

    async def interrupted(model: Any, messages: list[Any]) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()

    monkeypatch.setattr(example["ScriptedModel"], "answer", interrupted)
    try:
        await example["main"](str(tmp_path), ["What does this file do?"])
    finally:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "> What does this file do?"
    assert lines[1].startswith("stopped: aborted: Ctrl-C; everything said so far is in ")
    assert lines[2] == "context: ['user']"
