"""The line at the foot of the screen."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widgets import Static

from ..cells import clean, fit


class StatusLine(Static):
    """Shows what it was told last, as far as it fits."""

    DEFAULT_CSS = "StatusLine { height: 1; padding: 0 1; background: $surface; color: $text-muted; }"

    def __init__(self) -> None:
        super().__init__("", id="status", markup=False)
        self._text = ""

    def show(self, parts: Iterable[str]) -> None:
        """Show the parts that say something."""
        self._text = clean("  ·  ".join(filter(None, parts)))
        self.on_resize()

    def on_resize(self) -> None:
        """Fit the line anew."""
        self.update(fit(self._text, max(1, self.app.size.width - 2)))
