"""The text of an entry in which a search looks: what a person or a model reads of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..eventstore.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionEntry,
    SessionInfoEntry,
    TitleChangeEntry,
)
from .content_blocks import content_blocks, text_field, texts_of

_TEXT_FIELDS = ("command", "code", "output", "summary", "errorMessage")
"""Fields of messages beside their content: executions, summaries and what went wrong."""


def searched_text(entry: SessionEntry) -> str:
    """Return the text of an entry, its parts on lines of their own; "" for one that says nothing.

    Of messages: text, thinking, names and arguments of tool calls, commands and their output, mentioned files,
    errors. Of other entries: summaries, labels, names and titles of the session, models. Never ids, names of
    fields, images or the data of extensions.
    """
    return "\n".join(part for part in _parts(entry) if part)


def _parts(entry: SessionEntry) -> Iterator[str | None]:
    match entry:
        case MessageEntry():
            yield from _message_parts(entry.message)
        case CustomMessageEntry():
            yield from texts_of(entry.content)
        case CompactionEntry():
            yield from (entry.summary, entry.short_summary)
        case BranchSummaryEntry():
            yield entry.summary
        case LabelEntry():
            yield entry.label
        case SessionInfoEntry():
            yield entry.name
        case TitleChangeEntry():
            yield entry.title
        case ModelChangeEntry():
            yield entry.full_model or entry.model_id


def _message_parts(message: Mapping[str, Any]) -> Iterator[str]:
    for block in content_blocks(message.get("content")):
        match block.get("type"):
            case "text":
                yield text_field(block, "text")
            case "thinking":
                yield text_field(block, "thinking")
            case "toolCall":
                yield text_field(block, "name")
                yield from _strings(block.get("arguments"))
    for name in _TEXT_FIELDS:
        yield text_field(message, name)
    for file in content_blocks(message.get("files")):
        yield text_field(file, "path")
        yield text_field(file, "content")


def _strings(value: object) -> Iterator[str]:
    """Yield the strings in a JSON value in their order; the names of fields are none."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as fields:
                waiting += reversed(fields.values())
            case list() as items:
                waiting += reversed(items)
