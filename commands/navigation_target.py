"""Where a navigation leads: the new leaf, and what it puts into the editor (N-20..N-25). No I/O."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Struct

from ..eventstore.entries import CustomMessageEntry, MessageEntry, SessionEntry
from ..projections.content_blocks import blocks_of, text_of


class Prefill(NamedTuple):
    """What goes into the editor: the text, which may be empty, and the image blocks, None without any (N-24)."""

    text: str
    images: list[dict[str, Any]] | None = None


class NavigationTarget(Struct, frozen=True):
    """`leaf_id`: None is above all roots. The editor's: None unless the target is to be written anew."""

    leaf_id: str | None
    editor_text: str | None = None
    editor_images: list[dict[str, Any]] | None = None


def navigation_target(entry: SessionEntry, parent_id: str | None) -> NavigationTarget:
    """Decide where the selection of an entry leads; `parent_id`: its parent in the tree, None for every root."""
    if isinstance(entry, MessageEntry) and entry.role == "user":
        return NavigationTarget(parent_id, *prefill(entry.message.get("content")))
    if isinstance(entry, CustomMessageEntry):
        return NavigationTarget(parent_id, *prefill(entry.content))
    return NavigationTarget(entry.id)


def prefill(content: Any) -> Prefill:
    """Return the text blocks of a content joined without separator, and its images in order."""
    return Prefill(text_of(content), blocks_of(content, "image") or None)
