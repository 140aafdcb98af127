"""The help: commands and keys, until somebody leaves it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from ..edge_lines import FootLine, TitleLine
from .slash_commands import COMMANDS

_KEYS = {
    "Enter": "send",
    "Shift+Enter": "a new line (or Alt+Enter, Ctrl+J)",
    "Tab": "complete a command",
    "Shift+Tab": "up to what is folded; Enter opens it",
    "PgUp PgDn": "back and on in the conversation",
    "Escape": "stop what runs",
    "Ctrl+C": "stop what runs, empty the editor, leave",
}
_TWO_ESCAPES = {"branch": COMMANDS["branch"], "tree": COMMANDS["tree"]}


class HelpScreen(ModalScreen[None]):
    """Tells the commands and keys. `double_escape`: what two Escapes open, as the settings have it."""

    DEFAULT_CSS = """
    HelpScreen { background: $background; }
    HelpScreen VerticalScroll { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,enter,q,ctrl+c", "dismiss(None)", show=False, priority=True)
    ]

    def __init__(self, double_escape: str) -> None:
        super().__init__()
        self._keys = dict(_KEYS)
        if double_escape in _TWO_ESCAPES:
            self._keys["Esc Esc"] = _TWO_ESCAPES[double_escape]

    def compose(self) -> ComposeResult:
        lines = [*(f"/{name}: {does}" for name, does in COMMANDS.items()), ""]
        lines += [f"{key}: {does}" for key, does in self._keys.items()]
        yield TitleLine("Commands and keys")
        with VerticalScroll():
            yield Static("\n".join(lines), markup=False)
        yield FootLine("Escape closes")
