"""What each filter of the tree shows (U-50..U-57)."""

from __future__ import annotations

from typing import Any

import pytest

from sessiontree.app.tree_filter import FilterMode, shows

MODES = list(FilterMode)
SETTINGS = ["label", "custom", "model_change", "thinking_level_change"]
OTHERS = ["compaction", "branch_summary", "custom_message", "mode_change", "session_info", "from_the_future"]


def shown_in(entry: Any, *, labelled: bool = False, is_leaf: bool = False) -> list[str]:
    return [mode.value for mode in MODES if shows(mode, entry, labelled=labelled, is_leaf=is_leaf)]


def test_filters_are_gone_through_in_this_order() -> None:
    """U-57: default, then the narrower ones, then all."""
    assert MODES == ["default", "no-tools", "user-only", "labeled-only", "all"]


@pytest.mark.parametrize("entry_type", SETTINGS)
def test_settings_entries_show_in_all_only(entry_type: str, make_entry: Any) -> None:
    """U-50, U-54, U-56."""
    assert shown_in(make_entry("e", entry_type)) == ["all"]


@pytest.mark.parametrize("entry_type", OTHERS)
def test_other_entries_show_in_default_no_tools_and_all(entry_type: str, make_entry: Any) -> None:
    """U-50, U-51, U-52: a custom message is no user message."""
    assert shown_in(make_entry("e", entry_type)) == ["default", "no-tools", "all"]


def test_messages_show_by_role(make_entry: Any) -> None:
    """U-51, U-52."""
    assert shown_in(make_entry("e", role="user")) == ["default", "no-tools", "user-only", "all"]
    assert shown_in(make_entry("e", role="developer")) == ["default", "no-tools", "all"]
    assert shown_in(make_entry("e", role="assistant")) == ["default", "no-tools", "all"]
    assert shown_in(make_entry("e", role="toolResult")) == ["default", "all"]


@pytest.mark.parametrize("entry_type", [*SETTINGS, *OTHERS])
def test_labelled_entries_of_any_type_show_in_labeled_only(entry_type: str, make_entry: Any) -> None:
    """U-53."""
    assert "labeled-only" in shown_in(make_entry("e", entry_type), labelled=True)


@pytest.mark.parametrize("stop_reason", [None, "stop", "toolUse", ""])
@pytest.mark.parametrize("content", ["", " … ", [{"type": "toolCall", "id": "c", "name": "ls", "arguments": {}}]])
def test_silent_turns_are_hidden_in_every_filter_but_all(stop_reason: Any, content: Any, make_entry: Any) -> None:
    """U-55 as settled: also a labelled one; the current leaf is shown."""
    turn = make_entry("e", role="assistant", content=content, stopReason=stop_reason)
    assert shown_in(turn) == ["all"]
    assert shown_in(turn, labelled=True) == ["all"]
    assert shown_in(turn, is_leaf=True) == ["default", "no-tools", "all"]


@pytest.mark.parametrize("stop_reason", ["aborted", "error", "length"])
def test_failed_turns_are_shown_without_text(stop_reason: str, make_entry: Any) -> None:
    """U-55."""
    turn = make_entry("e", role="assistant", content=[], stopReason=stop_reason)
    assert shown_in(turn) == ["default", "no-tools", "all"]
