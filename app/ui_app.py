"""What every app of the terminal interface has in common."""

from __future__ import annotations

import os
from typing import Any, TypeVar

from textual.app import App
from textual.worker import WorkerFailed

from .settings import Theme
from .terminal_driver import TerminalDriver

T = TypeVar("T")
_LIGHT_BACKGROUNDS = ("7", "15")


class UiApp(App[T]):
    """An app that ends at the first exception nobody caught, and raises it where it was run."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, theme: Theme = "auto") -> None:
        """Begin in a theme; `auto` is light where the terminal says in COLORFGBG that it is, else dark."""
        super().__init__(driver_class=TerminalDriver)
        if theme == "auto":
            # "foreground;background", or with a third colour between.
            background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
            theme = "light" if background in _LIGHT_BACKGROUNDS else "dark"
        self.theme = f"textual-{theme}"

    async def run_async(self, **options: Any) -> T | None:
        """Run to the end and return what the app ends with; raises what went wrong inside."""
        result = await super().run_async(**options)
        if self._exception is not None:
            raise self._exception
        return result

    def _handle_exception(self, error: Exception) -> None:
        # Textual's own prints a traceback with the values of local variables: the texts of a session.
        if self._exception is None:
            cause = error.error if isinstance(error, WorkerFailed) else error
            self._exception = cause if isinstance(cause, Exception) else error
            self._exception_event.set()
        self._return_code = 1
        self._close_messages_no_wait()
