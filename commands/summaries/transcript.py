"""A conversation as one plain text, so that the model that reads it does not go on with it (N-67, N-68)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from ...eventstore.json_text import encode_json
from ...projections.content_blocks import blocks_of, text_field, text_of, texts_of
from ...projections.context import Message
from ...projections.llm_messages import convert_to_llm
from ...projections.sendable import sendable_text

MOST_OF_A_RESULT: Final = 2_000
"""Characters of a tool result that a transcript holds."""


def is_useless(message: Message) -> bool:
    """Tell whether a tool result was marked as of no use, and is no error (N-62)."""
    return message.get("role") == "toolResult" and bool(message.get("useless")) and not message.get("isError")


def shortened(text: str) -> str:
    """Return the text of a tool result as a transcript holds it: its beginning, and how much is left out."""
    cut = len(text) - MOST_OF_A_RESULT
    return text if cut <= 0 else f"{text[:MOST_OF_A_RESULT]}\n\n[… {cut} more characters left out]"


def result_text(message: Message) -> str:
    """Return the text of a tool result."""
    return text_of(message.get("content"))


def transcript_parts(messages: Sequence[Message]) -> Iterator[str]:
    """Yield what each of stored messages says, as tagged parts with blank lines between; "" for nothing.

    Images are left out, tool results are shortened; results marked as useless go with their calls.
    """
    useless = _useless_calls(messages) if any(map(is_useless, messages)) else {}
    for index, message in enumerate(messages):
        said = convert_to_llm([message]) if not is_useless(message) else []
        parts = (part for model_message in said for part in _parts(model_message, useless.get(index, ())))
        yield "\n\n".join(f"[{tag}]: {text}" for tag, text in parts if text)


def transcript(parts: Iterable[str]) -> str:
    """Return the transcript of which these are the parts."""
    return "\n\n".join(filter(None, parts))


def _useless_calls(messages: Sequence[Message]) -> dict[int, list[str]]:
    """Return the ids of the calls whose results are useless, by the position of the message that made them."""
    made: dict[str, int] = {}
    useless: dict[int, list[str]] = {}
    for index, message in enumerate(messages):
        if message.get("role") == "assistant":
            made |= {str(call.get("id")): index for call in blocks_of(message.get("content"), "toolCall")}
        elif is_useless(message) and (call_id := str(message.get("toolCallId"))) in made:
            useless.setdefault(made[call_id], []).append(call_id)
    return useless


def _parts(message: Message, useless: Collection[str]) -> Iterator[tuple[str, str]]:
    if message.get("role") == "assistant":
        yield (
            "Think",
            "\n".join(text_field(block, "thinking") for block in blocks_of(message.get("content"), "thinking")),
        )
        yield "Assistant", "\n".join(texts_of(message.get("content")))
        calls = (call for call in blocks_of(message.get("content"), "toolCall") if str(call.get("id")) not in useless)
        yield "Tool Call", "; ".join(map(_call, calls))
    elif message.get("role") == "toolResult":
        yield "Tool Result", shortened(result_text(message))
    else:
        yield "User", text_of(message.get("content"))


def _call(block: dict[str, Any]) -> str:
    arguments = block.get("arguments")
    named = arguments.items() if isinstance(arguments, dict) else ()
    return f"{text_field(block, 'name')}({', '.join(f'{key}={encode_json(value).decode()}' for key, value in named)})"


def prompt(said: str, instructions: str, *between: str) -> str | None:
    """Return what a model is asked: a transcript, what stands between, the instructions (N-69, K-50).

    None where the transcript says nothing.
    """
    if not said:
        return None
    return sendable_text("\n\n".join([f"<conversation>\n{said}\n</conversation>", *between, instructions]))
