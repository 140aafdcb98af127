"""The LLM context of a leaf: compaction replayed from `firstKeptEntryId` (C-01..C-42)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from ..eventstore.entries import (
    BranchSummaryEntry,
    CompactionEntry,
    CustomMessageEntry,
    MessageEntry,
    SessionEntry,
)
from ..eventstore.envelope import envelope_of
from ..eventstore.timestamps import instant_ms
from .path_records import PathRecord
from .path_state import PathState
from .tool_pairs import drop_failed_turns, drop_open_tool_calls
from .tree import ROOT, Tree

Message = dict[str, Any]

_SPEAKING = frozenset({"message", "custom_message", "branch_summary"})


class SessionContext(Struct, frozen=True):
    """What an agent continues from. `messages` is a new list of shared dicts that must not be changed.

    `models`: role to `provider/model`. `open_tool_calls`: ids of calls that were left out because their
    results are not in the context (C-40).
    """

    messages: list[Message]
    thinking_level: str
    configured_thinking_level: str | None
    models: dict[str, str]
    mode: str
    mode_data: dict[str, Any] | None
    injected_ttsr_rules: list[str]
    service_tier: dict[str, str] | None
    open_tool_calls: list[str]


class PathWindow(Struct, frozen=True):
    """The part of a path that its context is made of, root first.

    `compaction`: the one whose summary leads, or 0. `kept`: what it kept; `after`: what follows it, or the
    reset boundary that cuts the path. `record`: the settings that hold at the end.
    """

    record: PathRecord
    compaction: int
    kept: list[int]
    after: list[int]


def path_window(tree: Tree, states: PathState, leaf: int) -> PathWindow:
    """Find the window of an entry's path, at the cost of what is in it (C-30..C-37)."""
    record = states.at(leaf)
    after = _up_to(tree, leaf, record.cut)
    after.reverse()
    if not record.cut or states.compaction(record.cut) is None:
        return PathWindow(record, 0, [], after)
    kept = states.kept(record.cut)
    kept.reverse()
    return PathWindow(record, record.cut, kept, after)


class ContextWindow(Struct, frozen=True):
    """Which entries the context of a leaf is made of. `compaction`: the one whose summary leads, or 0."""

    record: PathRecord
    compaction: int
    speaking: list[int]
    """Entries that may become messages, in order: kept ones, then those after the cut."""

    @property
    def needed(self) -> list[int]:
        """The entries whose bodies are needed."""
        return [self.compaction, *self.speaking] if self.compaction else self.speaking


def context_window(tree: Tree, states: PathState, leaf: int) -> ContextWindow:
    """Find what is in the context of an entry."""
    window = path_window(tree, states, leaf)
    kind = tree.kind
    speaking = [seq for part in (window.kept, window.after) for seq in part if kind(seq).type in _SPEAKING]
    return ContextWindow(window.record, window.compaction, speaking)


def _up_to(tree: Tree, seq: int, end: int) -> list[int]:
    """Entries from `seq` upwards, without `end`."""
    found = []
    parents = tree.parents
    while seq != end:
        found.append(seq)
        seq = parents[seq]
    return found


def build_context(
    window: ContextWindow, bodies: Mapping[int, SessionEntry], *, keep_failed_turns: bool = False
) -> SessionContext:
    """Make the context from its window and the bodies of `window.needed`."""
    messages: list[Message] = []
    summary = bodies.get(window.compaction)
    if isinstance(summary, CompactionEntry):
        messages.append(compaction_message(summary))
    messages += speaking_messages(bodies[seq] for seq in window.speaking)
    messages, open_calls = drop_open_tool_calls(messages)
    if not keep_failed_turns:
        messages = drop_failed_turns(messages)
    record = window.record
    return SessionContext(
        messages=messages,
        thinking_level=record.thinking_level,
        configured_thinking_level=record.configured_thinking_level,
        models=dict(record.models),
        mode=record.mode,
        mode_data=record.mode_data,
        injected_ttsr_rules=record.injected_rules(),
        service_tier=dict(record.service_tier) if record.service_tier is not None else None,
        open_tool_calls=open_calls,
    )


def compaction_message(entry: CompactionEntry) -> Message:
    """Return the message that a compaction's summary leads a context with (C-31)."""
    message = {"role": "compactionSummary", "summary": entry.summary, "tokensBefore": entry.tokens_before}
    if entry.short_summary is not None:
        message["shortSummary"] = entry.short_summary
    return {**message, "timestamp": _milliseconds(entry)}


def speaking_message(entry: SessionEntry) -> Message | None:
    """Return the message that an entry adds to a context, None for one that adds nothing (C-20..C-24)."""
    if type(entry) is MessageEntry:
        return entry.message
    if isinstance(entry, CustomMessageEntry):
        message: Message = {
            "role": "custom",
            "customType": entry.custom_type,
            "content": entry.content,
            "display": entry.display,
            "details": entry.details,
            "attribution": entry.attribution,
        }
        message = {key: value for key, value in message.items() if value is not None}
    elif isinstance(entry, BranchSummaryEntry) and entry.summary:
        message = {"role": "branchSummary", "summary": entry.summary, "fromId": entry.from_id}
    else:
        return None
    return {**message, "timestamp": _milliseconds(entry)}


def speaking_messages(entries: Iterable[SessionEntry]) -> list[Message]:
    """Return the messages of entries in order; compactions and what says nothing have none."""
    return [message for entry in entries if (message := speaking_message(entry)) is not None]


def _milliseconds(entry: SessionEntry) -> int:
    instant = instant_ms(entry.timestamp)
    return int(instant) if instant is not None else 0


def build_session_context(
    entries: Sequence[SessionEntry],
    leaf_id: str | UnsetType | None = UNSET,
    *,
    keep_failed_turns: bool = False,
) -> SessionContext:
    """Return the context of a leaf in a list of entries; unknown or not given, it is the last one (C-01..C-04)."""
    tree = Tree()
    states = PathState(tree)
    if entries:
        envelopes = [envelope_of(entry) for entry in entries]
        tree.apply_batch(1, envelopes)
        states.apply_batch(1, envelopes)
    leaf = ROOT
    if leaf_id is not None:
        leaf = (tree.find(leaf_id) if isinstance(leaf_id, str) else 0) or tree.last_seq
    bodies = dict(enumerate(entries, 1))
    return build_context(context_window(tree, states, leaf), bodies, keep_failed_turns=keep_failed_turns)
