"""Messages of the OpenAI chat completions API."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .content_blocks import IMAGE_NOT_SENT, Image, blocks_of, text_and_images
from .llm_messages import convert_to_llm
from .sendable import sendable_text
from .tool_pairs import CallIds, Turn, pair_tool_calls, sendable_tool_name

EMPTY_TOOL_RESULT = "(no output)"
IMAGES_ONLY_RESULT = "(the result is shown in the next user message)"
TOOL_IMAGES_INTRO = "Images from the result of the tool {tool}:"

_ID_LIMIT = 40  # the API refuses a longer tool call id


def to_openai_messages(messages: Sequence[Mapping[str, Any]], *, system: str | None = None) -> list[dict[str, Any]]:
    """Return agent or model messages as OpenAI chat messages, the system message first if there is one.

    Text alone is one string (blocks joined by a newline), with images a list of parts, images as data URLs.
    An assistant message has its text and `tool_calls` with JSON arguments (`{}` for what is no object); its
    thinking is dropped, and an image in it becomes a note. Directly behind it stands one `tool` message for
    each call; calls without a result are dropped, results without a call become user text. The images of
    tool results and of developer messages follow in a user message, because those roles take text only.
    Messages with nothing left are dropped. Tool call ids stay unless the API refuses them or they repeat.
    Malformed content is treated as `convert_to_llm` says; nothing returned is shared with the input.
    """
    ids = CallIds(_ID_LIMIT)
    converted: list[dict[str, Any]] = []
    if system:
        converted.append({"role": "system", "content": sendable_text(system)})
    for turn in pair_tool_calls(convert_to_llm(messages)):
        role = turn.message["role"]
        parts = text_and_images(turn.message["content"])
        if role == "assistant":
            converted += _assistant(turn, parts, ids)
        elif role == "developer":
            texts = _joined_text(parts)
            converted += [{"role": "developer", "content": texts}] if texts else []
            converted += _user([part for part in parts if isinstance(part, Image)])
        else:
            converted += _user(parts)
    return converted


def _user(parts: Sequence[str | Image]) -> list[dict[str, Any]]:
    if not parts:
        return []
    if any(isinstance(part, Image) for part in parts):
        return [{"role": "user", "content": [_part(part) for part in parts]}]
    return [{"role": "user", "content": _joined_text(parts)}]


def _assistant(turn: Turn, parts: list[str | Image], ids: CallIds) -> list[dict[str, Any]]:
    text = "\n".join(IMAGE_NOT_SENT if isinstance(part, Image) else part for part in parts)
    calls: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    images: list[str | Image] = []
    for block, result in zip(blocks_of(turn.message["content"], "toolCall"), turn.results, strict=True):
        call_id = ids.take(block["id"])
        function = {"name": sendable_tool_name(block["name"]), "arguments": _arguments(block.get("arguments"))}
        calls.append({"id": call_id, "type": "function", "function": function})
        result_parts = text_and_images(result["content"])
        result_images = [part for part in result_parts if isinstance(part, Image)]
        empty = IMAGES_ONLY_RESULT if result_images else EMPTY_TOOL_RESULT
        results.append({"role": "tool", "tool_call_id": call_id, "content": _joined_text(result_parts) or empty})
        if result_images:
            images += [TOOL_IMAGES_INTRO.format(tool=block["name"]), *result_images]
    if not text and not calls:
        return []
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = calls
    return [message, *results, *_user(images)]


def _joined_text(parts: Sequence[str | Image]) -> str:
    return "\n".join(part for part in parts if isinstance(part, str))


def _part(part: str | Image) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{part.data}"}}


def _arguments(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return "{}"
    try:
        return json.dumps(arguments, ensure_ascii=False)
    except RecursionError:  # nested beyond what any client could encode
        return "{}"
