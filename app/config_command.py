"""`sessiontree config`: the settings of the terminal interface, and where they are."""

from __future__ import annotations

import click

from .cells import clean
from .output import print_lines
from .settings import DEFAULTS, read_settings, settings_path


@click.command("config")
def config_command() -> None:
    """Print every setting with its default and what it does, ready to be put into the file that is named first."""
    path = settings_path()
    state = "read" if path.exists() else "not there yet"
    read_settings()
    print_lines([clean(f"# {path} ({state})"), "", *DEFAULTS.rstrip("\n").split("\n")])
