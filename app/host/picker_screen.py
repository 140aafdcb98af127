"""The session picker: which session to open."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ...eventstore.catalogue import SessionInfo
from ...eventstore.errors import SessionTreeError
from ...projections.listing import list_sessions
from ..cells import clean
from ..session_table import age_text
from ..tree_search import fold, matches, query_tokens

_COUNTED = 50
"""Sessions whose names and branches are looked up; of the others the file tells enough."""


class SessionPicker(ModalScreen[Path | None]):
    """Ends with the file of the chosen session, or None."""

    DEFAULT_CSS = """
    SessionPicker { background: $background; }
    SessionPicker #title { height: 1; background: $primary 40%; padding: 0 1; text-style: bold; }
    SessionPicker OptionList { height: 1fr; border: none; }
    SessionPicker OptionList:focus { border: none; }
    SessionPicker #foot { height: 1; padding: 0 1; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("ctrl+c", "dismiss(None)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("enter", "choose", show=False, priority=True),
    ]

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._directory = directory
        self._sessions: list[SessionInfo] = []
        self._shown: list[SessionInfo] = []

    def compose(self) -> ComposeResult:
        yield Static("Open which session?", id="title", markup=False)
        yield Input(placeholder="search")
        yield OptionList(markup=False)
        yield Static("reading …", id="foot", markup=False)

    def on_mount(self) -> None:
        """Read the directory while the screen is there."""
        self.query_one(Input).focus()
        self._read()

    @work
    async def _read(self) -> None:
        try:
            self._sessions = await list_sessions(self._directory, limit=_COUNTED)
        except SessionTreeError as error:
            self.query_one("#foot", Static).update(clean(str(error)))
            return
        self._fill("")

    def _fill(self, query: str) -> None:
        tokens = query_tokens(query)
        now = datetime.now(UTC)
        shown = self.query_one(OptionList)
        shown.clear_options()
        self._shown = [info for info in self._sessions if not tokens or matches(tokens, fold(_line(info, now)))]
        shown.add_options(Option(_line(info, now), disabled=info.fault is not None) for info in self._shown)
        shown.highlighted = 0 if self._shown else None
        self.query_one("#foot", Static).update(
            f"{len(self._shown)} of {len(self._sessions)} sessions in {self._directory}"
        )

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search."""
        self._fill(event.value)

    def action_move(self, steps: int) -> None:
        shown = self.query_one(OptionList)
        if steps > 0:
            shown.action_cursor_down()
        else:
            shown.action_cursor_up()

    def action_choose(self) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None and self._shown and self._shown[at].fault is None:
            self.dismiss(self._shown[at].path)

    def action_leave(self) -> None:
        search = self.query_one(Input)
        if search.value:
            search.value = ""
        else:
            self.dismiss(None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """The mouse chooses too."""
        event.stop()
        self.dismiss(self._shown[event.option_index].path)


def _line(info: SessionInfo, now: datetime) -> str:
    if info.fault is not None:
        return clean(f"damaged  {info.path.name}: {info.fault}")
    name = info.name or (info.id or "")[:8]
    branches = f"{info.branch_count} branches" if info.branch_count is not None else ""
    return clean("  ".join(part for part in (name, age_text(info.modified, now), branches) if part))
