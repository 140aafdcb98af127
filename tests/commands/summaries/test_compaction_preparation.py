"""What a compaction would summarize and what it would keep (K-40..K-49)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sessiontree import CompactionPreparation, CompactionSettings, SessionEntry
from sessiontree.commands.summaries.compaction_preparation import (
    CompactionWindow,
    context_size,
    prepare_compaction,
)
from sessiontree.eventstore.entries import CompactionEntry

Path = Callable[..., list[SessionEntry]]
Fields = dict[str, Any]

LABEL: Fields = {"type": "label", "targetId": "e1", "label": "x"}
NOTE: Fields = {"type": "custom_message", "customType": "note", "content": "n"}


def user(said: str) -> Fields:
    return {"role": "user", "content": said}


def reply(said: str, **fields: Any) -> Fields:
    return {"role": "assistant", "content": [{"type": "text", "text": said}], **fields}


def used(total: int, **fields: int) -> Fields:
    return {"totalTokens": total, **fields}


def edits(tool: str, path: str) -> Fields:
    call = {"type": "toolCall", "id": path, "name": tool, "arguments": {"path": path}}
    return {"role": "assistant", "content": [call]}


def one(message: Fields) -> int:
    return 1


def texts(messages: list[Fields]) -> list[str]:
    """The text of each message, its role where it has none."""
    found = []
    for message in messages:
        content: Any = message.get("content", message.get("summary"))
        found.append(content if isinstance(content, str) else content[0].get("text", message["role"]))
    return found


@pytest.fixture
def window(path: Path) -> Callable[..., CompactionWindow]:
    """Makes a window of what follows the compaction, and of what it kept; fields are the compaction's."""

    def make(*after: Fields, kept: tuple[Fields, ...] = (), **compaction: Any) -> CompactionWindow:
        entries = path(*kept, *after)
        previous = None
        if compaction:
            previous = CompactionEntry(**{"id": "c", "first_kept_entry_id": "e1", "summary": "S", **compaction})
        return CompactionWindow(previous, entries[: len(kept)], entries[len(kept) :])

    return make


Window = Callable[..., CompactionWindow]
TURNS = (user("q1"), reply("r1"), user("q2"), reply("r2"))


def prepared(window: CompactionWindow, keep: int = 2, **settings: Any) -> CompactionPreparation:
    made = prepare_compaction(window, CompactionSettings(keep_recent_tokens=keep, **settings), one)
    assert made is not None
    return made


def test_a_preparation_says_all_that_a_hook_or_a_summarizer_needs(window: Window) -> None:
    """K-45, K-46, K-49: at a user message nothing is split."""
    settings = CompactionSettings(keep_recent_tokens=2)
    made = prepare_compaction(window(*TURNS), settings, one)
    assert made is not None
    assert made.first_kept_entry_id == "e3"
    assert texts(made.messages_to_summarize) == ["q1", "r1"]
    assert texts(made.recent_messages) == ["q2", "r2"]
    assert (made.turn_prefix_messages, made.is_split_turn) == ([], False)
    assert (made.tokens_before, made.previous_summary) == (4, None)
    assert made.file_operations.details() == {"readFiles": [], "modifiedFiles": []}
    assert made.settings is settings


def test_the_beginning_of_a_split_turn_is_apart_from_the_history(window: Window) -> None:
    """K-45, K-46."""
    made = prepared(window(*TURNS, reply("r2b"), reply("r2c")), keep=1)
    assert texts(made.messages_to_summarize) == ["q1", "r1"]
    assert texts(made.turn_prefix_messages) == ["q2", "r2", "r2b"]
    assert texts(made.recent_messages) == ["r2c"]
    assert (made.is_split_turn, made.first_kept_entry_id) == (True, "e6")


def test_messages_come_from_messages_notes_and_branch_summaries(window: Window) -> None:
    """K-46: in the file's form; settings, labels and empty summaries say nothing."""
    branch = {"type": "branch_summary", "summary": "left", "fromId": "e1"}
    made = prepared(window(user("q1"), LABEL, NOTE, branch, {**branch, "summary": ""}, *TURNS))
    assert texts(made.messages_to_summarize) == ["q1", "n", "left", "q1", "r1"]
    assert [message["role"] for message in made.messages_to_summarize[1:3]] == ["custom", "branchSummary"]


@pytest.mark.parametrize(
    ("bodies", "keep"),
    [
        ((), 1),
        ((LABEL,), 1),
        (TURNS, 9),
        ((user("q"),), 1),
        # An only result: there is no place for a cut at all.
        (({"role": "toolResult", "toolCallId": "t", "content": "out"},), 1),
        ((LABEL, user("q")), 1),
    ],
)
def test_nothing_to_summarize_is_no_compaction(window: Window, bodies: tuple[Fields, ...], keep: int) -> None:
    """K-40, K-45, K-47 as settled (A)."""
    assert prepare_compaction(window(*bodies), CompactionSettings(keep_recent_tokens=keep), one) is None


def test_right_after_a_compaction_there_is_none(window: Window) -> None:
    """K-40: however much it kept, and whatever the settings."""
    done = window(kept=TURNS, summary="S")
    assert prepare_compaction(done, CompactionSettings(enabled=False, keep_recent_tokens=1), one) is None


