"""Messages of the Anthropic messages API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from .content_blocks import IMAGE_NOT_SENT, Image, content_blocks, text_and_images
from .llm_messages import convert_to_llm
from .sendable import sendable_text
from .tool_pairs import CallIds, Turn, pair_tool_calls, sendable_tool_name

EMPTY_TOOL_RESULT = "(no output)"
OPENING_PLACEHOLDER = "(The conversation begins with a reply; what came before it is not shown.)"

_ID_LIMIT = 64
_THINKING = ("thinking", "redacted_thinking")
_SIGNING_APIS = ("anthropic", "bedrock")


class AnthropicRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `client.messages.create` takes of a conversation: `messages`, and `system` or None apart."""

    messages: list[dict[str, Any]]
    system: str | None = None


def to_anthropic_messages(messages: Sequence[Mapping[str, Any]], *, system: str | None = None) -> AnthropicRequest:
    """Return agent or model messages as an Anthropic conversation, the system prompt apart.

    Content is always a list of blocks, and roles alternate: neighbours of the same role are merged, developer
    messages are user messages, and a conversation that begins with a reply gets `OPENING_PLACEHOLDER` before
    it. Each `tool_use` is answered by a `tool_result` at the start of the next user message; calls without
    a result are dropped, results without a call become user text. Images of a failed result stand behind the
    results, since the API takes only text in those. Thinking stays if it is signed by an API that signs for
    Anthropic (an unnamed `api` counts as one) and is dropped otherwise, and at the end of a turn; which model
    signed it is not looked at. Also left out or put right, because the API refuses them: blank text, image
    types that it does not know, images in replies (a note instead), white space at the end of a final reply,
    tool call ids with other characters than `[a-zA-Z0-9_-]`, too long or used twice. Messages with nothing
    left are dropped. Malformed content is treated as `convert_to_llm` says; nothing returned is shared with
    the input.
    """
    ids = CallIds(_ID_LIMIT)
    converted: list[dict[str, Any]] = []
    for turn in pair_tool_calls(convert_to_llm(messages)):
        if turn.message["role"] == "assistant":
            reply, results = _assistant(turn, ids)
            _append(converted, "assistant", reply)
            _append(converted, "user", results)
        else:
            _append(converted, "user", _blocks(text_and_images(turn.message["content"])))
    if converted and converted[0]["role"] == "assistant":
        opening = {"role": "user", "content": [{"type": "text", "text": OPENING_PLACEHOLDER}]}
        converted.insert(0, opening)
    if converted and converted[-1]["role"] == "assistant":
        last = converted[-1]["content"][-1]
        last["text"] = last["text"].rstrip()  # always text: calls have results, thinking never ends a turn
    return AnthropicRequest(converted, sendable_text(system) if system else None)


def _append(converted: list[dict[str, Any]], role: str, blocks: list[dict[str, Any]]) -> None:
    if not blocks:
        return
    if converted and converted[-1]["role"] == role:
        converted[-1]["content"] += blocks
    else:
        converted.append({"role": role, "content": blocks})


def _assistant(turn: Turn, ids: CallIds) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the blocks of the reply and those of the user message that answers its calls."""
    api = turn.message.get("api")
    signed = not isinstance(api, str) or api.startswith(_SIGNING_APIS)
    reply: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    images: list[dict[str, Any]] = []
    answers = iter(turn.results)
    for block in content_blocks(turn.message["content"]):
        kind = block.get("type")
        if kind == "toolCall":
            call_id = ids.take(block["id"])
            arguments = block.get("arguments")
            call_input = arguments if isinstance(arguments, dict) else {}
            name = sendable_tool_name(block["name"])
            reply.append({"type": "tool_use", "id": call_id, "name": name, "input": call_input})
            result, result_images = _tool_result(call_id, next(answers))
            results.append(result)
            images += result_images
        elif kind in ("thinking", "redactedThinking"):
            reply += _thinking(block) if signed else []
        else:
            parts = text_and_images([block])
            reply += _blocks([IMAGE_NOT_SENT if isinstance(part, Image) else part for part in parts])
    while reply and reply[-1]["type"] in _THINKING:
        reply.pop()
    return reply, results + images


def _thinking(block: dict[str, Any]) -> list[dict[str, Any]]:
    thinking, signature, data = block.get("thinking"), block.get("thinkingSignature"), block.get("data")
    if block["type"] == "thinking" and isinstance(thinking, str) and isinstance(signature, str) and signature:
        return [{"type": "thinking", "thinking": thinking, "signature": signature}]
    if block["type"] == "redactedThinking" and isinstance(data, str) and data:
        return [{"type": "redacted_thinking", "data": data}]
    return []


def _tool_result(call_id: str, result: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the result's block and the images that must stand behind all results."""
    failed = result.get("isError") is True
    content = _blocks(text_and_images(result["content"]))
    behind: list[dict[str, Any]] = []
    if failed:
        behind = [block for block in content if block["type"] == "image"]
        content = [block for block in content if block["type"] != "image"]
    block = {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": content or [{"type": "text", "text": EMPTY_TOOL_RESULT}],
        "is_error": failed,
    }
    return block, behind


def _blocks(parts: Sequence[str | Image]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Image):
            source = {"type": "base64", "media_type": part.media_type, "data": part.data}
            blocks.append({"type": "image", "source": source})
        elif part.strip():
            blocks.append({"type": "text", "text": part})
    return blocks
