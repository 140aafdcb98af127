"""The first and the last line of a screen."""

from __future__ import annotations

from textual.widgets import Static


class TitleLine(Static):
    """Says what the screen is for; `title` is clean."""

    DEFAULT_CSS = """
    TitleLine { height: 1; background: $primary 40%; padding: 0 1; text-style: bold; }
    TitleLine { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, title: str) -> None:
        super().__init__(title, markup=False)


class FootLine(Static):
    """Says where one is; `text` is clean."""

    DEFAULT_CSS = "FootLine { height: 1; padding: 0 1; background: $surface; color: $text-muted; }"

    def __init__(self, text: str = "") -> None:
        super().__init__(text, markup=False)
