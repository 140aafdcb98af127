"""The row of a tool result: what its tool was asked to do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..projections.content_blocks import blocks_of, text_field
from .cells import ELLIPSIS, clean, head

_BASH_LIMIT = 50
_ARGUMENTS_LIMIT = 40


class ToolCall(NamedTuple):
    """One tool call of an assistant message."""

    name: str
    arguments: Mapping[str, Any]


def tool_calls(messages: Iterable[Mapping[str, Any]]) -> dict[str, ToolCall]:
    """U-15: the tool calls of all assistant messages by call id; a repeated id stands for its last call."""
    calls: dict[str, ToolCall] = {}
    for message in messages:
        if message.get("role") != "assistant":
            continue
        for block in blocks_of(message.get("content"), "toolCall"):
            call_id, name, arguments = block.get("id"), block.get("name"), block.get("arguments")
            if isinstance(call_id, str) and isinstance(name, str):
                calls[call_id] = ToolCall(name, arguments if isinstance(arguments, dict) else {})
    return calls


def without_bulk(call: ToolCall) -> ToolCall:
    """The same call for a row, without the contents that `write` and `edit` carry: no row shows them."""
    path = _path(call.arguments)
    return ToolCall(call.name, {"path": path}) if call.name in ("write", "edit") and path else call


def tool_call_text(call: ToolCall, *, home: str = "", whole: bool = False) -> str:
    """U-43: the call in brackets. A call without the argument that its form needs takes the general form.

    `home`: the directory that is written `~`. `whole`: without the limits on length.
    """
    name, arguments = call
    path = shorten_home(_path(arguments), home)
    pattern = text_field(arguments, "pattern")
    command = text_field(arguments, "command")
    if name == "read" and path:
        return f"[read: {path}{_line_range(arguments)}]"
    if name in ("write", "edit") and path:
        return f"[{name}: {path}]"
    if name == "bash" and command:
        return f"[bash: {_cut(clean(command).strip(), _BASH_LIMIT, whole)}]"
    if name == "grep" and pattern:
        return f"[grep: /{pattern}/ in {path or '.'}]"
    if name in ("find", "glob") and pattern:
        return f"[{name}: {pattern} in {path or '.'}]"
    if name == "ls":
        return f"[ls: {path or '.'}]"
    return f"[{name}: {_cut(_json(arguments), _ARGUMENTS_LIMIT, whole)}]"


def _path(arguments: Mapping[str, Any]) -> str:
    return text_field(arguments, "path") or text_field(arguments, "file_path")


def _line_range(arguments: Mapping[str, Any]) -> str:
    offset, limit = _integer(arguments, "offset"), _integer(arguments, "limit")
    if offset is None and limit is None:
        return ""
    start = 1 if offset is None else offset
    return f":{start}" if limit is None else f":{start}-{start + limit - 1}"


def _integer(arguments: Mapping[str, Any], name: str) -> int | None:
    value = arguments.get(name)
    return value if isinstance(value, int) else None


def shorten_home(path: str, home: str) -> str:
    """Return a path with the directory `home` written `~`."""
    if home.strip("/") and (path == home or path.startswith(home.rstrip("/") + "/")):
        return "~" + path[len(home.rstrip("/")) :]
    return path


def _json(arguments: Mapping[str, Any]) -> str:
    try:
        return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:  # nested deeper than the encoder goes
        return ELLIPSIS


def _cut(text: str, limit: int, whole: bool) -> str:
    return text if whole or len(text) <= limit else head(text, limit) + "..."
