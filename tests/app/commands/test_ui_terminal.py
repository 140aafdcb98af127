"""`sessiontree ui` in a real terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ, tcgetattr
from typing import Any

import pytest

PROGRAM = Path(sys.executable).with_name("sessiontree")
SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?<>$=]*[A-Za-z]|\][^\x07]*\x07)")


@pytest.fixture(autouse=True)
def nothing_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the person who runs the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


class Terminal:
    """The installed command on a terminal of 30 lines and 100 columns."""

    def __init__(self, *args: str | Path) -> None:
        self.controller, self.terminal = pty.openpty()
        ioctl(self.terminal, TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.modes = tcgetattr(self.terminal)
        environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [PROGRAM, *args],
            stdin=self.terminal,
            stdout=self.terminal,
            stderr=self.terminal,
            env={**environment, "TERM": "xterm-256color"},
            start_new_session=True,
        )
        self.printed = b""

    def wait_for(self, *texts: str) -> None:
        """Return when all these were printed since the last keys."""
        while not all(text in SEQUENCE.sub("", self.printed.decode(errors="replace")) for text in texts):
            assert select.select([self.controller], [], [], 20)[0], self.printed
            self.printed += os.read(self.controller, 1 << 16)

    def press(self, keys: bytes) -> None:
        self.printed = b""
        os.write(self.controller, keys)

    def end(self) -> int:
        """Return the exit status; what was printed is read to the end."""
        while self.process.poll() is None:
            if select.select([self.controller], [], [], 0.05)[0]:
                self.printed += os.read(self.controller, 1 << 16)
        while select.select([self.controller], [], [], 0)[0]:
            self.printed += os.read(self.controller, 1 << 16)
        return self.process.returncode

    @property
    def is_restored(self) -> bool:
        """Whether the terminal is as it was: its modes, its screen, its cursor, and no mouse."""
        off = [b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?2004l"]
        return tcgetattr(self.terminal) == self.modes and all(sequence in self.printed for sequence in off)


@pytest.fixture
def on_terminal() -> Iterator[Callable[..., Any]]:
    """Starts the command on a terminal; it is ended with the test."""
    started: list[Terminal] = []

    def start(*args: str | Path) -> Terminal:
        started.append(Terminal(*args))
        return started[-1]

    yield start
    for terminal in started:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.controller)
        os.close(terminal.terminal)


def test_a_message_that_is_typed_in_a_terminal_is_in_the_file(talk: Path, on_terminal: Callable[..., Any]) -> None:
    """Issue 4: the conversation, a message, and a terminal as it was."""
    before = talk.read_bytes()
    terminal = on_terminal("ui", talk)
    terminal.wait_for("They pass.", "wait, look again", "F1 help")
    terminal.press(b"hello there\r")
    terminal.wait_for("recorded; nobody answers")
    terminal.press(b"/quit\r")
    assert terminal.end() == 0
    assert terminal.is_restored
    assert talk.read_bytes().startswith(before)
    record = json.loads(talk.read_bytes()[len(before) :])
    assert (record["parentId"], record["message"]["content"]) == ("u3", "hello there")


def test_in_a_terminal_the_conversation_follows_the_picker(talk: Path, on_terminal: Callable[..., Any]) -> None:
    """Issue 4: the session picker when no FILE is given."""
    before = talk.read_bytes()
    terminal = on_terminal("ui", "--sessions-dir", talk.parent)
    terminal.wait_for("1 of 1")
    terminal.press(b"\r")
    terminal.wait_for("They pass.", "F1 help")
    terminal.press(b"\x03")
    assert terminal.end() == 0
    assert (terminal.is_restored, talk.read_bytes()) == (True, before)


def test_in_a_terminal_whoever_leaves_the_picker_is_done(tmp_path: Path, on_terminal: Callable[..., Any]) -> None:
    """Issue 4: also where there is no session to pick."""
    terminal = on_terminal("ui", "--sessions-dir", tmp_path)
    terminal.wait_for("0 of 0 sessions")
    terminal.press(b"\x1b")
    assert (terminal.end(), terminal.is_restored) == (0, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(
    number: signal.Signals, talk: Path, on_terminal: Callable[..., Any]
) -> None:
    terminal = on_terminal("ui", talk)
    terminal.wait_for("F1 help")
    terminal.press(b"")
    terminal.process.send_signal(number)
    assert (terminal.end(), terminal.is_restored) == (128 + number, True)


def test_without_its_terminal_it_ends(talk: Path, on_terminal: Callable[..., Any]) -> None:
    """The window was closed."""
    terminal = on_terminal("ui", talk)
    terminal.wait_for("F1 help")
    os.close(terminal.controller)
    terminal.process.send_signal(signal.SIGHUP)
    status = terminal.process.wait(20)
    terminal.controller = os.dup(terminal.terminal)  # which the fixture closes
    assert status == 128 + signal.SIGHUP
