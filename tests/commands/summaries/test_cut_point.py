"""Where a path is cut for a compaction (K-30..K-36).

Paths are written one letter an entry. Messages: `u`ser, `a`ssistant, `c`all of a tool, its `r`esult, `b`ash and
`d`eveloper; other entries: `n`ote of an extension, `s`ummary of a branch, `l`abel, compaction (`x`). Each message
counts one token.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiontree import SessionEntry, build_session_context, estimate_tokens
from sessiontree.commands.summaries.cut_point import CutPoint, find_cut_point
from sessiontree.eventstore.entries import MessageEntry

Path = Callable[..., list[SessionEntry]]
Fields = dict[str, Any]


def call(*call_ids: str) -> Fields:
    blocks = [{"type": "toolCall", "id": call_id, "name": "bash", "arguments": {}} for call_id in call_ids]
    return {"role": "assistant", "content": blocks}


def result(call_id: str) -> Fields:
    return {"role": "toolResult", "toolCallId": call_id, "content": "out"}


BODIES: dict[str, Fields] = {
    "u": {"role": "user", "content": "q"},
    "a": {"role": "assistant", "content": [{"type": "text", "text": "r"}]},
    "c": call("t1"),
    "r": result("t1"),
    "b": {"role": "bashExecution", "command": "ls", "output": ""},
    "d": {"role": "developer", "content": "d"},
    "n": {"type": "custom_message", "customType": "note", "content": "n"},
    "s": {"type": "branch_summary", "summary": "s", "fromId": "e1"},
    "l": {"type": "label", "targetId": "e1", "label": "x"},
    "x": {"type": "compaction", "summary": "s", "firstKeptEntryId": "e1", "tokensBefore": 1},
}
NEVER: dict[str, Fields] = {
    "toolResult": result("of no call"),
    "developer": BODIES["d"],
    "fileMention": {"role": "fileMention", "files": []},
    "pythonExecution": {"role": "pythonExecution", "code": "1"},
    "unheard-of": {"role": "unheard-of"},
    "label": BODIES["l"],
    "compaction": BODIES["x"],
    "custom": {"type": "custom", "customType": "c"},
    "model_change": {"type": "model_change", "model": "p/m"},
    "unknown": {"type": "from_the_future"},
}


def one(message: Fields) -> int:
    return 1


@pytest.fixture
def cut(path: Path) -> Callable[[str, int], tuple[int, int | None]]:
    """Returns the first kept entry and the start of the split turn, of a path in letters."""

    def find(letters: str, keep: int) -> tuple[int, int | None]:
        found = find_cut_point(path(*(BODIES[letter] for letter in letters)), keep, one)
        return found.first_kept, found.turn_start

    return find


Cut = Callable[[str, int], tuple[int, int | None]]


@pytest.mark.parametrize(
    "role", ["user", "assistant", "bashExecution", "custom", "hookMessage", "branchSummary", "compactionSummary"]
)
def test_what_is_kept_may_begin_with_a_message_of_these_roles(path: Path, role: str) -> None:
    """K-30."""
    assert find_cut_point(path(BODIES["d"], {"role": role, "content": "x"}), 1, one).first_kept == 1


@pytest.mark.parametrize("letter", ["n", "s"])
def test_what_is_kept_may_begin_with_a_note_or_a_summary_of_a_branch(cut: Cut, letter: str) -> None:
    """K-30."""
    assert cut(f"d{letter}", 1) == (1, None)


@pytest.mark.parametrize("body", NEVER.values(), ids=NEVER.keys())
def test_what_is_kept_never_begins_with_anything_else(path: Path, body: Fields) -> None:
    """K-30, K-31: without a place for a cut all is kept."""
    assert find_cut_point(path(body, body), 1, one) == CutPoint(0)


def test_of_nothing_all_is_kept() -> None:
    """K-31."""
    assert find_cut_point([], 1, one) == CutPoint(0)


@pytest.mark.parametrize(
    ("letters", "keep", "first_kept"),
    [
        ("uauaua", 0, 5),
        ("uauaua", 1, 5),
        ("uauaua", 2, 4),
        ("uauaua", 5, 1),
        ("uauaua", 6, 0),
        # All fits: the first valid one.
        ("uauaua", 7, 0),
        ("a", 7, 0),
        ("a", 1, 0),
        ("dua", 7, 1),
        # The first place at or after the message that reaches the budget: never a tool result.
        ("ucra", 2, 3),
        ("ucrra", 3, 4),
        ("ucrua", 3, 3),
        # Only messages count; what precedes the cut without being one stays with it, down to a message or compaction.
        ("ullal", 1, 1),
        ("uanslu", 1, 2),
        ("uallxlu", 1, 5),
        ("lu", 1, 0),
        ("uan", 1, 1),
    ],
)
def test_the_cut_is_where_the_newest_messages_reach_what_is_to_be_kept(
    cut: Cut, letters: str, keep: int, first_kept: int
) -> None:
    """K-32, K-34, X-126."""
    assert cut(letters, keep)[0] == first_kept


@pytest.mark.parametrize(
    ("letters", "first_kept"), [("uauacr", 4), ("uacrrr", 2), ("uacrl", 2), ("uacrn", 4), ("ucr", 1), ("cr", 0)]
)
def test_behind_an_oversized_result_the_cut_is_the_last_place_before_it(
    cut: Cut, letters: str, first_kept: int
) -> None:
    """K-33 as settled; behind it only what follows it without being a message."""
    assert cut(letters, 1)[0] == first_kept


@pytest.mark.parametrize(
    ("letters", "first_kept"),
    [
        ("ucur", 1),  # the person spoke while the tool ran
        ("ucnr", 1),
        ("uclr", 1),
        ("ucbrur", 1),
        ("ucrcur", 3),  # one id for two calls: the result is of the nearer one
        ("uaur", 2),  # a result without its call binds nothing
    ],
)
def test_no_cut_comes_between_a_call_and_its_result(cut: Cut, letters: str, first_kept: int) -> None:
    """K-30, K-33: not even where something else stands between them."""
    assert cut(letters, 1)[0] == cut(letters, 2)[0] == first_kept


def test_a_call_waits_for_the_last_of_its_results(path: Path) -> None:
    """K-30: an assistant's turn with several calls is one piece."""
    user, note = BODIES["u"], BODIES["n"]
    entries = path(user, call("t1", "t2"), result("t2"), note, user, result("t1"), note, BODIES["a"])
    found = [find_cut_point(entries, keep, one).first_kept for keep in (1, 2, 3, 4, 5, 6)]
    assert found == [6, 6, 6, 6, 1, 0]


