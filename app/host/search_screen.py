"""A list on the whole screen that is searched by typing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from ..cells import clean, fit
from ..edge_lines import FootLine, TitleLine
from ..tree_search import matches, query_tokens

T = TypeVar("T")


class Item(NamedTuple):
    """What can be chosen. `value`: what the screen ends with, None for what cannot be chosen.

    `searched`: its folded text. `text(width)`: its clean lines on the screen.
    """

    value: Any
    searched: str
    text: Callable[[int], str | Content]


class SearchScreen(ModalScreen[T | None]):
    """Ends with the value of the chosen item, or None. A search keeps the item that is selected where it can."""

    DEFAULT_CSS = """
    SearchScreen { background: $background; }
    SearchScreen Input { margin: 0 1; background: transparent; }
    SearchScreen OptionList { height: 1fr; background: transparent; text-wrap: nowrap; text-overflow: ellipsis; }
    SearchScreen OptionList { scrollbar-size-vertical: 1; }
    SearchScreen OptionList > .option-list--option { padding: 0 1 !important; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("ctrl+c", "dismiss(None)", show=False, priority=True),
        Binding("up", "move('cursor_up')", show=False, priority=True),
        Binding("down", "move('cursor_down')", show=False, priority=True),
        Binding("pageup", "move('page_up')", show=False, priority=True),
        Binding("pagedown", "move('page_down')", show=False, priority=True),
        Binding("enter", "choose", show=False, priority=True),
    ]
    newest_last = False
    """Whether the last item is selected at first, not the first one."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._items: Sequence[Item] = ()
        self._shown: list[Item] = []
        self._width = 0

    def compose(self) -> ComposeResult:
        yield TitleLine(self._title)
        yield Input(placeholder="search", compact=True)
        yield OptionList(markup=False, compact=True)
        yield FootLine()

    @property
    def _search(self) -> Input:
        return self.query_one(Input)

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    def fill(self, items: Sequence[Item]) -> None:
        """Show these items, as far as the search finds them."""
        self._items = items
        self._find()

    def foot(self, shown: int, total: int) -> str:
        """Return the line at the foot of the screen."""
        raise NotImplementedError

    def _find(self) -> None:
        options, self._width = self._list, self.app.size.width
        at = options.highlighted
        selected = self._shown[at].value if at is not None else None
        tokens = query_tokens(self._search.value)
        self._shown = [item for item in self._items if matches(tokens, item.searched)]
        options.set_options(Option(item.text(self._width - 3), disabled=item.value is None) for item in self._shown)
        values = [item.value for item in self._shown]
        open_rows = [row for row, value in enumerate(values) if value is not None]
        if selected is not None and selected in values:
            options.highlighted = values.index(selected)
        else:
            options.highlighted = open_rows[-1 if self.newest_last else 0] if open_rows else None
        # What is selected can be scrolled to when the lines have their places.
        self.call_after_refresh(options.scroll_to_highlight)
        self.draw_foot()

    def draw_foot(self) -> None:
        """Draw the line at the foot, where it has changed."""
        text = clean(self.foot(len(self._shown), len(self._items)))
        self.query_one(FootLine).update(fit(text, max(1, self.app.size.width - 2)))

    def on_resize(self, event: events.Resize) -> None:
        """Fit the lines anew."""
        if event.size.width != self._width:
            self._find()

    def on_input_changed(self) -> None:
        """Search."""
        self._find()

    def action_move(self, how: str) -> None:
        """Move in the list, whatever has the keys."""
        getattr(self._list, f"action_{how}")()

    def action_choose(self) -> None:
        """End with the selected item."""
        at = self._list.highlighted
        if at is not None:
            self.dismiss(self._shown[at].value)

    def action_leave(self) -> None:
        """Escape: out of the search, then out of the screen."""
        if self._search.value:
            self._search.value = ""
        else:
            self.dismiss(None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """The mouse chooses too."""
        event.stop()
        self.dismiss(self._shown[event.option_index].value)
