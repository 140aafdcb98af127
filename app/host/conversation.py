"""The conversation of the current path, newest at the foot: what is shown of each entry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from os.path import expanduser
from typing import Any

from textual import on
from textual.containers import VerticalScroll
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Collapsible, Markdown, Static

from ...commands.session_manager import SessionManager
from ...eventstore.entries import BranchSummaryEntry, CompactionEntry, CustomMessageEntry, MessageEntry, SessionEntry
from ...projections.content_blocks import blocks_of, content_blocks, text_field, text_of
from ..cells import clean, clean_text, head
from ..counted import counted
from ..row_text import row_text
from ..tool_call_text import ToolCall, tool_call_text, tool_calls

_NEWEST = 60
"""Entries of the path that are shown at first, and more of at each step back."""
_OVERLAP = 2
"""Lines of what was in view that stay there when what is older comes."""
_LONGEST_RESULT = 4_000
_LONGEST_TEXT = 20_000
"""Characters of a message that are shown: laying out more would stop the keys."""
_DRAW_AFTER = 0.05
"""Seconds in which the parts of an answer are collected: each drawing takes the whole text."""
_ENDS = {"aborted": "(aborted)", "length": "(cut: the answer had its greatest length)"}
_ENTITY = re.compile(r"&(#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);")


class Conversation(VerticalScroll, can_focus=False):
    """Shows entries; what is older than the newest ones is brought when somebody goes up for it."""

    DEFAULT_CSS = """
    Conversation { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    Conversation .user { background: $primary 15%; border-left: outer $primary; padding: 0 1 0 0; margin: 1 0 0 0; }
    Conversation .quiet { color: $text-muted; }
    Conversation .error { color: $error; }
    Conversation Markdown { margin: 0; padding: 0 1; background: transparent; }
    Conversation MarkdownH1 { content-align: left middle; }
    Conversation MarkdownFence { overflow: hidden; }
    Conversation MarkdownFence > Label { width: 100%; }
    Conversation Collapsible { border: none; background: transparent; padding: 0; margin: 0; height: auto; }
    Conversation Collapsible Contents { padding: 0 0 0 3; }
    Conversation .divider { color: $warning; margin: 1 0 0 0; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._session: SessionManager | None = None
        self._path: list[str] = []
        self._calls: dict[str, ToolCall] = {}
        self._first = 0
        self._head = Static(classes="quiet", markup=False)
        self._answer: Static | None = None
        self._parts: list[str] = []
        self._drawing: Timer | None = None

    async def show(self, session: SessionManager) -> None:
        """Show the path to the leaf of a session, its end in view. Raises what reading raises."""
        path = session.path_ids()
        first = _first_shown(session, path, len(path))
        entries = await session.get_entries(path[first:])
        self._session, self._path, self._first = session, path, first
        self._calls = _calls_in(entries)
        await self.remove_children()
        await self.mount_all([self._head, *self._widgets_of(entries)])
        self._tell()
        self.to_end()

    def to_end(self) -> None:
        """Go to the end, and stay there while more comes, until somebody scrolls."""
        self.anchor()

    def _tell(self) -> None:
        """Say above the entries what there is besides."""
        if not self._path:
            said = "Nothing was said yet."
        elif self._first:
            earlier = counted(self._first, "earlier entry", "earlier entries")
            said = f"… {earlier}: PageUp at the top shows more"
        else:
            said = ""
        self._head.update(said)
        self._head.display = bool(said)

    async def show_earlier(self) -> None:
        """Show more of the path, where there is more, a page above what is in view. Raises what reading raises."""
        if self._first and self._session is not None:
            first = _first_shown(self._session, self._path, self._first)
            entries = await self._session.get_entries(self._path[first : self._first])
            height, self._first = self.virtual_size.height, first
            self._calls = _calls_in(entries) | self._calls
            await self.mount_all(list(self._widgets_of(entries)), after=self._head)
            self._tell()
            self.call_after_refresh(self._page_above, height)

    def _page_above(self, height: int) -> None:
        self.scroll_to(y=self.virtual_size.height - height - self.size.height + _OVERLAP, animate=False)

    @on(Collapsible.Toggled)
    def look_at(self, event: Collapsible.Toggled) -> None:
        """What somebody opens is looked at where it is, from its title on."""
        self.release_anchor()
        self.call_after_refresh(self._title_in_view, event.collapsible)

    def _title_in_view(self, opened: Collapsible) -> None:
        if opened.outer_size.height >= self.size.height:
            self.scroll_to_widget(opened, top=True, animate=False)

    async def add(self, entry: SessionEntry) -> None:
        """Show one more entry at the end; whoever reads further up is left there."""
        self._path.append(entry.id)
        self._calls |= _calls_in([entry])
        await self.mount_all(list(self._widgets(entry)))
        self._tell()

    def show_part(self, part: str) -> None:
        """Show a part of an answer that comes, soon; `end_answer` takes the whole away."""
        self._parts.append(part)
        if self._drawing is None:
            self._drawing = self.set_timer(_DRAW_AFTER, self._draw_answer)

    async def _draw_answer(self) -> None:
        self._drawing = None
        shown = clean_text("".join(self._parts)[-_LONGEST_TEXT:])
        if self._answer is None:
            self._answer = Static(shown, markup=False)
            await self.mount(self._answer)
        else:
            self._answer.update(shown)

    async def end_answer(self) -> None:
        """Take the unfinished answer away."""
        if self._drawing is not None:
            self._drawing.stop()
        answer, self._answer, self._drawing = self._answer, None, None
        self._parts.clear()
        if answer is not None:
            await answer.remove()

    def _widgets_of(self, entries: Sequence[SessionEntry]) -> Iterator[Widget]:
        for entry in entries:
            yield from self._widgets(entry)

    def _widgets(self, entry: SessionEntry) -> Iterator[Widget]:
        if isinstance(entry, MessageEntry):
            yield from self._message_widgets(entry.message)
        elif isinstance(entry, CompactionEntry | BranchSummaryEntry):
            what = "compaction" if isinstance(entry, CompactionEntry) else "branch summary"
            yield Static(f"── {what} ──", classes="divider")
            yield Collapsible(Markdown(_safe_markdown(entry.summary)), title="summary", collapsed=True)
        elif isinstance(entry, CustomMessageEntry):
            yield Static(_shown(text_of(entry.content)), markup=False, classes="quiet")
        else:
            yield Static(row_text(entry, self._calls), markup=False, classes="quiet")

    def _message_widgets(self, message: dict[str, Any]) -> Iterator[Widget]:
        role, content = message.get("role"), message.get("content")
        if role == "user":
            images = len(blocks_of(content, "image"))
            more = f"({counted(images, 'image')})" if images else ""
            text = "\n".join(filter(None, (_shown(text_of(content)), more)))
            yield Static(text, markup=False, classes="user")
        elif role == "assistant":
            yield from self._assistant_widgets(content_blocks(content))
            if error := text_field(message, "errorMessage"):
                yield Static(clean_text(error), markup=False, classes="error")
            elif said := _ENDS.get(text_field(message, "stopReason")):
                yield Static(said, classes="quiet")
        elif role == "toolResult":
            call = self._calls.get(text_field(message, "toolCallId"))
            name = text_field(message, "toolName") or "tool"
            title = tool_call_text(call, home=expanduser("~")) if call is not None else f"[{name}]"
            text = _shown(text_of(content), _LONGEST_RESULT)
            mark = "✗ " if message.get("isError") else ""
            yield Collapsible(
                Static(text, markup=False), title=mark + clean(title).replace("[", "\\["), collapsed=True
            )
        else:
            text = row_text(MessageEntry(id="", message=message), self._calls)
            yield Static(text, markup=False, classes="quiet")

    def _assistant_widgets(self, blocks: list[dict[str, Any]]) -> Iterator[Widget]:
        for block in blocks:
            if block.get("type") == "text" and (text := text_field(block, "text").strip()):
                yield Markdown(_safe_markdown(text))
            elif block.get("type") == "thinking" and (text := _shown(text_field(block, "thinking")).strip()):
                yield Collapsible(Static(text, markup=False, classes="quiet"), title="thinking", collapsed=True)


def _first_shown(session: SessionManager, path: Sequence[str], end: int) -> int:
    """Return where on a path to begin to show what stands before `end`: not within the results of a tool's calls."""
    first = max(0, end - _NEWEST)
    while first and session.shape(path[first]).role == "toolResult":
        first -= 1
    return first


def _calls_in(entries: Iterable[SessionEntry]) -> dict[str, ToolCall]:
    return tool_calls(entry.message for entry in entries if isinstance(entry, MessageEntry))


def _shown(text: str, longest: int = _LONGEST_TEXT) -> str:
    """Return clean text as far as it is shown, and how much is left out."""
    left_out = len(text) - longest
    more = f"\n… {left_out:,} more characters" if left_out > 0 else ""
    return clean_text(head(text, longest)) + more


def _safe_markdown(text: str) -> str:
    """Return clean text, also without the entities of which Markdown would make what is not clean."""

    def kept(entity: re.Match[str]) -> str:
        return entity[0] if clean(unescape(entity[0])) == unescape(entity[0]) else ""

    return _ENTITY.sub(kept, _shown(text))
