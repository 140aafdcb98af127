"""The tree selector: move in the tree, filter, search, fold, label, and choose an entry (U-58..U-78)."""

from __future__ import annotations

from os.path import expanduser
from typing import ClassVar, NamedTuple

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from ...commands.session_manager import SessionManager
from ...eventstore.abort import AbortController
from ...eventstore.errors import AbortError, SessionTreeError
from ..cells import clean, fit
from ..counted import all_entries
from ..edge_lines import FootLine, TitleLine
from ..tree_filter import FilterMode
from .row_reading import RowReader
from .tree_help import help_text
from .tree_model import TreeModel
from .tree_view import TreeView

_FILTER_KEYS = {
    "alt+d": FilterMode.DEFAULT,
    "alt+t": FilterMode.NO_TOOLS,
    "alt+u": FilterMode.USER_ONLY,
    "alt+l": FilterMode.LABELED_ONLY,
    "alt+a": FilterMode.ALL,
}
_REPAINT_EVERY = 16  # of what the reader tells


class TreeChoice(NamedTuple):
    """What was chosen. `is_leaf`: it is the current leaf, or stands for it."""

    entry_id: str
    summarize: bool
    is_leaf: bool


class TreeSelector(ModalScreen[TreeChoice | None]):
    """Ends with what was chosen, or None."""

    DEFAULT_CSS = """
    TreeSelector { align: center middle; background: $background; }
    TreeSelector > Vertical { width: 100%; height: 100%; }
    TreeSelector #empty { height: auto; padding: 1 2; color: $text-muted; display: none; }
    TreeSelector TreeView { height: 1fr; }
    TreeSelector #help { height: auto; max-height: 50%; padding: 0 1; border-top: solid $primary; display: none; }
    TreeSelector #help { scrollbar-size-vertical: 1; }
    TreeSelector #help Static { height: auto; }
    TreeSelector Input { height: 3; display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup,left", "page(-1)", show=False),
        Binding("pagedown,right", "page(1)", show=False),
        Binding("home", "to_end(-1)", show=False),
        Binding("end", "to_end(1)", show=False),
        Binding("alt+up", "turn(-1)", show=False),
        Binding("alt+down", "turn(1)", show=False),
        Binding("ctrl+left,alt+left", "fold", show=False),
        Binding("ctrl+right,alt+right", "unfold", show=False),
        Binding("enter", "choose(False)", show=False),
        Binding("shift+enter,alt+enter,ctrl+s", "choose(True)", show=False),
        Binding("escape", "leave", show=False),
        Binding("ctrl+c", "close", show=False, priority=True),
        Binding("backspace", "erase", show=False),
        Binding("ctrl+o", "next_filter(1)", show=False),
        Binding("ctrl+shift+o,alt+o", "next_filter(-1)", show=False),
        Binding("f1", "help", show=False),
        *(Binding(key, f"filter('{mode.value}')", show=False) for key, mode in _FILTER_KEYS.items()),
    ]

    def __init__(
        self,
        session: SessionManager,
        *,
        mode: FilterMode = FilterMode.DEFAULT,
        query: str = "",
    ) -> None:
        super().__init__()
        self._session = session
        self.model = TreeModel(session, mode=mode, query=query)
        self._reading = AbortController()
        self._read_so_far = 0
        self._labelling: str | None = None
        """The id of the entry whose label is edited."""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield TitleLine(clean(self._session.session_name or self._session.session_id))
            yield Static("", id="empty", markup=False)
            yield TreeView(self.model)
            yield Input(placeholder="label (empty: none)", id="label")
            with VerticalScroll(id="help", can_focus=False):
                yield Static(markup=False)
            yield FootLine()

    def on_mount(self) -> None:
        self._view.focus()
        self._show()
        self._read()

    @property
    def _view(self) -> TreeView:
        return self.query_one(TreeView)

    def _show(self) -> None:
        """Draw what the model says."""
        self._view.show()
        self._say()

    def _moved(self) -> None:
        self._view.follow_selection()
        self._say()

    def _say(self) -> None:
        """Say where one is, and why nothing is shown."""
        model = self.model
        reason = "" if len(model.rows) else self._why_empty()
        empty = self.query_one("#empty", Static)
        if reason or empty.display:
            empty.update(reason)
            empty.display = bool(reason)
        total = len(model.rows) or model.size
        parts = [f"({model.row + 1}/{total})", f"[{model.mode.value}]"]
        if model.query:
            parts.append(f"search: {clean(model.query)}")
        if self._read_so_far < model.size:
            parts.append(f"reading {100 * self._read_so_far // model.size} %")
        parts.append("F1 help")
        self.query_one(FootLine).update(fit("  ".join(parts), max(1, self.size.width - 2)), layout=False)

    def _why_empty(self) -> str:
        model = self.model
        if not model.size:
            return "No entries: nothing was recorded in this session yet."
        if not model.passed_filter:
            return (
                f"The filter {model.mode.value} hides {all_entries(model.size)}. Alt+A shows all, Alt+D the default."
            )
        return f"Nothing is found for “{clean(model.query)}”. Backspace takes a letter back."

    def on_resize(self) -> None:
        self._say()
        self.query_one("#help Static", Static).update(help_text(self.size.width - 2))

    @work(exclusive=True)
    async def _read(self) -> None:
        """Take in the texts while the tree is shown."""
        model = self.model
        reader = RowReader(self._session, model, expanduser("~"))
        try:
            told = 0
            async for done in reader.read(self._reading.signal):
                self._read_so_far = done
                told += 1
                if told == 1:
                    self._take_in()
                elif told % _REPAINT_EVERY == 0:
                    self._view.refresh()
                    self._say()
        except AbortError:
            return
        except SessionTreeError as error:
            self.notify(clean(str(error)), severity="error", markup=False)
        self._read_so_far = model.size
        self._take_in()

    def _take_in(self) -> None:
        """Show what was read; what one looks at stays where it is."""
        row = self.model.row
        self.model.refresh()
        if row >= 0 and self.model.row >= 0:
            self._view.show_in_place(row)
            self._say()
        else:
            self._show()

    def on_unmount(self) -> None:
        self._reading.abort()

    def on_key(self, event: events.Key) -> None:
        character = event.character
        if character is None or not event.is_printable:
            return
        event.stop()
        if self._labelling is not None:
            # It was typed before the editor had the focus.
            self._label_editor.insert_text_at_cursor(character)
        elif not self.model.query and character == "L":
            self._edit_label()
        elif not self.model.query and character == "?":
            self.action_help()
        else:
            self._search(self.model.query + character)

    def on_paste(self, event: events.Paste) -> None:
        """Search for what is pasted; a label takes it by itself."""
        event.stop()
        if self._labelling is None:
            self._search(self.model.query + clean(event.text))

    def _search(self, query: str) -> None:
        self.model.set_query(query)
        self._show()

    @property
    def _label_editor(self) -> Input:
        return self.query_one("#label", Input)

    def _edit_label(self) -> None:
        """Begin to edit the label of the selected entry, whatever is selected until that ends (U-63)."""
        self._labelling = self.model.selected_id
        if self._labelling is not None:
            editor = self._label_editor
            editor.value = clean(self.model.labels.get(self._labelling, ""))
            editor.display = True
            self.query_one("#help").display = False  # a small terminal has no room for both
            self.set_focus(editor)

    def _end_label(self) -> None:
        self._labelling = None
        self._label_editor.display = False
        self._view.focus()

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Record the label, or clear it (U-63, U-64); one that cannot be recorded stays to be tried again."""
        event.stop()
        entry_id, label = self._labelling, event.value.strip() or None
        if entry_id is None or label == self.model.labels.get(entry_id):
            self._end_label()
            return
        try:
            await self._session.append_label_change(entry_id, label)
        except SessionTreeError as error:
            self.notify(clean(str(error)), severity="error", markup=False)
            return
        self._end_label()
        self.model.set_label(entry_id, label)
        self._show()

    def on_tree_view_selected(self, event: TreeView.Selected) -> None:
        if self._labelling is not None:
            self._end_label()
        self._say()
        if event.entered:
            self._choose(summarize=False)

    def action_move(self, steps: int) -> None:
        self.model.move(steps)
        self._moved()

    def action_page(self, direction: int) -> None:
        self.model.select_row(self.model.row + direction * max(1, self._view.size.height))
        self._moved()

    def action_to_end(self, direction: int) -> None:
        self.model.select_row(0 if direction < 0 else len(self.model.rows))
        self._moved()

    def action_turn(self, direction: int) -> None:
        self.model.move_to_turn(direction)
        self._moved()

    def action_fold(self) -> None:
        self.model.fold_or_go_up()
        self._show()

    def action_unfold(self) -> None:
        self.model.unfold_or_go_down()
        self._show()

    async def action_choose(self, summarize: bool) -> None:
        """Enter: end the label, or choose (U-61, U-63)."""
        if self._labelling is not None:
            await self._label_editor.action_submit()
        else:
            self._choose(summarize=summarize)

    def _choose(self, *, summarize: bool) -> None:
        entry_id = self.model.selected_id
        if entry_id is not None:
            self.dismiss(TreeChoice(entry_id, summarize, self.model.stands_for_leaf()))

    def action_leave(self) -> None:
        """Escape: out of the label, of the search, of the selector (U-62, U-63)."""
        if self._labelling is not None:
            self._end_label()
        elif self.model.query:
            self._search("")
        else:
            self.dismiss(None)

    def action_close(self) -> None:
        self.dismiss(None)

    def action_erase(self) -> None:
        if self.model.query:
            self._search(self.model.query[:-1])

    def action_next_filter(self, steps: int) -> None:
        self.model.next_mode(steps)
        self._show()

    def action_filter(self, mode: str) -> None:
        self.model.set_mode(FilterMode(mode))
        self._show()

    def action_help(self) -> None:
        """F1: the help, page by page where it is longer than its place, and away with it."""
        shown = self.query_one("#help", VerticalScroll)
        if shown.display and shown.scroll_offset.y < shown.max_scroll_y:
            shown.scroll_page_down(animate=False)
        else:
            shown.display = not shown.display
            shown.scroll_home(animate=False)
