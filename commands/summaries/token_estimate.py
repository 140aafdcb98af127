"""How many tokens messages take: what the provider said, and an estimate for the rest (K-13, K-20..K-22)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeGuard

from msgspec import Struct

from ...eventstore.entries import MessageEntry, Number, SessionEntry
from ...eventstore.json_text import encode_json
from ...projections.content_blocks import blocks_of, content_blocks, text_field, texts_of

Message = Mapping[str, Any]
Estimate = Callable[[dict[str, Any]], int]
"""Tells about how many tokens a message in the file's form takes."""

IMAGE_TOKENS: Final = 1_200
_BYTES_PER_TOKEN: Final = 4
_FAILED = ("aborted", "error")
_MOST: Final = 1e15
"""A count of tokens that is as large is none."""


def estimate_tokens(message: Message) -> int:
    """Return about how many tokens a message takes: a quarter of its text in UTF-8 bytes, images 1,200 each.

    Of an assistant's turn thinking and tool calls count too; of a role that no model sees nothing does.
    """
    texts, images = _PARTS.get(str(message.get("role")), _nothing)(message)
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return -(-size // _BYTES_PER_TOKEN) + images * IMAGE_TOKENS


def _nothing(message: Message) -> tuple[list[str], int]:
    return [], 0


def _content(message: Message) -> tuple[list[str], int]:
    content = message.get("content")
    return texts_of(content), len(blocks_of(content, "image"))


def _assistant(message: Message) -> tuple[list[str], int]:
    texts, images = _content(message)
    for block in content_blocks(message.get("content")):
        if block.get("type") == "thinking":
            texts.append(text_field(block, "thinking"))
        elif block.get("type") == "toolCall":
            texts += [text_field(block, "name"), encode_json(block.get("arguments")).decode()]
    return texts, images


def _execution(message: Message) -> tuple[list[str], int]:
    return [text_field(message, name) for name in ("command", "code", "output")], 0


def _summary(message: Message) -> tuple[list[str], int]:
    return [text_field(message, "summary")], 0


def _file_mention(message: Message) -> tuple[list[str], int]:
    files = message.get("files")
    mentioned = content_blocks(files) if isinstance(files, list) else []
    texts = [text_field(file, name) for file in mentioned for name in ("path", "content")]
    return texts, sum(isinstance(file.get("image"), dict) for file in mentioned)


_PARTS = {
    "user": _content,
    "developer": _content,
    "custom": _content,
    "hookMessage": _content,
    "toolResult": _content,
    "assistant": _assistant,
    "bashExecution": _execution,
    "pythonExecution": _execution,
    "branchSummary": _summary,
    "compactionSummary": _summary,
    "fileMention": _file_mention,
}


class ContextUsage(Struct, frozen=True):
    """What a provider said that a context took. `prompt`: what it read for that; `index`: of the entry."""

    index: int
    tokens: int
    prompt: int


def last_usage(entries: Sequence[SessionEntry]) -> ContextUsage | None:
    """Return the usage of the newest assistant message that neither failed nor was aborted (K-22)."""
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        if isinstance(entry, MessageEntry) and entry.role == "assistant":
            usage = entry.message.get("usage")
            if isinstance(usage, dict) and entry.message.get("stopReason") not in _FAILED:
                prompt = sum(_count(usage, name) for name in ("input", "cacheRead", "cacheWrite"))
                return ContextUsage(index, context_tokens(usage), int(prompt))
    return None


def context_tokens(usage: Mapping[str, Any]) -> int:
    """Return the size of the context that a usage tells of (K-13).

    `contextTokens` where it is there, else the total, or the sum of its parts, without orchestration.
    """
    if _is_number(told := usage.get("contextTokens")):
        return max(0, int(told))
    total = _count(usage, "totalTokens") or sum(
        _count(usage, name) for name in ("input", "output", "cacheRead", "cacheWrite")
    )
    orchestration = usage.get("orchestration")
    if isinstance(orchestration, dict):
        total -= sum(_count(orchestration, name) for name in ("input", "output", "cacheRead"))
    return max(0, int(total))


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and -_MOST < value < _MOST


def _count(usage: Mapping[str, Any], name: str) -> Number:
    value = usage.get(name)
    return value if _is_number(value) else 0
