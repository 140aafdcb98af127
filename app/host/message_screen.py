"""The user-message selector: which of one's messages to go on from (U-80..U-82)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual.content import Content

from ...commands.branching import UserMessage
from ...projections.folding import fold
from ..cells import clean, head
from .search_screen import Item, SearchScreen

_SEARCHED_FROM = 11
"""How many messages there are at least where they can be searched (U-81)."""


class MessageSelector(SearchScreen[str]):
    """Ends with the id of the chosen message, or None."""

    newest_last = True

    def __init__(self, messages: Sequence[UserMessage]) -> None:
        super().__init__("Go on from which message, in a new file?")
        self._messages = messages

    def on_mount(self) -> None:
        """Show all, the newest one preselected."""
        total = len(self._messages)
        self._search.display = total >= _SEARCHED_FROM
        (self._search if self._search.display else self._list).focus()
        self.fill(
            [
                Item(
                    message.entry_id, fold(message.text), partial(_lines, message.text, f"message {number} of {total}")
                )
                for number, message in enumerate(self._messages, 1)
            ]
        )

    def foot(self, shown: int, total: int) -> str:
        """Say how many are found, and the keys."""
        return f"{shown:,} of {total:,} messages  ·  Enter goes on  Esc closes"


def _lines(text: str, place: str, width: int) -> Content:
    # A cell has at most a few characters: what is cut here is not seen.
    return Content.assemble(clean(head(text.lstrip(), 8 * width)).strip(), "\n", (place, "dim"))
