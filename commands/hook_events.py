"""What hooks are told, and what those that are asked may answer (N-07..N-16, N-34, N-71, N-76, K-63..K-74)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from msgspec import Struct

from ..eventstore.abort import AbortSignal
from ..eventstore.entries import BranchSummaryEntry, CompactionEntry, SessionEntry
from ..projections.context import Message
from .summaries.compaction_preparation import CompactionPreparation


class HookEvent(Struct, frozen=True):
    """Base of all events; `type` is the name that a handler is registered under."""

    type: ClassVar[str]


class TreePreparation(Struct, frozen=True):
    """A navigation before it is made (N-07).

    `entries_to_summarize`: what would be left, oldest first, up to the common ancestor; entries of all types.
    """

    target_id: str
    old_leaf_id: str | None
    common_ancestor_id: str | None
    entries_to_summarize: list[SessionEntry]
    user_wants_summary: bool
    custom_instructions: str | None = None
    replace_instructions: bool = False
    label: str | None = None


class SessionBeforeTreeEvent(HookEvent, frozen=True):
    """Asked before the leaf moves to another entry; the answer is a `SessionBeforeTreeResult`."""

    type: ClassVar[str] = "session_before_tree"
    preparation: TreePreparation
    signal: AbortSignal


class SuppliedSummary(Struct, frozen=True):
    """A summary of the abandoned branch in place of our own; `details` are stored as they are."""

    summary: str
    details: Any = None


class SessionBeforeTreeResult(Struct, frozen=True):
    """`cancel`: do not navigate. `summary` counts where a summary is wanted; an empty one is none (N-11, N-16)."""

    cancel: bool = False
    summary: SuppliedSummary | None = None


class SessionTreeEvent(HookEvent, frozen=True):
    """Told after the leaf has moved. `summary_entry` and `from_extension` only where there is a summary (N-34)."""

    type: ClassVar[str] = "session_tree"
    new_leaf_id: str | None
    old_leaf_id: str | None
    summary_entry: BranchSummaryEntry | None = None
    from_extension: bool | None = None


class SessionBeforeBranchEvent(HookEvent, frozen=True):
    """Asked before a branch into a new file; the answer is a `SessionBeforeBranchResult` (N-71)."""

    type: ClassVar[str] = "session_before_branch"
    entry_id: str


class SessionBeforeBranchResult(Struct, frozen=True):
    """`cancel`: do not branch. `skip_conversation_restore`: the context stays what it was until the next move."""

    cancel: bool = False
    skip_conversation_restore: bool = False


class SessionBranchEvent(HookEvent, frozen=True):
    """Told after a branch. `previous_session_file` is None in memory (N-76)."""

    type: ClassVar[str] = "session_branch"
    previous_session_file: str | None


class SessionBeforeCompactEvent(HookEvent, frozen=True):
    """Asked before a compaction; the answer is a `SessionBeforeCompactResult` (K-63).

    `branch_entries`: the whole path, oldest first. `custom_instructions` is None for an automatic one.
    """

    type: ClassVar[str] = "session_before_compact"
    preparation: CompactionPreparation
    branch_entries: list[SessionEntry]
    custom_instructions: str | None
    signal: AbortSignal


class CompactionContent(Struct, frozen=True):
    """What a compaction entry holds. From a hook: in place of our own, stored as it is; without summary it is none."""

    summary: str
    first_kept_entry_id: str
    tokens_before: int | float
    details: Any = None
    short_summary: str | None = None
    preserve_data: Mapping[str, Any] | None = None


class CompactionResult(CompactionContent, frozen=True, kw_only=True):
    """A compaction that was made."""

    entry_id: str
    from_extension: bool


class SessionBeforeCompactResult(Struct, frozen=True):
    """`cancel`: do not compact."""

    cancel: bool = False
    compaction: CompactionContent | None = None


class SessionCompactingEvent(HookEvent, frozen=True):
    """Asked before a summarizer is; the answer is a `SessionCompactingResult` (K-64).

    `messages`: what will be summarized, in the file's form.
    """

    type: ClassVar[str] = "session.compacting"
    session_id: str
    messages: list[Message]


class SessionCompactingResult(Struct, frozen=True):
    """`context`: lines for the summarizer. `prompt`: in place of our instructions. `preserve_data`: stored."""

    context: Sequence[str] | None = None
    prompt: str | None = None
    preserve_data: Mapping[str, Any] | None = None


class SessionCompactEvent(HookEvent, frozen=True):
    """Told after a compaction (K-68)."""

    type: ClassVar[str] = "session_compact"
    compaction_entry: CompactionEntry
    from_extension: bool


CompactionReason = Literal["threshold", "overflow"]


class AutoCompactionStartEvent(HookEvent, frozen=True):
    """Told when the automatic check begins to compact (K-74)."""

    type: ClassVar[str] = "auto_compaction_start"
    reason: CompactionReason


class AutoCompactionEndEvent(HookEvent, frozen=True):
    """Told when that has ended, however (K-74). `will_retry`: the failed turn is worth another try."""

    type: ClassVar[str] = "auto_compaction_end"
    result: CompactionResult | None = None
    aborted: bool = False
    will_retry: bool = False
    error_message: str | None = None


class SessionAppendEvent(HookEvent, frozen=True):
    """Told of each entry that was recorded through the session, in order."""

    type: ClassVar[str] = "session_append"
    entry: SessionEntry
