"""The text of an entry's row (U-32, U-40..U-4D)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from ..eventstore.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    CustomMessageEntry,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionEntry,
    ThinkingLevelChangeEntry,
)
from ..projections.content_blocks import text_field, text_of
from .cells import CONTROLS, clean, head
from .tool_call_text import ToolCall, tool_call_text

_MESSAGE_LIMIT = 200
_ERROR_LIMIT = 80

_VISIBLE = re.compile(rf"[^\s.…\u200b-\u200d\u2060\ufeff{CONTROLS}]")


def row_text(entry: SessionEntry, calls: Mapping[str, ToolCall], *, home: str = "", whole: bool = False) -> str:
    """U-40..U-4D: the text of an entry's row, one clean line; `[type]` for a type with no text of its own.

    `calls`: the tool calls of the session by call id (U-15). `home`: the directory that is written `~`.
    `whole`: the searched form (settled U-5A), without limits on length and with a compaction's summary.
    """
    if isinstance(entry, MessageEntry):
        text = _message_text(entry.message, calls, home, whole)
    else:
        text = _entry_text(entry, whole) or f"[{entry.type}]"
    return clean(text).strip()


def has_visible_text(message: Mapping[str, Any]) -> bool:
    """U-55: whether a message shows text; dots, ellipses and blanks alone are none."""
    return _VISIBLE.search(text_of(message.get("content"))) is not None


def _message_text(message: Mapping[str, Any], calls: Mapping[str, ToolCall], home: str, whole: bool) -> str:
    role = message.get("role")
    limit = None if whole else _MESSAGE_LIMIT
    if role in ("user", "developer"):
        return f"{role}: {_cut(text_of(message.get('content')), limit) or '(no content)'}"
    if role == "assistant":
        return f"assistant: {_assistant_text(message, limit)}"
    if role == "toolResult":
        call = calls.get(text_field(message, "toolCallId"))
        if call is None:
            return f"[{text_field(message, 'toolName') or 'tool'}]"
        return tool_call_text(call, home=home, whole=whole)
    if role == "bashExecution":
        return f"[bash]: {text_field(message, 'command')}"
    return f"[{role}]"


def _assistant_text(message: Mapping[str, Any], limit: int | None) -> str:
    text = _cut(text_of(message.get("content")), limit)
    if has_visible_text(message):
        return text
    error = _cut(text_field(message, "errorMessage"), None if limit is None else _ERROR_LIMIT)
    if error:
        return error
    return "(aborted)" if message.get("stopReason") == "aborted" else text or "(no content)"


def _entry_text(entry: SessionEntry, whole: bool) -> str:
    """The text of an entry that is no message, "" for a type with none."""
    match entry:
        case CustomMessageEntry():
            return f"[{entry.custom_type}]: {text_of(entry.content)}"
        case CompactionEntry():
            row = _compaction_text(entry.tokens_before)
            return f"{row} {entry.summary}" if whole else row
        case BranchSummaryEntry():
            return f"[branch summary]: {entry.summary}"
        case ModelChangeEntry() if model := entry.full_model or entry.model_id:
            return f"[model: {model}]"
        case ThinkingLevelChangeEntry():
            return f"[thinking: {entry.thinking_level or 'off'}]"
        case CustomEntry():
            return f"[custom: {entry.custom_type}]"
        case LabelEntry():
            return f"[label: {entry.label or '(cleared)'}]"
    return ""


def _compaction_text(tokens: float | None) -> str:
    if tokens is None or (isinstance(tokens, float) and not math.isfinite(tokens)):
        return "[compaction]"
    return f"[compaction: {int((tokens + 500) // 1000)}k tokens]"


def _cut(text: str, limit: int | None) -> str:
    line = clean(text).strip()
    return line if limit is None else head(line, limit)
