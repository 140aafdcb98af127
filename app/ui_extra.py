"""What needs the extra `tui`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

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
