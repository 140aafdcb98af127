"""Small questions: one of several answers, or a line of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static


class ChoiceScreen(ModalScreen[int | None]):
    """Ends with the position of the chosen answer, or None after Escape or Ctrl+C."""

    DEFAULT_CSS = """
    ChoiceScreen { align: center middle; }
    ChoiceScreen > Vertical { width: 60; max-width: 100%; height: auto; border: round $primary; padding: 0 1; }
    ChoiceScreen OptionList { height: auto; max-height: 60vh; scrollbar-size-vertical: 1; }
    ChoiceScreen.-short > Vertical { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+c", "dismiss(None)", show=False, priority=True)]

    def __init__(self, question: str, answers: Sequence[str]) -> None:
        super().__init__()
        self._question = question
        self._answers = answers

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._question, markup=False)
            yield OptionList(*self._answers, markup=False, compact=True)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """End with the answer."""
        event.stop()
        self.dismiss(event.option_index)


class LineScreen(ModalScreen[str | None]):
    """Ends with the line that was typed, or None after Escape or Ctrl+C."""

    DEFAULT_CSS = """
    LineScreen { align: center middle; }
    LineScreen > Vertical { width: 70; max-width: 100%; height: auto; border: round $primary; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+c", "dismiss(None)", show=False, priority=True)]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._question, markup=False)
            yield Input(compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """End with the line."""
        event.stop()
        self.dismiss(event.value)
