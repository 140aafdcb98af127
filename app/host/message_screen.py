"""The user-message selector: which of one's messages to go on from (U-80..U-82)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ...commands.branching import UserMessage
from ..cells import clean, fit
from ..tree_search import fold, matches, query_tokens

_SHOWN = 10


class MessageSelector(ModalScreen[str | None]):
    """Ends with the id of the chosen message, or None."""

    DEFAULT_CSS = """
    MessageSelector { align: center middle; }
    MessageSelector > Vertical { width: 90%; height: auto; max-height: 90%; border: round $primary; padding: 0 1; }
    MessageSelector OptionList { height: auto; max-height: 30; border: none; }
    MessageSelector OptionList:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("ctrl+c", "dismiss(None)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("enter", "choose", show=False, priority=True),
    ]

    def __init__(self, messages: Sequence[UserMessage]) -> None:
        super().__init__()
        self._messages = messages
        self._shown: list[UserMessage] = []

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static("Go on in a new file from which message?", markup=False)
            search = Input(placeholder="search")
            search.display = len(self._messages) > _SHOWN
            yield search
            yield OptionList(markup=False)

    def on_mount(self) -> None:
        """Show all, the newest one preselected."""
        self._fill("")
        (self.query_one(Input) if self.query_one(Input).display else self._list).focus()

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    def _fill(self, query: str) -> None:
        tokens = query_tokens(query)
        total = len(self._messages)
        self._shown = []
        self._list.clear_options()
        for number, message in enumerate(self._messages, 1):
            if not tokens or matches(tokens, fold(message.text)):
                self._shown.append(message)
                text = fit(clean(message.text).strip(), max(1, self.app.size.width * 9 // 10 - 8))
                self._list.add_option(Option(f"{text}\nmessage {number} of {total}"))
        self._list.highlighted = len(self._shown) - 1 if self._shown else None

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search."""
        self._fill(event.value)

    def action_move(self, steps: int) -> None:
        if self._shown:
            at = self._list.highlighted if self._list.highlighted is not None else 0
            self._list.highlighted = (at + steps) % len(self._shown)

    def action_choose(self) -> None:
        if self._list.highlighted is not None and self._shown:
            self.dismiss(self._shown[self._list.highlighted].entry_id)

    def action_leave(self) -> None:
        search = self.query_one(Input)
        if search.value:
            search.value = ""
        else:
            self.dismiss(None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """The mouse chooses too."""
        event.stop()
        self.dismiss(self._shown[event.option_index].entry_id)
