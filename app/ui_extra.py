"""What the terminal interface needs: the extra `tui`, and a terminal."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TextIO

import click


def needed_ui(module: str, name: str) -> Any:
    """Import a name from a module of ours that needs Textual. Raises `click.UsageError` where it is not installed."""
    try:
        return getattr(import_module(module, __package__), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "textual":
            raise
        raise click.UsageError(
            "this needs a terminal interface: pip install 'sessiontree[tui]'", click.get_current_context()
        ) from None


def check_terminal(what: str, *streams: TextIO) -> None:
    """Raises `click.UsageError` where one of the streams is no terminal, on which `what` is shown."""
    if not all(stream.isatty() for stream in streams):
        raise click.UsageError(f"{what} needs a terminal.", click.get_current_context())
