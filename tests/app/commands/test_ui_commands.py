"""`sessiontree ui` and `config`: what they say, and a short visit in a real terminal."""

from __future__ import annotations

import os
import pty
import select
import struct
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ
from typing import Any

import pytest

PROGRAM = Path(sys.executable).with_name("sessiontree")
Run = Callable[..., Any]


def test_config_prints_every_setting_ready_for_the_file_that_it_names(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    ended = run("config")
    path = tmp_path / "sessiontree" / "config.toml"
    assert ended.lines[0] == f"# {path} (not there yet)"
    assert tomllib.loads(ended.out)["double_escape_action"] == "branch"
    path.parent.mkdir()
    path.write_text(ended.out)
    assert run("config").lines[0] == f"# {path} (read)"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["none.jsonl"], "no such file"),
        (["{talk}", "--model", "other:m"], "is not digest, openai:MODEL or anthropic:MODEL"),
        (["{talk}", "--config", "/no/such.toml"], "/no/such.toml: no such file"),
    ],
)
def test_what_cannot_be_shown_is_one_line(
    refuse: Callable[..., str], talk: Path, arguments: list[str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(talk.parent))
    assert reason in refuse("ui", *(argument.format(talk=talk) for argument in arguments))


def test_without_its_extra_the_terminal_interface_says_what_to_install(
    refuse: Callable[..., str], talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str, package: str) -> None:
        raise ModuleNotFoundError("No module named 'textual'", name="textual")

    monkeypatch.setattr("sessiontree.app.ui_extra.import_module", absent)
    assert "pip install 'sessiontree[tui]'" in refuse("ui", talk)


def visit(*arguments: str | Path, keys: list[bytes], until: list[str]) -> tuple[int, str]:
    """Run the command in a terminal of 30 by 100, send each of `keys` when the text beside it was drawn."""
    controller, terminal = pty.openpty()
    ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen(
        [PROGRAM, *arguments], stdin=terminal, stdout=terminal, stderr=terminal, env={**os.environ, "TERM": "xterm"}
    )
    os.close(terminal)
    drawn = ""
    for key, text in zip(keys, until, strict=True):
        seen = ""
        end = time.monotonic() + 40
        while text not in seen and time.monotonic() < end:
            if select.select([controller], [], [], 0.5)[0]:
                try:
                    seen += os.read(controller, 1 << 16).decode(errors="replace")
                except OSError:
                    break
        assert text in seen
        drawn += seen
        os.write(controller, key)
    while True:
        try:
            if not os.read(controller, 1 << 16):
                break
        except OSError:
            break
    os.close(controller)
    return process.wait(40), drawn


def test_a_message_that_is_typed_in_a_terminal_is_in_the_file(talk: Path) -> None:
    status, _ = visit("ui", talk, keys=[b"hello there\r", b"/quit\r"], until=["F1 help", "recorded"])
    assert status == 0
    assert '"content":"hello there"' in talk.read_text().splitlines()[-1]


def test_without_a_file_the_picker_comes_first(tmp_path: Path) -> None:
    status, _ = visit("ui", "--sessions-dir", tmp_path, keys=[b"\x1b"], until=["0 of 0 sessions"])
    assert status == 0
