"""What Textual's driver for terminals leaves out."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import Any, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.drivers.linux_driver import LinuxDriver


class _Keys(StrEnum):
    ALT_ENTER = "alt+enter"


# Most terminals send this for Alt+Enter, and have nothing of their own for Shift+Enter (U-61).
cast(dict[str, Any], ANSI_SEQUENCES_KEYS)["\x1b\r"] = (_Keys.ALT_ENTER,)


class TerminalDriver(LinuxDriver):
    """Draws on standard error: what standard output is connected to has no say in how large the terminal is."""

    def _get_terminal_size(self) -> tuple[int, int]:
        try:
            return os.get_terminal_size(sys.__stderr__.fileno() if sys.__stderr__ is not None else 2)
        except OSError:
            return super()._get_terminal_size()
