"""The installed command as a process: pipes, interrupts, start."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Start = Callable[..., "subprocess.Popen[bytes]"]
Write = Callable[..., Path]


@pytest.fixture
def long_session(write: Write) -> Path:
    """A session whose tree is larger than a pipe holds, in a chain."""
    lines = [
        json.dumps(
            {
                "type": "message",
                "id": f"n{number:05}",
                "parentId": f"n{number - 1:05}" if number else None,
                "timestamp": "2026-01-05T10:00:01.000Z",
                "message": {"role": "user", "content": f"turn {number} " + "x" * 150},
            }
        ).encode()
        for number in range(3000)
    ]
    return write(*lines)


@pytest.mark.parametrize(
    "arguments", [["tree"], ["tree", "--json"], ["context"], ["context", "--json"], ["dump"]], ids=" ".join
)
def test_a_reader_that_has_enough_ends_the_command_quietly(
    start: Start, long_session: Path, arguments: list[str]
) -> None:
    process = start(arguments[0], long_session, *arguments[1:])
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


def test_all_of_a_large_output_reaches_a_slow_reader(start: Start, long_session: Path) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    out, err = start("dump", long_session, env=environment).communicate()
    assert (len(json.loads(out)["path"]), err) == (3000, b"")


def test_an_interrupt_ends_with_130_and_an_untouched_file(start: Start, talk: Path) -> None:
    """While it waits for the rest of its text."""
    before = talk.read_bytes()
    process = start("append", talk, "--role", "user", "--text", "-", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"x" * (1 << 20))  # more than a pipe holds: it returns when the process reads
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, err.strip()) == (130, b"", b"")
    assert talk.read_bytes() == before


def test_an_interrupt_in_the_middle_of_the_work_cancels_it(
    talk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The coroutine is cancelled and cleans up; a file that was to be written is as before."""
    import asyncio

    from sessiontree.app.cli import main
    from sessiontree.commands.session_manager import SessionManager

    cancelled = []

    async def interrupted(self: SessionManager, *args: Any, **options: Any) -> str:
        signal.raise_signal(signal.SIGINT)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(self)
            raise
        return ""

    monkeypatch.setattr(SessionManager, "append_message", interrupted)
    before = talk.read_bytes()
    with pytest.raises(SystemExit) as ended:
        main.main(["append", str(talk), "--role", "user", "--text", "x"])
    assert (ended.value.code, len(cancelled), talk.read_bytes()) == (130, 1, before)
    printed = capsys.readouterr()
    assert (printed.out, printed.err.strip()) == ("", "")


def test_an_interrupt_before_the_work_begins_leaves_nothing_behind(
    talk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import asyncio

    from sessiontree.app.cli import main

    def interrupted(self: asyncio.Runner, work: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(asyncio.Runner, "run", interrupted)
    with pytest.raises(SystemExit) as ended:
        main.main(["tree", str(talk)])
    assert (ended.value.code, capsys.readouterr().err.strip()) == (130, "")


def test_a_full_disk_is_said_in_one_line(start: Start, talk: Path) -> None:
    with open("/dev/full", "wb") as full:
        for arguments in (["tree", talk], ["--help"], ["dump", talk]):
            process = start(*arguments, stdout=full)
            assert process.stderr is not None
            assert process.stderr.read() == b"sessiontree: No space left on device\n"
            process.stderr.close()
            assert process.wait() == 2


def test_a_terminal_that_knows_few_characters_gets_the_others_as_question_marks(start: Start, talk: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    out, err = start("tree", talk, env=environment).communicate()
    assert (out.splitlines()[0], err) == (b"u1  ? user: do the tests pass?", b"")
    out, err = start("context", talk, "--json", env=environment).communicate()
    assert (json.loads(out)["thinking_level"], err) == ("off", b"")


def test_help_starts_without_the_library() -> None:
    """D13: what `--help` needs is click; the event loop, the codec and the character tables come with the work."""
    script = (
        "import sys\nfrom sessiontree.app.cli import main\n"
        "try:\n    main(['--help'])\nfinally:\n"
        "    print({'asyncio', 'msgspec', 'wcwidth', 'aiofiles', 'structlog'} & sys.modules.keys())\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "set()"


def test_the_library_imports_what_is_asked_for() -> None:
    """D13: each public name comes with its own module, and star-imports still give all of them."""
    script = (
        "import sys, sessiontree\nbefore = 'msgspec' in sys.modules\n"
        "from sessiontree import *\nassert set(sessiontree.__all__) <= set(globals())\n"
        "assert set(sessiontree.__all__) <= set(dir(sessiontree))\n"
        "print(before, hasattr(sessiontree, 'no_such_name'))\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out == "False False\n"


def test_an_entry_that_was_written_is_not_called_refused(tmp_path: Path) -> None:
    """The line says that it was written; status 1, for 2 means that nothing was."""
    path = tmp_path / "session.jsonl"
    path.touch()
    command = [sys.executable, "-c", "from sessiontree.app.cli import main; main()", "append", str(path)]
    with open("/dev/full", "w") as full:
        ended = subprocess.run([*command, "--role", "user", "--text", "x"], stdout=full, stderr=subprocess.PIPE)
    assert ended.returncode == 1
    assert b"was written, but it could not be printed" in ended.stderr
    assert path.read_bytes().count(b"\n") == 2


def test_a_closed_standard_output_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.touch()
    script = (
        f"{sys.executable} -c 'from sessiontree.app.cli import main; main()' append {path} --role user --text x >&-"
    )
    ended = subprocess.run(["sh", "-c", script], stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert path.read_bytes().count(b"\n") == 2
