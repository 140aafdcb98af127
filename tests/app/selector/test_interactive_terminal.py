"""`sessiontree tree -i` as a process, on a real terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ
from typing import Any

import pytest

PROGRAM = Path(sys.executable).with_name("sessiontree")
SEQUENCE = re.compile(r"\x1b(?:\[([0-9;?<>$=]*)([A-Za-z])|\][^\x07]*\x07)")
UP, ENTER, CONTROL_C, CONTROL_O, SHIFT_L = b"\x1b[A", b"\r", b"\x03", b"\x0f", b"L"


class Terminal:
    """The installed command on a terminal of a fixed size."""

    def __init__(self, *args: str | Path, size: tuple[int, int] = (24, 80), **options: Any) -> None:
        self.controller, terminal = pty.openpty()
        ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        options = {"stdin": terminal, "stdout": terminal, "stderr": terminal, **options}
        options["env"] = {**environment, "TERM": "xterm-256color", **options.get("env", {})}
        self.process = subprocess.Popen([PROGRAM, *args], start_new_session=True, **options)
        os.close(terminal)
        self.printed = bytearray()

    @property
    def text(self) -> str:
        """What was printed, without what moves and colours."""
        return SEQUENCE.sub("", self.printed.decode("utf-8", "replace"))

    @property
    def screen(self) -> str:
        """What the terminal shows, as far as it was placed by line and column; no wide characters."""
        cells: dict[tuple[int, int], str] = {}
        line = column = 1
        end = 0
        printed = self.printed.decode("utf-8", "replace")
        for found in [*SEQUENCE.finditer(printed), None]:
            for character in printed[end : found.start() if found else None]:
                cells[line, column] = character
                column += 1
            if found:
                end = found.end()
                if found[2] == "H":
                    line, column = map(int, (found[1] or "1;1").split(";"))
        rows = [[cells.get((row, column), " ") for column in range(1, 200)] for row in range(1, 60)]
        return "\n".join("".join(row).rstrip() for row in rows)

    def _read(self) -> bool:
        """Take in what is there; False at the end."""
        assert select.select([self.controller], [], [], 20)[0], self.screen
        try:
            part = os.read(self.controller, 65536)
        except OSError:  # EIO: the other end was closed
            return False
        self.printed += part
        return bool(part)

    def wait_for(self, *texts: str) -> None:
        """Return when the terminal shows all these."""
        while not all(text in self.screen for text in texts):
            assert self._read(), self.screen

    def press(self, keys: bytes) -> None:
        os.write(self.controller, keys)

    def end(self) -> int:
        """Read to the end; returns the exit status."""
        while self._read():
            pass
        return self.process.wait(20)


@pytest.fixture
def on_terminal() -> Iterator[Callable[..., Any]]:
    """Starts the command on a terminal; it is ended with the test."""
    started: list[Terminal] = []

    def start(*args: str | Path, **options: Any) -> Terminal:
        started.append(Terminal(*args, **options))
        return started[-1]

    yield start
    for terminal in started:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.controller)


def test_a_person_moves_in_the_tree_and_its_choice_is_printed(talk: Path, on_terminal: Callable[..., Any]) -> None:
    """U-60..U-62 on a real terminal: the screen is left as it was."""
    before = talk.read_bytes()
    terminal = on_terminal("tree", "-i", talk)
    terminal.wait_for("› ├─ • user: wait, look again", "[green] assistant: They pass.", "(4/6)  [default]  F1 help")
    terminal.press(CONTROL_O + CONTROL_O)
    terminal.wait_for("(2/3)  [user-only]", "└─ user: then commit")
    terminal.press(UP)
    terminal.wait_for("› • user: do the tests pass?", "(1/3)")
    terminal.press(ENTER)
    assert terminal.end() == 0
    assert terminal.text.endswith("u1\r\n")
    assert b"\x1b[?1049l" in terminal.printed
    assert talk.read_bytes() == before


def test_a_label_is_recorded_and_ctrl_c_chooses_nothing(talk: Path, on_terminal: Callable[..., Any]) -> None:
    """U-62, U-63 on a real terminal."""
    terminal = on_terminal("tree", "-i", talk, size=(12, 40))
    terminal.wait_for("wait, look again")
    terminal.press(SHIFT_L)
    terminal.wait_for("label (empty: none)")
    terminal.press(b"mark" + ENTER)
    terminal.wait_for("[mark] user: wait")
    terminal.press(CONTROL_C)
    assert terminal.end() == 0
    assert not re.search(r"\b[aur][123]\b", terminal.text)
    assert b'"label":"mark"' in talk.read_bytes()


@pytest.mark.parametrize(
    "size",
    [
        (24, 80),
        (40, 120),
    ],
)
def test_standard_output_holds_the_id_alone(
    size: tuple[int, int], talk: Path, on_terminal: Callable[..., Any]
) -> None:
    """The tree is drawn on the whole terminal, so that `id=$(sessiontree tree -i FILE)` works."""
    terminal = on_terminal("tree", "-i", talk, size=size, stdout=subprocess.PIPE)
    terminal.wait_for("wait, look again", "F1 help")
    last_line = max(int(line) for line in re.findall(rb"\x1b\[(\d+);\d+H", terminal.printed))
    terminal.press(ENTER)
    terminal.end()
    assert terminal.process.stdout.read() == b"u3\n"
    terminal.process.stdout.close()
    assert last_line == size[0]


@pytest.mark.parametrize("not_one", ["stdin", "stderr"])
def test_without_a_terminal_it_is_refused_in_one_line(
    not_one: str, talk: Path, on_terminal: Callable[..., Any]
) -> None:
    terminal = on_terminal("tree", "-i", talk, **{not_one: subprocess.PIPE})
    if not_one == "stdin":
        assert terminal.end() == 2
        said = terminal.text
    else:
        said = terminal.process.stderr.read().decode()
        assert terminal.end() == 2
        assert terminal.text == ""
    assert (
        said.replace("\r\n", "\n")
        == "sessiontree: --interactive needs a terminal. (sessiontree tree --help tells more)\n"
    )
    getattr(terminal.process, not_one).close()


def test_without_textual_it_says_what_to_install_in_one_line(
    talk: Path, tmp_path: Path, on_terminal: Callable[..., Any]
) -> None:
    """The extra `tui`; a package that stands before the real one says that there is none."""
    (tmp_path / "textual").mkdir()
    (tmp_path / "textual" / "__init__.py").write_text("raise ModuleNotFoundError('none', name='textual')\n")
    terminal = on_terminal("tree", "-i", talk, env={"PYTHONPATH": str(tmp_path)})
    assert terminal.end() == 2
    assert re.fullmatch(r"sessiontree: [^\n]*pip install 'sessiontree\[tui\]'[^\n]*\r\n", terminal.text)
    assert subprocess.run([PROGRAM, "tree", talk], env={"PYTHONPATH": str(tmp_path)}, capture_output=True).stdout
