"""Faults that show only along the paths of a tree: tool calls and results, first kept entries (C-32, C-40)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import NamedTuple

from ..eventstore.entries import CompactionEntry, MessageEntry, SessionEntry
from ..eventstore.report import FaultKind
from .content_blocks import blocks_of
from .tree import ROOT, Tree

_STEP = 500


class PathFault(NamedTuple):
    """A fault of the entry with this number."""

    seq: int
    kind: FaultKind
    detail: str


class PathChecks:
    """Takes in the entries of a session, then walks its tree once.

    `tool-pair`: a tool result whose call is not above it on its path; a tool call without a result anywhere below
    it, although a message other than a tool result is below it. An aborted or failed turn may leave its calls
    open, and so may the end of a branch.

    `first-kept`: a compaction whose first kept entry is not above it on its path, or is a tool result, so that
    its call was cut away.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._calls: dict[int, list[str]] = {}
        self._results: dict[int, str] = {}
        self._may_stay_open: set[int] = set()
        self._first_kept: dict[int, str | None] = {}
        # A walk enters each entry before, and leaves it after, everything below it.
        self._entered = array("Q", bytes(8 * (tree.last_seq + 1)))
        self._left = array("Q", self._entered)

    def take(self, seq: int, entry: SessionEntry) -> None:
        """Take in an entry of the tree, in whatever order."""
        if isinstance(entry, CompactionEntry):
            self._first_kept[seq] = entry.first_kept_entry_id
        elif isinstance(entry, MessageEntry) and entry.role == "assistant":
            ids = [block.get("id") for block in blocks_of(entry.message.get("content"), "toolCall")]
            if ids := list(dict.fromkeys(call_id for call_id in ids if isinstance(call_id, str))):
                self._calls[seq] = ids
                if entry.message.get("stopReason") in ("aborted", "error"):
                    self._may_stay_open.add(seq)
        elif isinstance(entry, MessageEntry) and entry.role == "toolResult":
            call_id = entry.message.get("toolCallId")
            self._results[seq] = call_id if isinstance(call_id, str) else ""

    def faults_in_steps(self) -> Iterator[PathFault | None]:
        """Yield the faults, when all entries are in; None after each step of bounded work."""
        unpaired = set()
        for fault in self._walk():
            if fault is not None:
                unpaired.add(fault.seq)
            yield fault
        for seq, first_id in self._first_kept.items():
            detail = self._why_not_kept(seq, first_id, unpaired)
            yield PathFault(seq, "first-kept", detail) if detail is not None else None

    def _walk(self) -> Iterator[PathFault | None]:
        tree = self._tree
        on_path: dict[str, list[int]] = {}  # call id to the turns above that make it
        answered: set[tuple[int, str]] = set()
        spoken_below = bytearray(tree.last_seq + 1)
        pending = tree.children(ROOT)[::-1]
        steps = 0
        while pending:
            steps += 1
            if steps % _STEP == 0:
                yield None
            seq = pending.pop()
            if seq < 0:  # everything below it is done
                seq = -seq
                self._left[seq] = steps
                for call_id in self._calls.get(seq, ()):
                    on_path[call_id].pop()
                    if (seq, call_id) in answered:
                        answered.discard((seq, call_id))
                    elif spoken_below[seq] and seq not in self._may_stay_open:
                        yield PathFault(seq, "tool-pair", f"its tool call {call_id} has no result below it")
                kind = tree.kind(seq)
                if spoken_below[seq] or (kind.type == "message" and kind.role != "toolResult"):
                    spoken_below[tree.parents[seq]] = True
                continue
            self._entered[seq] = steps
            for call_id in self._calls.get(seq, ()):
                on_path.setdefault(call_id, []).append(seq)
            if (result_of := self._results.get(seq)) is not None:
                if turns := on_path.get(result_of):
                    answered.add((turns[-1], result_of))
                else:
                    what = f"its tool call {result_of}" if result_of else "its tool call, which it does not name,"
                    yield PathFault(seq, "tool-pair", f"{what} is not on its path")
            pending.append(-seq)
            pending += reversed(tree.children(seq))

    def _is_above(self, seq: int, other: int) -> bool:
        return self._entered[seq] < self._entered[other] < self._left[seq]

    def _why_not_kept(self, seq: int, first_id: str | None, unpaired: set[int]) -> str | None:
        if first_id is None:
            return "it names no first kept entry"
        first = self._tree.find(first_id)
        if not first:
            return f"its first kept entry {first_id} is not in the file"
        if first == seq:
            return "its first kept entry is itself"
        if not self._is_above(first, seq):
            where = "comes after it" if self._is_above(seq, first) else "is on another branch"
            return f"its first kept entry {first_id} {where}"
        if first in self._results and first not in unpaired:
            return f"its first kept entry {first_id} is a tool result, and the call is cut away"
        return None
