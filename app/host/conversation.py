"""The conversation of the current path, newest at the foot: what is shown of each entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from os.path import expanduser
from typing import Any

from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Collapsible, Markdown, Static

from ...eventstore.entries import BranchSummaryEntry, CompactionEntry, CustomMessageEntry, MessageEntry, SessionEntry
from ...projections.content_blocks import blocks_of, content_blocks, text_field, texts_of
from ..cells import clean, clean_text
from ..row_text import row_text
from ..tool_call_text import ToolCall, tool_call_text, tool_calls

_NEWEST = 60
"""Entries of the path that are shown at first, and more of at each step back."""
_LONGEST_RESULT = 4_000
_ENTITY = re.compile(r"&(#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);")


class Conversation(VerticalScroll, can_focus=False):
    """Shows entries; what is older than the newest ones is brought when somebody goes up for it."""

    DEFAULT_CSS = """
    Conversation { height: 1fr; padding: 0 1; }
    Conversation .user { background: $primary 15%; padding: 0 1; margin: 1 0 0 0; }
    Conversation .quiet { color: $text-muted; }
    Conversation .error { color: $error; }
    Conversation Markdown { margin: 0; padding: 0 1; background: transparent; }
    Conversation Collapsible { border: none; background: transparent; padding: 0; margin: 0; height: auto; }
    Conversation Collapsible Contents { padding: 0 0 0 3; }
    Conversation .divider { color: $warning; margin: 1 0 0 0; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[SessionEntry] = []
        self._calls: dict[str, ToolCall] = {}
        self._first = 0
        self._answer: Static | None = None

    async def show(self, entries: Sequence[SessionEntry]) -> None:
        """Show a path, its end in view."""
        self._entries = list(entries)
        self._calls = tool_calls(entry.message for entry in entries if isinstance(entry, MessageEntry))
        self._first = max(0, len(self._entries) - _NEWEST)
        await self.remove_children()
        await self._mount_from(self._first)
        self.scroll_end(animate=False)

    async def _mount_from(self, first: int) -> None:
        widgets: list[Widget] = []
        if first:
            widgets.append(Static(f"… {first:,} earlier entries: PageUp at the top shows more", classes="quiet"))
        for entry in self._entries[first:]:
            widgets += self._widgets(entry)
        if not self._entries:
            widgets.append(Static("Nothing was said yet.", classes="quiet"))
        await self.mount_all(widgets)

    async def show_earlier(self) -> None:
        """Show more of the path, where there is more."""
        if self._first:
            self._first = max(0, self._first - _NEWEST)
            coming = str(self._answer.content) if self._answer is not None else ""
            self._answer = None
            await self.remove_children()
            await self._mount_from(self._first)
            if coming:
                await self.show_answer(coming)
            self.scroll_home(animate=False)

    async def add(self, entry: SessionEntry) -> None:
        """Show one more entry at the end."""
        if not self._entries:
            await self.remove_children()
        self._entries.append(entry)
        if isinstance(entry, MessageEntry):
            self._calls |= tool_calls((entry.message,))
        await self.mount_all(list(self._widgets(entry)))
        self.scroll_end(animate=False)

    async def show_answer(self, text: str) -> None:
        """Show an answer as far as it has come; `end_answer` takes it away."""
        shown = clean_text(text)
        if self._answer is None:
            self._answer = Static(shown, markup=False)
            await self.mount(self._answer)
        else:
            self._answer.update(shown)
        self.scroll_end(animate=False)

    async def end_answer(self) -> None:
        """Take the unfinished answer away."""
        if self._answer is not None:
            await self._answer.remove()
            self._answer = None

    def _widgets(self, entry: SessionEntry) -> Iterator[Widget]:
        if isinstance(entry, MessageEntry):
            yield from self._message_widgets(entry.message)
        elif isinstance(entry, CompactionEntry | BranchSummaryEntry):
            what = "compaction" if isinstance(entry, CompactionEntry) else "branch summary"
            yield Static(f"── {what} ──", classes="divider")
            yield Collapsible(Markdown(_safe_markdown(entry.summary)), title="summary", collapsed=True)
        elif isinstance(entry, CustomMessageEntry):
            yield Static(clean_text("".join(texts_of(entry.content))), markup=False, classes="quiet")
        else:
            yield Static(row_text(entry, self._calls), markup=False, classes="quiet")

    def _message_widgets(self, message: dict[str, Any]) -> Iterator[Widget]:
        role, content = message.get("role"), message.get("content")
        if role == "user":
            images = len(blocks_of(content, "image"))
            more = f"\n({images} images)" if images else ""
            yield Static(clean_text("".join(texts_of(content))) + more, markup=False, classes="user")
        elif role == "assistant":
            yield from self._assistant_widgets(content_blocks(content))
            if error := text_field(message, "errorMessage"):
                yield Static(clean_text(error), markup=False, classes="error")
            elif message.get("stopReason") == "aborted":
                yield Static("(aborted)", classes="quiet")
        elif role == "toolResult":
            call = self._calls.get(text_field(message, "toolCallId"))
            title = tool_call_text(call, home=expanduser("~")) if call is not None else "[tool]"
            text = clean_text("".join(texts_of(content)))[:_LONGEST_RESULT]
            mark = "✗ " if message.get("isError") else ""
            yield Collapsible(
                Static(text, markup=False), title=mark + clean(title).replace("[", "\\["), collapsed=True
            )
        else:
            text = row_text(MessageEntry(id="", message=message), self._calls)
            yield Static(text, markup=False, classes="quiet")

    def _assistant_widgets(self, blocks: list[dict[str, Any]]) -> Iterator[Widget]:
        for block in blocks:
            if block.get("type") == "text" and (text := clean_text(text_field(block, "text")).strip()):
                yield Markdown(_safe_markdown(text))
            elif block.get("type") == "thinking" and (text := clean_text(text_field(block, "thinking")).strip()):
                yield Collapsible(Static(text, markup=False, classes="quiet"), title="thinking", collapsed=True)


def _safe_markdown(text: str) -> str:
    """Return clean text, also without the entities of which Markdown would make what is not clean."""

    def kept(entity: re.Match[str]) -> str:
        return entity[0] if clean(unescape(entity[0])) == unescape(entity[0]) else ""

    return _ENTITY.sub(kept, clean_text(text))