def test_odd_calls_and_results_bind_nothing(path: Path) -> None:
    """K-30, K-31."""
    odd = {"role": "assistant", "content": ["x", {"type": "toolCall", "id": 5}, {"type": "toolCall"}]}
    results = [{"role": "toolResult", "toolCallId": call_id, "content": "out"} for call_id in (5, None)]
    entries = path(odd, BODIES["u"], *results)
    assert find_cut_point(entries, 1, one).first_kept == 1


@pytest.mark.parametrize(
    ("letters", "keep", "expected"),
    [
        ("uaua", 2, (2, None)),  # at a user message
        ("uaua", 1, (3, 2)),  # within the turn
        ("uaaacr", 2, (4, 0)),
        ("uaba", 1, (3, 2)),  # a command of the person begins a turn
        ("uana", 1, (2, None)),  # as does a note, which the cut takes with it
        ("ua" + "na" + "a", 1, (4, 2)),
        ("ua" + "sa" + "a", 1, (4, 2)),
        ("aaa", 1, (2, None)),  # no beginning at all
        ("daa", 1, (2, None)),
        ("aau", 2, (1, None)),  # nor is a later one it
        ("ucrn", 1, (3, None)),  # no message is kept
    ],
)
def test_a_cut_within_a_turn_splits_it_where_it_began(
    cut: Cut, letters: str, keep: int, expected: tuple[int, int | None]
) -> None:
    """K-35, X-126."""
    assert cut(letters, keep) == expected


