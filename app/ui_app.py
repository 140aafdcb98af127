"""What every app of the terminal interface has in common."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click
from textual import events
from textual.app import App
from textual.worker import WorkerFailed

from .cells import clean_text
from .settings import Theme
from .terminal_driver import TerminalDriver

T = TypeVar("T")
_LIGHT_BACKGROUNDS = ("7", "15")
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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
        self._ended_by: signal.Signals | None = None

    async def run_async(self, **options: Any) -> T | None:
        """Run to the end and return what the app ends with; raises what went wrong inside.

        A signal that ends programs is a wish to leave: the terminal is restored. Then raises `click.exceptions.Exit`
        with the status of that signal.
        """
        with self._signals_taken():
            result = await super().run_async(**options)
        if self._exception is not None:
            raise self._exception
        if self._ended_by is not None:
            raise click.exceptions.Exit(128 + self._ended_by)
        return result

    @contextmanager
    def _signals_taken(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        before = {number: signal.getsignal(number) for number in _ENDING_SIGNALS}
        for number in _ENDING_SIGNALS:
            loop.add_signal_handler(number, self._leave_for, number)
        try:
            yield
        finally:
            for number, handler in before.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)

    def _leave_for(self, number: signal.Signals) -> None:
        self._ended_by = number
        self.call_later(self.action_quit)

    async def on_event(self, event: events.Event) -> None:
        """Handle an event. A letter with Alt is a key of its own, never text; what is pasted is clean text.

        Terminals end its lines as Enter does, with a carriage return.
        """
        if isinstance(event, events.Key) and event.key.startswith("alt+"):
            event.character = None
        elif isinstance(event, events.Paste):
            event.text = clean_text(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        await super().on_event(event)

    def _handle_exception(self, error: Exception) -> None:
        # Textual's own prints a traceback with the values of local variables: the texts of a session.
        if self._exception is None:
            cause = error.error if isinstance(error, WorkerFailed) else error
            self._exception = cause if isinstance(cause, Exception) else error
            self._exception_event.set()
        self._return_code = 1
        self._close_messages_no_wait()
