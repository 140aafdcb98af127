"""The line at the foot of the screen."""

from __future__ import annotations

from collections.abc import Iterable

from ..cells import clean, fit
from ..edge_lines import FootLine


class StatusLine(FootLine):
    """Shows what it was told last, as far as it fits."""

    def __init__(self) -> None:
        super().__init__()
        self._text = ""

    def show(self, parts: Iterable[str]) -> None:
        """Show the parts that say something."""
        self._text = clean("  ·  ".join(filter(None, parts)))
        self.on_resize()

    def on_resize(self) -> None:
        """Fit the line anew."""
        self.update(fit(self._text, max(1, self.app.size.width - 2)))
