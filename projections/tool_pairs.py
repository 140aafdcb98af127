"""Tool calls and their results: what stays in a context, and which result answers which call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from .content_blocks import blocks_of, content_blocks

ORPHAN_RESULT_INTRO = "Result of an earlier call of the tool {tool}; the call itself is no longer in view:"
ORPHAN_ERROR_INTRO = "Error from an earlier call of the tool {tool}; the call itself is no longer in view:"

_FAILED = ("aborted", "error")


def drop_open_tool_calls(messages: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Leave out the tool calls that no tool result among `messages` answers (C-40).

    A turn that loses a call is replaced by a copy without it, without redacted thinking and without
    signatures of thinking (they cover the turn as it was); a turn with nothing left is dropped. All other
    messages are the same objects. Returns the messages and the ids of the calls left out, in order; a call
    whose id is no string is left out and has no id to name.
    """
    answered: set[str] = set()
    assistants: list[int] = []
    for index, message in enumerate(messages):
        role = message.get("role")
        if role == "assistant":
            assistants.append(index)
        elif role == "toolResult":
            call_id = message.get("toolCallId")
            if isinstance(call_id, str):
                answered.add(call_id)

    open_ids: list[str] = []
    rewritten: dict[int, dict[str, Any] | None] = {}
    for index in assistants:
        content = messages[index].get("content")
        if not isinstance(content, list):
            continue
        for block in content:
            if isinstance(block, dict) and block.get("type") == "toolCall":
                call_id = block.get("id")
                if not isinstance(call_id, str):
                    rewritten[index] = None
                elif call_id not in answered:
                    rewritten[index] = None
                    open_ids.append(call_id)
    if not rewritten:
        return list(messages), open_ids
    for index in rewritten:
        blocks = content_blocks(messages[index]["content"])
        rewritten[index] = _rewritten(messages[index], [b for b in blocks if not _is_open(b, answered)])
    seen = (rewritten.get(index, message) for index, message in enumerate(messages))
    return [message for message in seen if message is not None], open_ids


def drop_failed_turns(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out aborted and failed assistant turns and the tool results that answer their calls (C-41).

    A failed turn stays if the next message is a custom message of the type `interrupted-thinking`.
    A result answers the nearest call above it with its id, so a retry that uses the id again keeps its own.
    """
    for message in messages:
        if message.get("stopReason") in _FAILED and message.get("role") == "assistant":
            break
    else:
        return list(messages)

    kept: list[dict[str, Any]] = []
    dropped_ids: set[str] = set()
    for index, message in enumerate(messages):
        role = message.get("role")
        if role == "assistant":
            call_ids = [
                block["id"]
                for block in blocks_of(message.get("content"), "toolCall")
                if isinstance(block.get("id"), str)
            ]
            if message.get("stopReason") in _FAILED and not _is_continued(messages, index):
                dropped_ids.update(call_ids)
                continue
            dropped_ids.difference_update(call_ids)
        elif role == "toolResult":
            call_id = message.get("toolCallId")
            if isinstance(call_id, str) and call_id in dropped_ids:
                continue
        kept.append(message)
    return kept


class Turn(msgspec.Struct, frozen=True):
    """A message and, for an assistant message, the result of each of its tool calls, in the calls' order."""

    message: dict[str, Any]
    results: list[dict[str, Any]]


def _nearest(places: list[tuple[int, int]]) -> tuple[int, int]:
    """Take the first call of the last turn: results come in the calls' order."""
    at = len(places) - 1
    while at and places[at - 1][0] == places[-1][0]:
        at -= 1
    return places.pop(at)


def pair_tool_calls(messages: Sequence[dict[str, Any]]) -> list[Turn]:
    """Put every tool result with the call that it answers, whatever stands between, as providers demand.

    A result answers the nearest unanswered call above it with its id, or else one below it. A call without
    a result, without an id or without a name is left out as by `drop_open_tool_calls`; a result without a
    call becomes a user message in its place. Roles other than assistant and toolResult pass.
    """
    waiting: dict[str, list[tuple[int, int]]] = {}
    answers: dict[tuple[int, int], dict[str, Any]] = {}
    unmatched: dict[int, str | None] = {}
    for index, message in enumerate(messages):
        if message.get("role") == "assistant":
            for position, block in enumerate(content_blocks(message.get("content"))):
                if _is_sendable_call(block):
                    waiting.setdefault(block["id"], []).append((index, position))
        elif message.get("role") == "toolResult":
            call_id = message.get("toolCallId")
            if not isinstance(call_id, str):
                unmatched[index] = None
            elif places := waiting.get(call_id):
                answers[_nearest(places)] = message
            else:
                unmatched[index] = call_id
    for index, early_id in list(unmatched.items()):
        if early_id is not None and (places := waiting.get(early_id)):
            answers[places.pop(0)] = messages[index]
            del unmatched[index]

    turns: list[Turn] = []
    for index, message in enumerate(messages):
        if message.get("role") == "assistant":
            turn = _answered_turn(index, message, answers)
            if turn is not None:
                turns.append(turn)
        elif message.get("role") != "toolResult":
            turns.append(Turn(message, []))
        elif index in unmatched:
            turns.append(Turn(_orphan_as_user(message), []))
    return turns


def sendable_tool_name(name: str) -> str:
    """Return a tool's name as a provider takes it: of `[a-zA-Z0-9_-]`, at most 64 long."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64]


class CallIds:
    """Gives tool calls ids that a provider takes: of `[a-zA-Z0-9_-]`, at most `limit` long, each once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, call_id: str) -> str:
        """Return the id to send for a call; an id that fits and is not taken yet stays as it is."""
        fitting = candidate = re.sub(r"[^a-zA-Z0-9_-]", "_", call_id)[: self._limit]
        number = self._next.get(fitting, 1)
        while candidate in self._used:
            number += 1
            suffix = f"_{number}"
            candidate = fitting[: self._limit - len(suffix)] + suffix
        self._next[fitting] = number
        self._used.add(candidate)
        return candidate


