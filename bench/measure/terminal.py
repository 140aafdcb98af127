"""The installed command on a pseudo terminal that answers as a modern one does, and when its frames are out."""

from __future__ import annotations

import os
import pty
import select
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ
from time import perf_counter, sleep
from types import TracebackType

from bench.figures import megabytes
from bench.measure.screen import Frames, Screen

_COMMAND = Path(sys.executable).with_name("sessiontree")
_LINES, _COLUMNS = 40, 120
_EXIT_LIMIT = 10  # seconds
_SYNC_QUERY, _SYNC_ANSWER = "\x1b[?2026$p", b"\x1b[?2026;2$y"
"""Textual marks where a frame begins and ends only for a terminal that says that it knows these marks."""


class TerminalError(Exception):
    """Raised when the command ends too soon, or not well, or does not show in time what it should.

    The message is what the screen shows, and in its last line the reason. Attributes: `reason`, `lines`.
    """

    def __init__(self, reason: str, lines: list[str]) -> None:
        super().__init__("\n".join(["", *filter(None, lines), reason]))
        self.reason = reason
        self.lines = lines


class Terminal:
    """Within `with`: the command runs, and is killed in the end if it still does. All times are `perf_counter`'s.

    Before the command has the answer to its query, what it paints is not marked: of that, and only of that,
    a part may be taken for a frame.
    """

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self._frames = Frames()
        self._pieces: deque[tuple[float, str]] = deque()
        self.screen = Screen(_LINES, _COLUMNS)

    def __enter__(self) -> Terminal:
        self._controller, terminal = pty.openpty()
        ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", _LINES, _COLUMNS, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self.started = perf_counter()
        try:
            self._process = subprocess.Popen(
                [_COMMAND, *self._arguments],
                stdin=terminal,
                stdout=terminal,
                stderr=terminal,
                start_new_session=True,
                env={**environment, "TERM": "xterm-256color"},
            )
        finally:
            os.close(terminal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.returncode is None:
            self._process.kill()
            self._process.wait()
        os.close(self._controller)

    def press(self, key: bytes) -> float:
        """Write a key; return when."""
        pressed = perf_counter()
        os.write(self._controller, key)
        return pressed

    def frame_with(self, shown: Callable[[Screen], bool], what: str, *, limit: float) -> float:
        """When the first frame was out with which the screen shows it. Raises `TerminalError` after the limit."""
        give_up = perf_counter() + limit
        while True:
            out = self._next_frame(give_up)
            if out is None:
                raise TerminalError(f"{what}: not shown within {limit:.0f} s", self.screen.lines)
            if shown(self.screen):
                return out

    def rest(
        self, since: float, *, quiet: float, limit: float, busy: Callable[[Screen], bool] = lambda screen: False
    ) -> float:
        """When the last frame was out that changed a cell, `since` if none did: no other came for `quiet` seconds.

        Frames that change nothing are none of rest, and a screen that shows that the command is busy is not at
        rest. Raises `TerminalError` after the limit.
        """
        give_up = perf_counter() + limit
        shown = self.screen.lines
        while True:
            out = self._next_frame(perf_counter() + quiet)
            if out is None and not busy(self.screen):
                return since
            if perf_counter() >= give_up:
                raise TerminalError(f"not at rest within {limit:.0f} s", self.screen.lines)
            if out is not None and self.screen.lines != shown:
                since, shown = out, self.screen.lines

    def end(self, key: bytes, *, limit: float) -> float:
        """Press the key that ends the command; return its peak memory in MB. Raises `TerminalError`."""
        self.press(key)
        give_up = perf_counter() + limit
        while (data := self._read(give_up)) != b"":
            if data is None:
                raise TerminalError(f"it did not end within {limit:.0f} s", self.screen.lines)
        peak_mb = self._reap()
        if self._process.returncode:
            raise TerminalError(f"it ended with status {self._process.returncode}", self.screen.lines)
        return peak_mb

    def _next_frame(self, give_up: float) -> float | None:
        """Paint the next frame; return when it was out, None when none comes in time."""
        while not self._pieces:
            data = self._read(give_up)
            if data is None:
                return None
            if not data:
                self._reap()
                raise TerminalError(f"it ended too soon, status {self._process.returncode}", self.screen.lines)
            now = perf_counter()
            self._pieces.extend((now, piece) for piece in self._frames.feed(data))
        out, piece = self._pieces.popleft()
        if _SYNC_QUERY in piece:
            self.press(_SYNC_ANSWER)
        self.screen.paint(piece)
        return out

    def _read(self, give_up: float) -> bytes | None:
        """What was written; empty at the end, None when nothing comes in time."""
        left = give_up - perf_counter()
        if left <= 0 or not select.select([self._controller], [], [], left)[0]:
            return None
        try:
            return os.read(self._controller, 1 << 16)
        except OSError:  # EIO: no process has the terminal any more
            return b""

    def _reap(self) -> float:
        """Wait for a command that has left the terminal; return its peak memory in MB."""
        give_up = perf_counter() + _EXIT_LIMIT
        while True:
            pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
            if pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                return megabytes(usage.ru_maxrss)
            if perf_counter() >= give_up:
                raise TerminalError("it left the terminal, and did not end", self.screen.lines)
            sleep(0.01)
