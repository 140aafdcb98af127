"""Sessions as files, and the command run on them."""

from __future__ import annotations

import io
import json
import os
import pty
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ
from typing import Any, NamedTuple

import pytest

from sessiontree.app.cli import main

CASES = Path(__file__).parents[2] / "cases"
ROW_CASES = Path(__file__).parents[1] / "rows" / "data"
PROGRAM = Path(sys.executable).with_name("sessiontree")


class Ended(NamedTuple):
    """How a command ended: its exit status, and what it printed on standard output and standard error."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ended]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test touches the sessions of the person who runs it."""
    home = tmp_path / "home"
    for name in ("SESSIONTREE_DIR", "PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Runs the command in this process; its output has to be UTF-8."""

    def run(*args: str | Path, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsysbinary.readouterr()
        with pytest.raises(SystemExit) as ended:
            main.main([str(arg) for arg in args], prog_name="sessiontree")
        printed = capsysbinary.readouterr()
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, printed.out.decode("utf-8"), printed.err.decode("utf-8"))

    return run


@pytest.fixture
def refuse(run: Run) -> Callable[..., str]:
    """Runs a command that has to be refused: status 2, nothing on standard output; returns its one line."""

    def refuse(*args: str | Path, stdin: bytes = b"") -> str:
        ended = run(*args, stdin=stdin)
        assert (ended.status, ended.out) == (2, "")
        line, end, rest = ended.err.partition("\n")
        assert (line.startswith("sessiontree: "), end, rest) == (True, "\n", "")
        assert line.isprintable()
        return line.removeprefix("sessiontree: ")

    return refuse


@pytest.fixture
def start() -> Callable[..., subprocess.Popen[bytes]]:
    """Starts the installed command as a process of its own, that an interrupt reaches."""

    def start(*args: str | Path, **options: Any) -> subprocess.Popen[bytes]:
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen([PROGRAM, *args], **options)

    return start


@pytest.fixture
def on_terminal() -> Callable[..., list[str]]:
    """Runs the installed command on a terminal of so many columns; returns its lines."""

    def on_terminal(width: int, *args: str | Path) -> list[str]:
        controller, terminal = pty.openpty()
        ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        process = subprocess.Popen([PROGRAM, *args], stdout=terminal, stderr=terminal, env=environment)
        os.close(terminal)
        printed = bytearray()
        try:
            while part := os.read(controller, 65536):
                printed += part
        except OSError:  # EIO: the other end was closed
            pass
        os.close(controller)
        assert process.wait() == 0
        return printed.decode("utf-8").replace("\r\n", "\n").removesuffix("\n").split("\n")

    return on_terminal


@pytest.fixture
def case(tmp_path: Path) -> Callable[[str], Path]:
    """Copies the case with this number into a directory of its own; returns its `session.jsonl`."""

    def case(number: str) -> Path:
        target = tmp_path / f"case-{number}"
        if (of_rows := ROW_CASES / f"case-{number}.jsonl").exists():
            target.mkdir()
            shutil.copy(of_rows, target / "session.jsonl")
        else:
            (source,) = CASES.glob(f"{number}-*")
            shutil.copytree(source, target)
        return target / "session.jsonl"

    return case


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a session of these records, each below the one before unless it says so, one second apart."""

    def write(*records: dict[str, Any] | bytes, path: str = "session.jsonl", **header: Any) -> Path:
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        header = {"type": "session", "version": 3, "id": "019b8d00-0000-7000-8000-000000000001", **header}
        lines = [json.dumps({"timestamp": "2026-01-05T10:00:00.000Z", "cwd": "/proj/demo", **header}).encode()]
        parent_id = None
        for number, record in enumerate(records, start=1):
            if isinstance(record, dict):
                time = f"2026-01-05T10:00:{number:02}.000Z"
                record = {"type": "message", "parentId": parent_id, "timestamp": time, **record}
                parent_id = record.get("id")
                record = json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass")
            lines.append(record)
        target.write_bytes(b"\n".join(lines) + b"\n")
        return target

    return write


def user(entry_id: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"id": entry_id, "message": {"role": "user", "content": text}, **fields}


def assistant(entry_id: str, *blocks: Any, **fields: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    message = {"role": "assistant", "content": content, "provider": "acme", "model": "m-1", "stopReason": "stop"}
    return {"id": entry_id, "message": message, **fields}


@pytest.fixture
def talk(write: Callable[..., Path]) -> Path:
    """Questions and answers with a tool, a label, a setting and a second branch; the leaf is `u3`."""
    call = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "make test"}}
    result = {
        "role": "toolResult",
        "toolCallId": "t1",
        "toolName": "bash",
        "content": [{"type": "text", "text": "ok"}],
    }
    return write(
        {"type": "model_change", "id": "m1", "model": "acme/m-1"},
        user("u1", "do the tests pass?"),
        assistant("a1", call),
        {"id": "r1", "message": result},
        assistant("a2", "They pass."),
        user("u2", "then commit"),
        {"type": "label", "id": "l1", "targetId": "a2", "label": "green"},
        user("u3", "wait, look again", parentId="a2"),
    )