def _is_open(block: dict[str, Any], answered: set[str]) -> bool:
    if block.get("type") != "toolCall":
        return False
    call_id = block.get("id")
    return not isinstance(call_id, str) or call_id not in answered


def _is_sendable_call(block: dict[str, Any]) -> bool:
    if block.get("type") != "toolCall":
        return False
    call_id, name = block.get("id"), block.get("name")
    return isinstance(call_id, str) and call_id != "" and isinstance(name, str) and name != ""


def _is_continued(messages: Sequence[dict[str, Any]], index: int) -> bool:
    if index + 1 == len(messages):
        return False
    following = messages[index + 1]
    return following.get("role") == "custom" and following.get("customType") == "interrupted-thinking"


def _rewritten(message: dict[str, Any], kept: list[dict[str, Any]]) -> dict[str, Any] | None:
    content = []
    for block in kept:
        if block.get("type") == "thinking":
            block = {key: value for key, value in block.items() if key != "thinkingSignature"}
        if block.get("type") != "redactedThinking":
            content.append(block)
    return {**message, "content": content} if content else None


def _answered_turn(index: int, message: dict[str, Any], answers: dict[tuple[int, int], dict[str, Any]]) -> Turn | None:
    blocks = content_blocks(message.get("content"))
    kept: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for position, block in enumerate(blocks):
        if block.get("type") == "toolCall":
            if (index, position) not in answers:
                continue
            results.append(answers[index, position])
        kept.append(block)
    if len(kept) == len(blocks):
        return Turn(message, results)
    rewritten = _rewritten(message, kept)
    return Turn(rewritten, results) if rewritten is not None else None


def _orphan_as_user(result: dict[str, Any]) -> dict[str, Any]:
    name = result.get("toolName")
    intro = ORPHAN_ERROR_INTRO if result.get("isError") is True else ORPHAN_RESULT_INTRO
    text = intro.format(tool=name if isinstance(name, str) and name else "(unknown)")
    return {
        "role": "user",
        "content": [{"type": "text", "text": text}, *content_blocks(result.get("content"))],
    }
