"""The rows of a tree on the screen, drawn line by line: only what is seen costs anything (design D15)."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ..cells import cell_width, clean, fit
from ..tree_rows import max_levels, row_prefix
from .tree_model import TreeModel

_UNREAD = "…"
_FOLDED = "▸ "


class TreeView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows a `TreeModel`, and keeps its selection in view. Keys are the screen's."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"tree--prefix", "tree--active", "tree--label", "tree--selected"}
    DEFAULT_CSS = """
    TreeView { overflow-x: hidden; scrollbar-size-vertical: 1; background: $background; }
    TreeView .tree--prefix { color: $text-muted; }
    TreeView .tree--active { color: $accent; text-style: bold; }
    TreeView .tree--label { color: $warning; }
    TreeView .tree--selected { background: $primary 30%; text-style: bold; }
    """

    class Selected(Message):
        """A row was selected with the mouse. `entered`: by a double click, to go there."""

        def __init__(self, *, entered: bool) -> None:
            super().__init__()
            self.entered = entered

    def __init__(self, model: TreeModel) -> None:
        super().__init__()
        self.model = model

    def show(self) -> None:
        """Draw everything anew, the selection in the middle."""
        self.virtual_size = Size(0, len(self.model.rows))
        self.follow_selection()

    def show_in_place(self, row: int) -> None:
        """Draw everything anew; the selection, which was in a row, stays on its line of the screen."""
        self.virtual_size = Size(0, len(self.model.rows))
        self._go_to_line(self.scroll_offset.y + self.model.row - row)

    def follow_selection(self) -> None:
        """Scroll so that the selection is in the middle, as far as there are rows (U-65)."""
        if self.model.row >= 0:
            self._go_to_line(self.model.row - max(1, self.size.height) // 2)
        else:
            self.refresh()

    def _go_to_line(self, line: int) -> None:
        # By force: there may be more rows than before, and no scrollbar yet.
        self.scroll_to(y=max(0, line), animate=False, immediate=True, force=True)
        self.refresh()

    def on_resize(self) -> None:
        self.show()

    def render_line(self, y: int) -> Strip:
        """Return one line: cursor, connectors, active mark, label, text."""
        width = self.scrollable_content_region.width
        row = self.scroll_offset.y + y
        base = self.rich_style
        if row >= len(self.model.rows):
            return Strip.blank(width, base)
        selected = row == self.model.row
        if selected:
            base += self.get_component_rich_style("tree--selected", partial=True)
        segments = []
        used = 0
        for text, component in self._parts(row, width, selected):
            style = base + self.get_component_rich_style(component, partial=True) if component else base
            segments.append(Segment(text, style))
            used += cell_width(text)
        segments.append(Segment(" " * (width - used), base))
        # The width is ours: rich counts some characters otherwise than terminals do.
        return Strip(segments, width)

    def _parts(self, row: int, width: int, selected: bool) -> list[tuple[str, str]]:
        """The texts of a row with the component that each is drawn as, together at most `width` cells (U-30)."""
        model, rows = self.model, self.model.rows
        prefix = ("› " if selected else "  ") + row_prefix(rows, row, max_levels(width))
        parts = [(prefix, "tree--prefix")]
        if row < rows.active:
            parts.append(("• ", "tree--active"))
        if model.is_folded(row):
            parts.append((_FOLDED, "tree--prefix"))
        label = clean(model.labels.get(rows.id(row), "")).strip()
        if label:
            used = sum(cell_width(text) for text, _ in parts)
            parts.append((f"[{fit(label, max(1, (width - used) // 2 - len('[] ')))}] ", "tree--label"))
        parts.append((model.text_of(row) or _UNREAD, ""))
        shown = []
        for text, component in parts:
            if width <= 0:
                break
            fitted = fit(text, width)
            shown.append((fitted, component))
            width -= cell_width(fitted)
        return shown

    def on_click(self, event: events.Click) -> None:
        row = self.scroll_offset.y + event.y
        if row < len(self.model.rows):
            self.model.select_row(row)
            self.refresh()
            self.post_message(self.Selected(entered=event.chain == 2))