def test_a_turn_that_begins_at_the_cut_is_not_split(cut: Cut) -> None:
    """K-35, a choice of ours: a command of the person at the cut has no prefix, so there is nothing to split."""
    assert cut("uab", 1) == (2, None)
    assert cut("uaba", 2) == (2, None)


@pytest.mark.parametrize(("letters", "expected"), [("ualu", (2, None)), ("uala", (2, 0)), ("uanlu", (2, None))])
def test_settings_before_the_cut_do_not_split_the_turn_above(
    cut: Cut, letters: str, expected: tuple[int, int | None]
) -> None:
    """K-36 as settled: the first message at or after the cut decides."""
    assert cut(letters, 1) == expected


@given(st.text("uacrbdnslx", max_size=14), st.integers(0, 6), st.data())
def test_a_cut_splits_no_call_from_its_result_and_begins_with_no_result(
    path: Path, letters: str, keep: int, data: st.DataObject
) -> None:
    """K-30, K-34, K-35: with calls of several ids in any order."""
    ids = st.lists(st.sampled_from("pqr"), min_size=1, max_size=2)
    drawn = {"c": lambda: call(*data.draw(ids)), "r": lambda: result(data.draw(ids)[0])}
    entries = path(*(drawn[letter]() if letter in drawn else BODIES[letter] for letter in letters))
    found = find_cut_point(entries, keep, one)
    first, kept = found.first_kept, entries[found.first_kept :]
    assert 0 <= first < max(1, len(entries))
    begins = kept[0] if kept else None
    assert first == 0 or not (isinstance(begins, MessageEntry) and begins.role == "toolResult")
    latest: dict[str, int] = {}
    for index, entry in enumerate(entries):
        if not isinstance(entry, MessageEntry):
            continue
        if entry.role == "assistant":
            latest |= {block["id"]: index for block in entry.message["content"] if block["type"] == "toolCall"}
        elif entry.role == "toolResult":
            made = latest.get(entry.message["toolCallId"], index)
            assert (made < first) == (index < first)
    if found.turn_start is not None:
        assert found.turn_start < first
        assert letters[found.turn_start] in "ubns"
        assert "u" not in letters[found.turn_start + 1 : first]


def test_a_message_is_estimated_once_and_none_above_the_cut(path: Path) -> None:
    """K-32: the cost is linear, and of custom estimates that are dear it is what is kept."""
    seen: list[Fields] = []

    def estimate(message: Fields) -> int:
        seen.append(message)
        return 1

    entries = path(*(BODIES[letter] for letter in "ua" * 500))
    assert find_cut_point(entries, 100, estimate).first_kept == 900
    assert len(seen) == 100


def test_a_long_session_is_cut_at_a_person_or_an_answer(path: Path) -> None:
    """K-30, X-127: about as much is kept as was asked for, and no call or result is alone in it."""
    letters = "ucrcra" * 400
    entries = path({"type": "model_change", "model": "acme/m"}, *(BODIES[letter] for letter in letters))
    context = build_session_context(entries)
    assert (len(context.messages), context.models) == (2_400, {"default": "acme/m"})
    first = find_cut_point(entries, 1_000, estimate_tokens).first_kept
    begins = entries[first]
    assert isinstance(begins, MessageEntry)
    assert begins.role in ("user", "assistant")
    kept = build_session_context(path(*(BODIES[letter] for letter in letters[first - 1 :])))
    assert len(kept.messages) == len(entries) - first
    assert 1_000 - 5 < sum(map(estimate_tokens, kept.messages)) < 1_000 + 5
