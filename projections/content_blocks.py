"""The content of a stored message as blocks, and as the text and images that a provider takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

IMAGE_NOT_SENT = "[image not included]"
_SENDABLE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""What the providers take."""


class Image(msgspec.Struct, frozen=True):
    """An image: its media type (`image/png`) and its bytes in base64."""

    media_type: str
    data: str


def text_field(fields: Mapping[str, Any], name: str) -> str:
    """Return the string of this name, "" where there is none or something else."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def content_blocks(content: Any) -> list[dict[str, Any]]:
    """Return the blocks of a message's content: a string is one text block, what is no block is left out."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return [block for block in content if isinstance(block, dict)]
    return []


def blocks_of(content: Any, kind: str) -> list[dict[str, Any]]:
    """Return the blocks of one type."""
    return [block for block in content_blocks(content) if block.get("type") == kind]


def texts_of(content: Any) -> list[str]:
    """Return the texts of the text blocks."""
    return [text_field(block, "text") for block in blocks_of(content, "text")]


def text_of(content: Any) -> str:
    """Return the texts of the text blocks as one."""
    return "".join(texts_of(content))


def text_and_images(content: Any) -> list[str | Image]:
    """Return the text and the images of a message's content, in order; all other blocks are left out.

    Empty text is left out too. An image without its bytes (`blob:` names a file that we do not read, F-125)
    or of a type that providers do not take stands as the text `IMAGE_NOT_SENT`.
    """
    parts: list[str | Image] = []
    for block in content_blocks(content):
        kind = block.get("type")
        if kind == "text":
            if text := text_field(block, "text"):
                parts.append(text)
        elif kind == "image":
            parts.append(_image(block) or IMAGE_NOT_SENT)
    return parts


def _image(block: dict[str, Any]) -> Image | None:
    data = block.get("data")
    media_type = block.get("mimeType") or block.get("mediaType")
    if not isinstance(data, str) or not data or data.startswith("blob:"):
        return None
    if not isinstance(media_type, str) or media_type not in _SENDABLE_TYPES:
        return None
    return Image(media_type, data)