def test_what_an_earlier_compaction_kept_is_summarized_with_what_follows(window: Window) -> None:
    """K-41, K-42 as settled, K-48: the range begins at its first kept entry; its summary is carried on."""
    made = prepared(window(user("q3"), reply("r3"), kept=TURNS, summary="S"))
    assert texts(made.messages_to_summarize) == ["q1", "r1", "q2", "r2"]
    assert texts(made.recent_messages) == ["q3", "r3"]
    assert (made.first_kept_entry_id, made.previous_summary) == ("e5", "S")


def test_the_new_cut_may_lie_within_what_the_earlier_one_kept(window: Window) -> None:
    """K-42 as settled, K-45."""
    made = prepared(window(user("q3"), kept=TURNS, summary="S"), keep=3)
    assert made.first_kept_entry_id == "e3"
    assert texts(made.messages_to_summarize) == ["q1", "r1"]


def test_a_compaction_that_kept_nothing_leaves_only_what_follows_it(window: Window) -> None:
    """K-41."""
    made = prepared(window(*TURNS, summary="S"), keep=1)
    assert texts([*made.messages_to_summarize, *made.turn_prefix_messages]) == ["q1", "r1", "q2"]


def test_an_older_compaction_among_the_kept_says_nothing(window: Window) -> None:
    """K-46, C-33: its summary is in the newer one."""
    old = {"type": "compaction", "summary": "old", "firstKeptEntryId": "e1", "tokensBefore": 1}
    made = prepared(window(*TURNS, kept=(user("q0"), old), summary="S"))
    assert texts(made.messages_to_summarize) == ["q0", "q1", "r1"]


def test_the_file_operations_are_those_of_both_parts_and_of_the_earlier_compaction(window: Window) -> None:
    """K-48: what is kept adds nothing yet."""
    details = {"readFiles": ["before.py"], "modifiedFiles": ["changed.py"]}
    turns = (user("q"), edits("read", "history.py"), user("q"), edits("edit", "prefix.py"), edits("write", "kept.py"))
    made = prepared(window(*turns, summary="S", details=details), keep=1)
    assert made.file_operations.details() == {
        "readFiles": ["before.py", "history.py"],
        "modifiedFiles": ["changed.py", "prefix.py"],
    }


@pytest.mark.parametrize(
    ("flags", "files"),
    [
        ({}, ["a.py"]),
        ({"stored_from_extension": False}, ["a.py"]),
        ({"stored_from_extension": True}, []),
        ({"stored_from_hook": True}, []),
    ],
)
def test_the_details_of_an_extensions_compaction_are_its_own(
    window: Window, flags: dict[str, bool], files: list[str]
) -> None:
    """K-48: in either spelling."""
    made = prepared(window(*TURNS, summary="S", details={"readFiles": ["a.py"]}, **flags))
    assert made.file_operations.read_files == files


def test_the_size_of_a_context_is_what_the_provider_said_and_the_rest_estimated(window: Window) -> None:
    """K-43 (P), K-13, K-20 as settled: all entries that speak count, and nothing before the answer again."""
    turns = (user("q1"), reply("r1", usage=used(500)), user("q2"), LABEL, NOTE)
    assert context_size(window(*turns), one) == 502
    failed = reply("", usage=used(900), stopReason="error")
    assert context_size(window(*turns, failed), one) == 503
    assert prepared(window(*turns, failed), keep=3).tokens_before == 503


def test_without_usage_since_the_compaction_all_is_estimated_and_its_summary_too(window: Window) -> None:
    """K-43, K-73: usage of before told of another context."""

    def estimate(message: Fields) -> int:
        return 100 if message["role"] == "compactionSummary" and message["summary"] == "S" else 1

    kept = (user("q1"), reply("r1", usage=used(500)))
    assert context_size(window(*TURNS), one) == 4
    assert context_size(window(user("q2"), kept=kept, summary="S"), estimate) == 103
    assert context_size(window(user("q2"), reply("r2", usage=used(50)), kept=kept, summary="S"), estimate) == 50


@pytest.mark.parametrize(
    ("usage", "kept"),
    [
        (used(0, input=8), 4),  # as estimated
        (used(0, input=1), 4),  # less: the estimate counts
        (used(0, input=10, cacheRead=4, cacheWrite=2), 2),  # twice the estimate: half of it is kept
        (used(900, output=900), 4),  # what was answered is no prompt
        (used(0, input=8_000), 1),  # but something is kept
    ],
)
def test_less_is_kept_by_the_estimate_where_the_provider_counts_more(window: Window, usage: Fields, kept: int) -> None:
    """K-44: of eight messages four are to be kept."""
    made = prepared(window(*[user("q")] * 7, reply("r", usage=usage)), keep=4)
    assert len(made.recent_messages) == kept


def test_usage_of_before_the_compaction_does_not_change_how_much_is_kept(window: Window) -> None:
    """K-44, K-73."""
    kept = (user("q1"), reply("r1", usage=used(0, input=4_000)))
    assert prepared(window(user("q2"), reply("r2"), kept=kept, summary="S")).first_kept_entry_id == "e3"


def test_the_cut_is_that_of_the_range_and_its_messages_are_whole(window: Window) -> None:
    """K-45, K-46: every message of the range stands in exactly one of the three lists, in order."""
    made = prepared(window(*TURNS, NOTE, reply("r3"), LABEL, reply("r4"), kept=TURNS, summary="S"), keep=1)
    lists = [made.messages_to_summarize, made.turn_prefix_messages, made.recent_messages]
    assert [texts(part) for part in lists] == [["q1", "r1", "q2", "r2"] * 2, ["n", "r3"], ["r4"]]
    assert made.first_kept_entry_id == "e11"
