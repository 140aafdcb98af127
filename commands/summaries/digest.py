"""Summaries without a model: the same text for the same conversation, and no network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...eventstore.abort import AbortSignal
from ...projections.content_blocks import blocks_of, text_field, texts_of
from ...projections.context import Message
from .file_operations import FileOperations, with_files
from .summarizer import SummaryRequest, SummaryResult

_LONGEST: Final = 600
"""Characters of a quotation."""
_LONGEST_EARLIER: Final = 2_400
"""Characters of an earlier summary."""
_SUMMARIES: Final = ("branchSummary", "compactionSummary")
_EARLIER: Final = "## Earlier summary"
_ELLIPSIS: Final = "…"


class DigestSummarizer:
    """Quotes the first and the last user turn and the last answer, lists files, counts tools and errors.

    Deterministic and offline. What it makes is marked with `"digest": true` in the details of the entry.
    """

    async def summarize(self, request: SummaryRequest, *, signal: AbortSignal) -> SummaryResult:
        """Return the digest of the messages that are asked for. Raises `AbortError`."""
        signal.raise_if_aborted()
        earlier = [request.previous_summary or "", *_summaries(request.messages)]
        sections = [("Earlier summary", _earlier("\n\n".join(filter(None, earlier)))), *_sections(request.messages)]
        text = "\n\n".join(f"## {title}\n{body}" for title, body in sections if body)
        operations = FileOperations()
        for message in request.messages:
            operations.add_message(message)
        return SummaryResult(with_files(text or "(nothing was said)", operations), details={"digest": True})


def _earlier(summary: str) -> str:
    """Return an earlier summary without its own earlier one's heading, its middle left out where it is long."""
    text = summary.removeprefix(_EARLIER).strip()
    if len(text) <= _LONGEST_EARLIER:
        return text
    return f"{text[: _LONGEST_EARLIER // 3].rstrip()}\n\n{_ELLIPSIS}\n\n{text[-2 * _LONGEST_EARLIER // 3 :].lstrip()}"


def _summaries(messages: Sequence[Message]) -> list[str]:
    return [text_field(message, "summary") for message in messages if message.get("role") in _SUMMARIES]


def _sections(messages: Sequence[Message]) -> list[tuple[str, str]]:
    asked = [text for text in map(_text, _of_role(messages, "user")) if text]
    answered = [text for text in map(_text, _of_role(messages, "assistant")) if text]
    return [
        ("First request", asked[0] if asked else ""),
        ("Last request", asked[-1] if len(asked) > 1 else ""),
        ("Last answer", answered[-1] if answered else ""),
        ("Tools", _tools(messages)),
    ]


def _of_role(messages: Sequence[Message], role: str) -> list[Message]:
    return [message for message in messages if message.get("role") == role]


def _text(message: Message) -> str:
    text = "\n".join(texts_of(message.get("content"))).strip()
    return text if len(text) <= _LONGEST else text[:_LONGEST].rstrip() + _ELLIPSIS


def _tools(messages: Sequence[Message]) -> str:
    calls: dict[str, int] = {}
    for message in _of_role(messages, "assistant"):
        for block in blocks_of(message.get("content"), "toolCall"):
            name = text_field(block, "name") or "(unnamed)"
            calls[name] = calls.get(name, 0) + 1
    if not calls:
        return ""
    errors = sum(bool(message.get("isError")) for message in _of_role(messages, "toolResult"))
    counted = ", ".join(f"{name} {count}" for name, count in sorted(calls.items()))
    return f"{sum(calls.values())} calls ({counted}), {errors} errors"
