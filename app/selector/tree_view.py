"""The rows of a tree on the screen, drawn line by line: only what is seen costs anything (design D15)."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
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

    class Entered(Message):
        """The selected row was chosen with the mouse."""

    def __init__(self, model: TreeModel) -> None:
        super().__init__()
        self.model = model

    def show(self) -> None:
        """Draw everything anew, after the model has changed."""
        self.virtual_size = Size(0, len(self.model.rows.ids))
        self.follow_selection()
        self.refresh()

    def follow_selection(self) -> None:
        """Scroll so that the selection is in the middle, as far as there are rows (U-65)."""
        row, height = self.model.row, max(1, self.size.height)
        if row >= 0:
            self.scroll_to(y=max(0, row - height // 2), animate=False, immediate=True)

    def on_resize(self) -> None:
        self.show()

    def render_line(self, y: int) -> Strip:
        """Return one line: cursor, connectors, active mark, label, text."""
        width = self.scrollable_content_region.width
        row = self.scroll_offset.y + y
        model, rows = self.model, self.model.rows
        if row >= len(rows.ids):
            return Strip.blank(width, self.rich_style)
        base = self.rich_style
        selected = row == model.row
        if selected:
            base += self.get_component_rich_style("tree--selected", partial=True)
        segments = list(self._segments(row, width, base, selected))
        return Strip(segments).adjust_cell_length(width, base)

    def _segments(self, row: int, width: int, base: Style, selected: bool) -> list[Segment]:
        model, rows = self.model, self.model.rows
        prefix = ("› " if selected else "  ") + row_prefix(rows, row, max_levels(width))
        parts = [(fit(prefix, width), "tree--prefix")]
        if row < rows.active:
            parts.append(("• ", "tree--active"))
        if model.is_folded(row):
            parts.append((_FOLDED, "tree--prefix"))
        used = sum(cell_width(text) for text, _ in parts)
        label = clean(model.labels.get(rows.ids[row], "")).strip()
        if label:
            shown = f"[{fit(label, max(1, (width - used) // 2 - 3))}] "
            parts.append((shown, "tree--label"))
            used += cell_width(shown)
        text = model.text_of(row) or _UNREAD
        if used < width:
            parts.append((fit(text, width - used), ""))
        return [
            Segment(text, base + self.get_component_rich_style(name, partial=True) if name else base)
            for text, name in parts
        ]

    def on_click(self, event: events.Click) -> None:
        row = self.scroll_offset.y + event.y
        if row < len(self.model.rows.ids):
            self.model.select_row(row)
            self.refresh()
            if event.chain == 2:
                self.post_message(self.Entered())
