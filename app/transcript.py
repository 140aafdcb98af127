"""The context of a leaf as a transcript for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ..eventstore.timestamps import instant_ms
from ..projections.content_blocks import content_blocks, text_field
from ..projections.context import SessionContext
from .cells import clean, clean_lines
from .field_lines import field_lines

_EMPTY = "(no content)"
_RULE = "── "


def transcript(context: SessionContext) -> Iterator[str]:
    """Yield clean lines: each message below a head with its role and time, the settings at the end."""
    for message in context.messages:
        yield _RULE + " · ".join(clean(part) for part in (*_head(message), _time(message)) if part)
        yield from _body(message)
        yield ""
    yield from _settings_lines(context)


def _settings_lines(context: SessionContext) -> Iterator[str]:
    """Yield clean lines for what holds beside the messages."""
    if not context.messages:
        yield "no messages in this context"
    for role, model in context.models.items():
        yield clean(f"model ({role}): {model}")
    yield clean(f"thinking: {context.thinking_level}")
    if context.mode != "none":
        yield clean(f"mode: {context.mode}")
    if context.service_tier:
        yield clean("service tier: " + ", ".join(f"{name} {tier}" for name, tier in context.service_tier.items()))
    if context.injected_ttsr_rules:
        yield clean("rules: " + ", ".join(context.injected_ttsr_rules))
    if context.open_tool_calls:
        yield clean("left out, because they have no result: tool calls " + ", ".join(context.open_tool_calls))


def _head(message: Mapping[str, Any]) -> list[str]:
    role = message.get("role")
    match role:
        case "assistant":
            model = "/".join(text_field(message, name) for name in ("provider", "model") if text_field(message, name))
            reason = text_field(message, "stopReason")
            return ["assistant", model, reason if reason not in ("", "stop", "toolUse") else ""]
        case "toolResult":
            failed = "failed" if message.get("isError") is True else ""
            return ["tool result", text_field(message, "toolName"), text_field(message, "toolCallId"), failed]
        case "compactionSummary":
            tokens = message.get("tokensBefore")
            known = isinstance(tokens, int) and not isinstance(tokens, bool)
            return ["summary of what was before", f"{tokens:,} tokens then" if known else ""]
        case "branchSummary":
            return ["summary of another branch"]
        case "custom":
            return ["custom", text_field(message, "customType")]
        case "bashExecution" | "pythonExecution":
            return ["bash" if role == "bashExecution" else "python"]
    return [role if isinstance(role, str) else "message"]


def _time(message: Mapping[str, Any]) -> str:
    instant = instant_ms(message.get("timestamp"))
    if not instant:
        return ""
    return datetime.fromtimestamp(instant / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _body(message: Mapping[str, Any]) -> Iterator[str]:
    error = text_field(message, "errorMessage")
    match message.get("role"):
        case "compactionSummary" | "branchSummary":
            yield from clean_lines(text_field(message, "summary") or _EMPTY)
            return
        case "bashExecution":
            yield from clean_lines("$ " + text_field(message, "command"))
            yield from clean_lines(text_field(message, "output").rstrip("\n"))
            return
        case "user" | "assistant" | "toolResult" | "custom" | "developer":
            blocks = content_blocks(message.get("content"))
            for block in blocks:
                yield from _block_lines(block)
            if error:
                yield from clean_lines(f"error: {error}")
            elif not blocks:
                yield _EMPTY
            return
    yield from field_lines({name: value for name, value in message.items() if name not in ("role", "timestamp")})


def _block_lines(block: Mapping[str, Any]) -> Iterator[str]:
    match block.get("type"):
        case "text":
            yield from clean_lines(text_field(block, "text").rstrip("\n"))
        case "thinking":
            yield "(thinking)"
            yield from ("  " + line for line in clean_lines(text_field(block, "thinking").rstrip("\n")))
        case "toolCall":
            yield clean(f"(tool call: {text_field(block, 'name')} · {text_field(block, 'id')})")
            arguments = block.get("arguments")
            yield from field_lines(arguments if isinstance(arguments, dict) else {"arguments": arguments}, 2)
        case "image":
            yield clean(f"(image: {text_field(block, 'mimeType') or 'unknown type'})")
        case _:
            yield clean(f"({text_field(block, 'type') or 'unknown block'})")
