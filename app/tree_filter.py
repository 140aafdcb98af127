"""Which entries a filter of the tree shows (U-50..U-57)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from ..eventstore.entries import MessageEntry, SessionEntry
from .row_text import has_visible_text

_SETTINGS_TYPES = frozenset({"label", "custom", "model_change", "thinking_level_change"})


class FilterMode(StrEnum):
    """The filters, in the order in which a key goes through them."""

    DEFAULT = "default"
    NO_TOOLS = "no-tools"
    USER_ONLY = "user-only"
    LABELED_ONLY = "labeled-only"
    ALL = "all"


def shows_kind(mode: FilterMode, entry_type: str, role: str | None, *, labelled: bool) -> bool:
    """U-50..U-54: whether a filter shows entries of this kind (`role`: a message's, else None)."""
    match mode:
        case FilterMode.DEFAULT:
            return entry_type not in _SETTINGS_TYPES
        case FilterMode.NO_TOOLS:
            return entry_type not in _SETTINGS_TYPES and role != "toolResult"
        case FilterMode.USER_ONLY:
            return role == "user"
        case FilterMode.LABELED_ONLY:
            return labelled
        case FilterMode.ALL:
            return True


def is_silent_turn(message: Mapping[str, Any]) -> bool:
    """U-55: whether an assistant message shows no text and did not fail."""
    failed = message.get("stopReason") not in (None, "", "stop", "toolUse")
    return not failed and not has_visible_text(message)


def shows(mode: FilterMode, entry: SessionEntry, *, labelled: bool, is_leaf: bool) -> bool:
    """U-50..U-55 as settled: whether a filter shows an entry; every filter but `all` hides silent turns."""
    if not isinstance(entry, MessageEntry):
        return shows_kind(mode, entry.type, None, labelled=labelled)
    if not shows_kind(mode, entry.type, entry.role, labelled=labelled):
        return False
    may_be_silent = mode is not FilterMode.ALL and not is_leaf and entry.role == "assistant"
    return not (may_be_silent and is_silent_turn(entry.message))
