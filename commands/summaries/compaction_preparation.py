"""What a compaction would summarize and what it would keep, decided from the window of a path (K-40..K-49)."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from msgspec import Struct
from msgspec.structs import replace

from ...eventstore.entries import CompactionEntry, SessionEntry
from ...projections.context import Message, compaction_message, speaking_messages
from .cut_point import find_cut_point
from .file_operations import FileOperations
from .settings import CompactionSettings
from .token_estimate import ContextUsage, Estimate, last_usage


class CompactionPreparation(Struct, frozen=True):
    """A compaction before it is made. Messages are in the file's form, oldest first, and must not be changed.

    `turn_prefix_messages`: the beginning of a turn whose end is kept; `recent_messages`: what is kept.
    `tokens_before`: of the context as it is.
    """

    first_kept_entry_id: str
    messages_to_summarize: list[Message]
    turn_prefix_messages: list[Message]
    recent_messages: list[Message]
    is_split_turn: bool
    tokens_before: int
    previous_summary: str | None
    file_operations: FileOperations
    settings: CompactionSettings

    def copy(self) -> CompactionPreparation:
        """Return the same with lists of its own, for somebody who may change them."""
        return replace(
            self,
            messages_to_summarize=list(self.messages_to_summarize),
            turn_prefix_messages=list(self.turn_prefix_messages),
            recent_messages=list(self.recent_messages),
            file_operations=FileOperations(set(self.file_operations.read), set(self.file_operations.changed)),
        )


class CompactionWindow(Struct, frozen=True):
    """The entries that the context of a leaf is made of, oldest first.

    `previous`: the compaction whose summary leads, None without one. `kept`: the entries from its first kept
    one up to it; `after`: those that follow it.
    """

    previous: CompactionEntry | None
    kept: list[SessionEntry]
    after: list[SessionEntry]

    @property
    def entries(self) -> list[SessionEntry]:
        """What may be summarized: kept entries are in no summary yet (K-42 as settled)."""
        return [*self.kept, *self.after]


def measured_context(window: CompactionWindow) -> tuple[int, list[Message]]:
    """Return the tokens that the provider said the context took, and the messages to estimate beside it (K-20).

    What it said before the compaction does not count.
    """
    usage = last_usage(window.after)
    if usage is not None:
        return usage.tokens, speaking_messages(window.after[usage.index + 1 :])
    summary = [compaction_message(window.previous)] if window.previous is not None else []
    return 0, [*summary, *speaking_messages(window.entries)]


def context_size(window: CompactionWindow, estimate: Estimate) -> int:
    """Return the tokens of the context: what the provider said since the compaction, the rest estimated (K-20)."""
    told, messages = measured_context(window)
    return told + sum(map(estimate, messages))


def prepare_compaction(
    window: CompactionWindow, settings: CompactionSettings, estimate: Estimate
) -> CompactionPreparation | None:
    """Decide a compaction; None where there is nothing to summarize (K-40, K-47). Linear in the window."""
    if window.previous is not None and not window.after:
        return None
    entries = window.entries
    keep = _keep_recent_tokens(entries, last_usage(window.after), settings, estimate)
    cut = find_cut_point(entries, keep, estimate)
    history_end = cut.first_kept if cut.turn_start is None else cut.turn_start
    history = speaking_messages(entries[:history_end])
    prefix = speaking_messages(entries[history_end : cut.first_kept])
    if not history and not prefix:
        return None
    operations = FileOperations()
    if window.previous is not None and not window.previous.from_extension:
        operations.add_details(window.previous.details)
    for message in (*history, *prefix):
        operations.add_message(message)
    return CompactionPreparation(
        first_kept_entry_id=entries[cut.first_kept].id,
        messages_to_summarize=history,
        turn_prefix_messages=prefix,
        recent_messages=speaking_messages(entries[cut.first_kept :]),
        is_split_turn=cut.turn_start is not None,
        tokens_before=context_size(window, estimate),
        previous_summary=window.previous.summary if window.previous is not None else None,
        file_operations=operations,
        settings=settings,
    )


def _keep_recent_tokens(
    entries: Sequence[SessionEntry], usage: ContextUsage | None, settings: CompactionSettings, estimate: Estimate
) -> int:
    """Return how much to keep by the estimate, when the provider counts more than that (K-44)."""
    estimated = _size(entries, estimate) if usage is not None else 0
    if usage is None or not estimated or usage.prompt <= estimated:
        return settings.keep_recent_tokens
    return max(1, floor(settings.keep_recent_tokens * estimated / usage.prompt))


def _size(entries: Sequence[SessionEntry], estimate: Estimate) -> int:
    return sum(map(estimate, speaking_messages(entries)))
