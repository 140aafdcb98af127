"""What Textual's driver for terminals leaves out."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from enum import StrEnum
from typing import Any, TextIO, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.drivers.linux_driver import LinuxDriver


class _Keys(StrEnum):
    ALT_ENTER = "alt+enter"


# Most terminals send this for Alt+Enter, and have nothing of their own for Shift+Enter (U-61).
cast(dict[str, Any], ANSI_SEQUENCES_KEYS)["\x1b\r"] = (_Keys.ALT_ENTER,)


class _Screen:
    """A terminal that may hang up: what is drawn then is lost, and nobody waits for it."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()

    def fileno(self) -> int:
        return self._file.fileno()


class TerminalDriver(LinuxDriver):
    """Draws on standard error: what standard output is connected to has no say in how large the terminal is."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._file = cast(Any, _Screen(cast(TextIO, self._file)))

    def _get_terminal_size(self) -> tuple[int, int]:
        try:
            return os.get_terminal_size(sys.__stderr__.fileno() if sys.__stderr__ is not None else 2)
        except OSError:
            return super()._get_terminal_size()
