"""Where a path is cut for a compaction: what is kept begins there (K-30..K-36)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from msgspec import Struct

from ...eventstore.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    MessageEntry,
    SessionEntry,
)
from ...projections.content_blocks import blocks_of
from .token_estimate import Estimate

_CUT_ROLES = frozenset(
    {"user", "assistant", "bashExecution", "custom", "hookMessage", "branchSummary", "compactionSummary"}
)
_TURN_ROLES = frozenset({"user", "bashExecution"})


class CutPoint(Struct, frozen=True):
    """Positions among the entries. `turn_start`: of the turn that the cut splits, None where it splits none."""

    first_kept: int
    turn_start: int | None = None


def find_cut_point(entries: Sequence[SessionEntry], keep_recent_tokens: int, estimate: Estimate) -> CutPoint:
    """Find the cut that keeps about so many tokens of the newest messages; linear in the entries.

    A tool result is never the first that is kept, and no cut comes between a call and its result. Without a
    place for a cut everything is kept.
    """
    valid = _valid_cuts(entries)
    if not valid:
        return CutPoint(0)
    cut = _chosen(entries, valid, keep_recent_tokens, estimate)
    # What precedes a kept message without being one stays with it.
    while cut > 0 and not isinstance(entries[cut - 1], MessageEntry | CompactionEntry):
        cut -= 1
    return CutPoint(cut, _split_turn(entries, cut))


def _valid_cuts(entries: Sequence[SessionEntry]) -> list[int]:
    """Return the positions where a cut may be, in order (K-30); never between a tool call and its result."""
    calls: dict[str, int] = {}
    steps = [0] * (len(entries) + 1)
    for index, entry in enumerate(entries):
        if not isinstance(entry, MessageEntry):
            continue
        if entry.role == "assistant":
            for block in blocks_of(entry.message.get("content"), "toolCall"):
                if isinstance(call_id := block.get("id"), str):
                    calls[call_id] = index
        elif entry.role == "toolResult":
            call_id = entry.message.get("toolCallId")
            if isinstance(call_id, str) and (call := calls.get(call_id)) is not None:
                steps[call + 1] += 1
                steps[index + 1] -= 1
    open_calls = accumulate(steps)
    return [index for index, entry in enumerate(entries) if not next(open_calls) and _may_begin(entry)]


def _may_begin(entry: SessionEntry) -> bool:
    if isinstance(entry, MessageEntry):
        return entry.role in _CUT_ROLES
    return isinstance(entry, BranchSummaryEntry | CustomMessageEntry)


def _chosen(
    entries: Sequence[SessionEntry],
    valid: Sequence[int],
    keep_recent_tokens: int,
    estimate: Estimate,
) -> int:
    kept = 0
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        if isinstance(entry, MessageEntry):
            kept += estimate(entry.message)
            if kept >= keep_recent_tokens:
                # Behind an oversized tool result there is no place: the last one before it (K-33 as settled).
                return next((cut for cut in valid if cut >= index), valid[-1])
    return valid[0]


def _split_turn(entries: Sequence[SessionEntry], cut: int) -> int | None:
    """Return where the turn began that a cut splits, by the first message at or after the cut (K-36 as settled)."""
    first = next((index for index in range(cut, len(entries)) if isinstance(entries[index], MessageEntry)), None)
    if first is None or _role(entries[first]) == "user":
        return None
    for index in range(first, -1, -1):
        if _role(entries[index]) in _TURN_ROLES or isinstance(entries[index], BranchSummaryEntry | CustomMessageEntry):
            return index if index < cut else None
    return None


def _role(entry: SessionEntry) -> str | None:
    return entry.role if isinstance(entry, MessageEntry) else None
