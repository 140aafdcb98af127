"""The text of an entry's row (U-32, U-40..U-4D)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Protocol

from .cells import CONTROLS, clean, head
from .tool_call_text import ToolCall, tool_call_text

MESSAGE_LIMIT = 200
ERROR_LIMIT = 80

_VISIBLE = re.compile(rf"[^\s.…\u200b-\u200d\u2060\ufeff{CONTROLS}]")


class RowEntry(Protocol):
    """What a row needs of an entry; the fields of its type are looked up by name and may be missing."""

    @property
    def id(self) -> str: ...
    @property
    def type(self) -> str: ...


def row_text(entry: RowEntry, calls: Mapping[str, ToolCall], *, home: str = "", whole: bool = False) -> str:
    """U-40..U-4D: the text of an entry's row, one clean line; `[type]` for a type with no text of its own.

    `calls`: the tool calls of the session by call id (U-15). `home`: the directory that is written `~`.
    `whole`: the searched form (settled U-5A), without limits on length and with a compaction's summary.
    """
    message = message_of(entry)
    text = _entry_text(entry, whole) if message is None else _message_text(message, calls, home, whole)
    return clean(text or f"[{entry.type}]").strip()


def message_of(entry: RowEntry) -> Mapping[str, Any] | None:
    """Return the message that a message entry carries, None for any other and for a damaged one."""
    message = getattr(entry, "message", None) if entry.type == "message" else None
    return message if isinstance(message, Mapping) else None


def has_visible_text(message: Mapping[str, Any]) -> bool:
    """U-55: whether a message shows text; dots, ellipses and blanks alone are none."""
    return _VISIBLE.search(_content_text(message.get("content"))) is not None


def _message_text(message: Mapping[str, Any], calls: Mapping[str, ToolCall], home: str, whole: bool) -> str:
    role = message.get("role")
    limit = None if whole else MESSAGE_LIMIT
    if role in ("user", "developer"):
        return f"{role}: {_cut(_content_text(message.get('content')), limit) or '(no content)'}"
    if role == "assistant":
        return f"assistant: {_assistant_text(message, limit)}"
    if role == "toolResult":
        call = calls.get(_text(message.get("toolCallId")))
        if call is None:
            return f"[{_text(message.get('toolName')) or 'tool'}]"
        return tool_call_text(call, home=home, whole=whole)
    if role == "bashExecution":
        return f"[bash]: {_text(message.get('command'))}"
    return f"[{_text(role) or 'message'}]"


def _assistant_text(message: Mapping[str, Any], limit: int | None) -> str:
    text = _cut(_content_text(message.get("content")), limit)
    if has_visible_text(message):
        return text
    error = _cut(_text(message.get("errorMessage")), None if limit is None else ERROR_LIMIT)
    if error:
        return error
    return "(aborted)" if message.get("stopReason") == "aborted" else text or "(no content)"


def _entry_text(entry: RowEntry, whole: bool) -> str:
    """The text of an entry that is no message, "" if it has none; a field of the wrong kind is none."""
    match entry.type:
        case "custom_message" if kind := _field(entry, "custom_type"):
            return f"[{kind}]: {_content_text(getattr(entry, 'content', None))}"
        case "compaction":
            return _compaction_text(entry, whole)
        case "branch_summary" if summary := _field(entry, "summary"):
            return f"[branch summary]: {summary}"
        case "model_change" if model := _field(entry, "model") or _field(entry, "model_id"):
            return f"[model: {model}]"
        case "thinking_level_change" if hasattr(entry, "thinking_level"):
            return f"[thinking: {_field(entry, 'thinking_level') or 'off'}]"
        case "custom" if kind := _field(entry, "custom_type"):
            return f"[custom: {kind}]"
        case "label" if hasattr(entry, "label"):
            return f"[label: {_field(entry, 'label') or '(cleared)'}]"
    return ""


def _compaction_text(entry: RowEntry, whole: bool) -> str:
    tokens = getattr(entry, "tokens_before", None)
    if not isinstance(tokens, int | float) or (isinstance(tokens, float) and not math.isfinite(tokens)):
        return ""
    row = f"[compaction: {int((tokens + 500) // 1000)}k tokens]"
    return f"{row} {_field(entry, 'summary')}" if whole else row


def _content_text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = (block for block in content if isinstance(block, Mapping) and block.get("type") == "text")
    return "".join(_text(block.get("text")) for block in blocks)


def _cut(text: str, limit: int | None) -> str:
    line = clean(text).strip()
    return line if limit is None else head(line, limit)


def _field(entry: RowEntry, name: str) -> str:
    return _text(getattr(entry, name, None))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
