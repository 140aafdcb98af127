"""Agent messages to model messages: user, assistant, toolResult and developer (C-50..C-59)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .content_blocks import blocks_of, content_blocks, text_field, text_of
from .sendable import sendable_copy

BRANCH_SUMMARY_INTRO = (
    "The conversation explored another branch and then came back to this point. "
    "This is a summary of what happened on that branch:"
)
COMPACTION_SUMMARY_INTRO = (
    "The earlier part of this conversation was replaced by the following summary. "
    "Take the work it describes as done and continue from there:"
)
BASH_INTRO = "The user ran the command"
PYTHON_INTRO = "The user ran this Python code:"
PYTHON_OUTPUT = "Its output:"
NO_OUTPUT = "(no output)"
CANCELLED_NOTE = "(cancelled before it finished)"
EXIT_CODE_NOTE = "(exit code {code})"
TRUNCATED_NOTE = "(output shortened; all of it is in {path})"
FILE_MENTION_INTRO = "The user mentioned these files; their content was read at that moment:"
FILE_MENTION_IMAGES_INTRO = "The user mentioned these images; they follow in this order:"
IMAGE_FILE_BODY = "(image attached)"
PRUNED_RESULT = "(output removed to save space)"


def convert_to_llm(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages to send to a model, in the file's own form; the input is not changed or shared.

    user, assistant, toolResult and developer pass (C-50); summaries, custom and hook messages and executions
    become user messages (C-51..C-55, C-57); a file mention becomes a developer message with the texts and a
    user message with the images (C-56); other roles are dropped (C-58). Timestamps are carried over (C-59).

    Nothing stored makes this fail: content that is neither string nor list counts as empty (a custom message
    with it is dropped, C-21), what is no block is left out of a list, a missing text field is empty, and a
    message that is no mapping is dropped. Lone surrogates become U+FFFD, infinities null, so the result can
    always be encoded as UTF-8 JSON. Converting a result again changes nothing.
    """
    converted: list[dict[str, Any]] = []
    for message in messages:
        if isinstance(message, Mapping):
            role = message.get("role")
            convert = _CONVERSIONS.get(role) if isinstance(role, str) else None
            if convert is not None:
                converted += convert(sendable_copy(message))
    return converted


def _passed(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    message["content"] = content if isinstance(content, str) else content_blocks(content)
    return [message]


def _tool_result(message: dict[str, Any]) -> list[dict[str, Any]]:
    if message.get("prunedAt") is not None:
        text = text_of(message.get("content"))
        message["content"] = [_text_block(text or PRUNED_RESULT)]
    return _passed(message)


def _branch_summary(message: dict[str, Any]) -> list[dict[str, Any]]:
    summary = text_field(message, "summary")
    if not summary:  # an empty one says nothing (C-22)
        return []
    return [_made("user", message, [_text_block(_summary_text(BRANCH_SUMMARY_INTRO, summary))])]


def _compaction_summary(message: dict[str, Any]) -> list[dict[str, Any]]:
    text = _summary_text(COMPACTION_SUMMARY_INTRO, text_field(message, "summary"))
    images = blocks_of(message.get("images"), "image")
    return [_made("user", message, [_text_block(text), *images])]


def _custom(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if not isinstance(content, str | list):
        return []
    return [_made("user", message, content_blocks(content))]


def _bash_execution(message: dict[str, Any]) -> list[dict[str, Any]]:
    return _execution(message, f"{BASH_INTRO} {_code_span(text_field(message, 'command'))}")


def _python_execution(message: dict[str, Any]) -> list[dict[str, Any]]:
    code = _fenced(text_field(message, "code"), "python")
    return _execution(message, f"{PYTHON_INTRO}\n{code}\n{PYTHON_OUTPUT}")


def _execution(message: dict[str, Any], intro: str) -> list[dict[str, Any]]:
    if message.get("excludeFromContext"):
        return []
    output, path, code = text_field(message, "output"), text_field(message, "fullOutputPath"), message.get("exitCode")
    lines = [intro, _fenced(output) if output else NO_OUTPUT]
    if message.get("cancelled"):
        lines.append(CANCELLED_NOTE)
    elif isinstance(code, int | float) and code:
        lines.append(EXIT_CODE_NOTE.format(code=code))
    if message.get("truncated") and path:
        lines.append(TRUNCATED_NOTE.format(path=path))
    return [_made("user", message, [_text_block("\n".join(lines))])]


def _file_mention(message: dict[str, Any]) -> list[dict[str, Any]]:
    texts: list[str] = []
    names: list[str] = []
    images: list[dict[str, Any]] = []
    files = message.get("files")
    for file in content_blocks(files) if isinstance(files, list) else []:
        path, image = text_field(file, "path"), file.get("image")
        if isinstance(image, dict):
            names.append(_file_element(path, IMAGE_FILE_BODY))
            images.append({"type": "image", **image})
        else:
            texts.append(_file_element(path, text_field(file, "content")))
    converted = []
    if texts:
        converted.append(_made("developer", message, [_text_block(_reminder(FILE_MENTION_INTRO, texts))]))
    if images:
        text = _reminder(FILE_MENTION_IMAGES_INTRO, names)
        converted.append(_made("user", message, [_text_block(text), *images]))
    return converted


def _made(role: str, source: dict[str, Any], content: list[dict[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {"role": role, "content": content}
    if "timestamp" in source:
        made["timestamp"] = source["timestamp"]
    return made


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _summary_text(intro: str, summary: str) -> str:
    return f"{intro}\n\n<summary>\n{summary}\n</summary>"


def _file_element(path: str, body: str) -> str:
    return f'<file path="{path}">\n{body}\n</file>'


def _reminder(intro: str, elements: list[str]) -> str:
    inner = "\n\n".join([intro, *elements])
    return f"<system-reminder>\n{inner}\n</system-reminder>"


def _backticks(text: str, least: int) -> str:
    """A run of backticks that does not occur in `text`."""
    return "`" * max(least, 1 + max(map(len, re.findall("`+", text)), default=0))


def _code_span(text: str) -> str:
    ticks = _backticks(text, 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _fenced(text: str, language: str = "") -> str:
    fence = _backticks(text, 3)
    return f"{fence}{language}\n{text}\n{fence}"


_CONVERSIONS: dict[str, Callable[[dict[str, Any]], list[dict[str, Any]]]] = {
    "user": _passed,
    "assistant": _passed,
    "developer": _passed,
    "toolResult": _tool_result,
    "branchSummary": _branch_summary,
    "compactionSummary": _compaction_summary,
    "custom": _custom,
    "hookMessage": _custom,
    "bashExecution": _bash_execution,
    "pythonExecution": _python_execution,
    "fileMention": _file_mention,
}
