"""sessiontree: event-sourced, asynchronous session trees for agent runtimes.

Sessions are the JSONL files of pi and oh-my-pi (version 3). Start with `SessionManager`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    import fcntl as _fcntl  # noqa: F401 - the locks of session files
except ImportError as _error:
    raise ImportError("sessiontree needs a POSIX system: its sessions are locked with flock") from _error

if TYPE_CHECKING:
    from .commands.agent_session import AgentSession
    from .commands.auto_compaction import AutoCompactionResult
    from .commands.branching import BranchResult, UserMessage
    from .commands.cursor import Cursor
    from .commands.event_stream import EventStream
    from .commands.extension_context import CommandResult, ExtensionCommandContext
    from .commands.hook_events import (
        AutoCompactionEndEvent,
        AutoCompactionStartEvent,
        CompactionContent,
        CompactionResult,
        SessionAppendEvent,
        SessionBeforeBranchEvent,
        SessionBeforeBranchResult,
        SessionBeforeCompactEvent,
        SessionBeforeCompactResult,
        SessionBeforeTreeEvent,
        SessionBeforeTreeResult,
        SessionBranchEvent,
        SessionCompactEvent,
        SessionCompactingEvent,
        SessionCompactingResult,
        SessionTreeEvent,
        SuppliedSummary,
        TreePreparation,
    )
    from .commands.hooks import HookFault, Hooks
    from .commands.navigation import CollectedEntries, NavigateResult, collect_entries_for_branch_summary
    from .commands.session_events import (
        EntriesAppended,
        LeafMoved,
        SessionClosed,
        SessionEvent,
        SessionOpened,
        SessionSwitched,
    )
    from .commands.session_manager import SessionManager
    from .commands.session_opening import SessionOptions
    from .commands.session_service import SessionService
    from .commands.summaries.anthropic_summarizer import AnthropicSummarizer
    from .commands.summaries.compaction_preparation import CompactionPreparation
    from .commands.summaries.digest import DigestSummarizer
    from .commands.summaries.file_operations import FileOperations
    from .commands.summaries.openai_summarizer import OpenAISummarizer
    from .commands.summaries.prompts import Prompts
    from .commands.summaries.settings import AgentSettings, BranchSummarySettings, CompactionSettings, Model
    from .commands.summaries.summarizer import Summarizer, SummaryRequest, SummaryResult
    from .commands.summaries.token_estimate import estimate_tokens
    from .eventstore.abort import AbortController, AbortSignal
    from .eventstore.catalogue import SessionInfo, find_session
    from .eventstore.entries import SessionEntry
    from .eventstore.errors import (
        AbortError,
        AmbiguousSessionError,
        AppendError,
        CompactionCancelledError,
        ConcurrencyError,
        EntryConflictError,
        EntryNotFoundError,
        IndexDamagedError,
        InvalidEntryError,
        LeafMovedError,
        NoSummarizerError,
        NotASessionError,
        NotAUserMessageError,
        NothingToCompactError,
        ReadOnlySessionError,
        SessionBusyError,
        SessionClosedError,
        SessionFileError,
        SessionLockedError,
        SessionNotFoundError,
        SessionRewrittenError,
        SessionTreeError,
        SummaryError,
        UnsupportedVersionError,
    )
    from .eventstore.header import SessionHeader
    from .eventstore.report import Fault, Report
    from .projections.abandoned_path import AbandonedPath
    from .projections.anthropic_messages import AnthropicRequest, to_anthropic_messages
    from .projections.context import SessionContext, build_session_context
    from .projections.listing import list_sessions
    from .projections.llm_messages import convert_to_llm
    from .projections.openai_messages import to_openai_messages
    from .projections.search import SearchHit
    from .projections.searched_text import searched_text
    from .projections.session_shape import SessionShape
    from .projections.session_tree import SessionShapeNode, SessionTreeNode
    from .projections.usage import Usage

__version__ = "0.1.0"

__all__ = [
    "AbandonedPath",
    "AbortController",
    "AbortError",
    "AbortSignal",
    "AgentSession",
    "AgentSettings",
    "AmbiguousSessionError",
    "AnthropicRequest",
    "AnthropicSummarizer",
    "AppendError",
    "AutoCompactionEndEvent",
    "AutoCompactionResult",
    "AutoCompactionStartEvent",
    "BranchResult",
    "BranchSummarySettings",
    "CollectedEntries",
    "CommandResult",
    "CompactionCancelledError",
    "CompactionContent",
    "CompactionPreparation",
    "CompactionResult",
    "CompactionSettings",
    "ConcurrencyError",
    "Cursor",
    "DigestSummarizer",
    "EntriesAppended",
    "EntryConflictError",
    "EntryNotFoundError",
    "EventStream",
    "ExtensionCommandContext",
    "Fault",
    "FileOperations",
    "HookFault",
    "Hooks",
    "IndexDamagedError",
    "InvalidEntryError",
    "LeafMoved",
    "LeafMovedError",
    "Model",
    "NavigateResult",
    "NoSummarizerError",
    "NotASessionError",
    "NotAUserMessageError",
    "NothingToCompactError",
    "OpenAISummarizer",
    "Prompts",
    "ReadOnlySessionError",
    "Report",
    "SearchHit",
    "SessionAppendEvent",
    "SessionBeforeBranchEvent",
    "SessionBeforeBranchResult",
    "SessionBeforeCompactEvent",
    "SessionBeforeCompactResult",
    "SessionBeforeTreeEvent",
    "SessionBeforeTreeResult",
    "SessionBranchEvent",
    "SessionBusyError",
    "SessionClosed",
    "SessionClosedError",
    "SessionCompactEvent",
    "SessionCompactingEvent",
    "SessionCompactingResult",
    "SessionContext",
    "SessionEntry",
    "SessionEvent",
    "SessionFileError",
    "SessionHeader",
    "SessionInfo",
    "SessionLockedError",
    "SessionManager",
    "SessionNotFoundError",
    "SessionOpened",
    "SessionOptions",
    "SessionRewrittenError",
    "SessionService",
    "SessionShape",
    "SessionShapeNode",
    "SessionSwitched",
    "SessionTreeError",
    "SessionTreeEvent",
    "SessionTreeNode",
    "Summarizer",
    "SummaryError",
    "SummaryRequest",
    "SummaryResult",
    "SuppliedSummary",
    "TreePreparation",
    "UnsupportedVersionError",
    "Usage",
    "UserMessage",
    "build_session_context",
    "collect_entries_for_branch_summary",
    "convert_to_llm",
    "estimate_tokens",
    "find_session",
    "list_sessions",
    "searched_text",
    "to_anthropic_messages",
    "to_openai_messages",
]

_HOMES = {
    ".commands.agent_session": ("AgentSession",),
    ".commands.auto_compaction": ("AutoCompactionResult",),
    ".commands.branching": (
        "BranchResult",
        "UserMessage",
    ),
    ".commands.cursor": ("Cursor",),
    ".commands.event_stream": ("EventStream",),
    ".commands.extension_context": (
        "CommandResult",
        "ExtensionCommandContext",
    ),
    ".commands.hook_events": (
        "AutoCompactionEndEvent",
        "AutoCompactionStartEvent",
        "CompactionContent",
        "CompactionResult",
        "SessionAppendEvent",
        "SessionBeforeBranchEvent",
        "SessionBeforeBranchResult",
        "SessionBeforeCompactEvent",
        "SessionBeforeCompactResult",
        "SessionBeforeTreeEvent",
        "SessionBeforeTreeResult",
        "SessionBranchEvent",
        "SessionCompactEvent",
        "SessionCompactingEvent",
        "SessionCompactingResult",
        "SessionTreeEvent",
        "SuppliedSummary",
        "TreePreparation",
    ),
    ".commands.hooks": (
        "HookFault",
        "Hooks",
    ),
    ".commands.navigation": (
        "CollectedEntries",
        "NavigateResult",
        "collect_entries_for_branch_summary",
    ),
    ".commands.session_events": (
        "EntriesAppended",
        "LeafMoved",
        "SessionClosed",
        "SessionEvent",
        "SessionOpened",
        "SessionSwitched",
    ),
    ".commands.session_manager": ("SessionManager",),
    ".commands.session_opening": ("SessionOptions",),
    ".commands.session_service": ("SessionService",),
    ".commands.summaries.anthropic_summarizer": ("AnthropicSummarizer",),
    ".commands.summaries.compaction_preparation": ("CompactionPreparation",),
    ".commands.summaries.digest": ("DigestSummarizer",),
    ".commands.summaries.file_operations": ("FileOperations",),
    ".commands.summaries.openai_summarizer": ("OpenAISummarizer",),
    ".commands.summaries.prompts": ("Prompts",),
    ".commands.summaries.settings": (
        "AgentSettings",
        "BranchSummarySettings",
        "CompactionSettings",
        "Model",
    ),
    ".commands.summaries.summarizer": (
        "Summarizer",
        "SummaryRequest",
        "SummaryResult",
    ),
    ".commands.summaries.token_estimate": ("estimate_tokens",),
    ".eventstore.abort": (
        "AbortController",
        "AbortSignal",
    ),
    ".eventstore.catalogue": (
        "SessionInfo",
        "find_session",
    ),
    ".eventstore.entries": ("SessionEntry",),
    ".eventstore.errors": (
        "AbortError",
        "AmbiguousSessionError",
        "AppendError",
        "CompactionCancelledError",
        "ConcurrencyError",
        "EntryConflictError",
        "EntryNotFoundError",
        "IndexDamagedError",
        "InvalidEntryError",
        "LeafMovedError",
        "NoSummarizerError",
        "NotASessionError",
        "NotAUserMessageError",
        "NothingToCompactError",
        "ReadOnlySessionError",
        "SessionBusyError",
        "SessionClosedError",
        "SessionFileError",
        "SessionLockedError",
        "SessionNotFoundError",
        "SessionRewrittenError",
        "SessionTreeError",
        "SummaryError",
        "UnsupportedVersionError",
    ),
    ".eventstore.header": ("SessionHeader",),
    ".eventstore.report": (
        "Fault",
        "Report",
    ),
    ".projections.abandoned_path": ("AbandonedPath",),
    ".projections.anthropic_messages": (
        "AnthropicRequest",
        "to_anthropic_messages",
    ),
    ".projections.context": (
        "SessionContext",
        "build_session_context",
    ),
    ".projections.listing": ("list_sessions",),
    ".projections.llm_messages": ("convert_to_llm",),
    ".projections.openai_messages": ("to_openai_messages",),
    ".projections.search": ("SearchHit",),
    ".projections.searched_text": ("searched_text",),
    ".projections.session_shape": ("SessionShape",),
    ".projections.session_tree": ("SessionShapeNode", "SessionTreeNode"),
    ".projections.usage": ("Usage",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

if not TYPE_CHECKING:  # else every name would seem to be there

    def __getattr__(name: str) -> Any:
        """Import what is asked for: all of it takes longer than `--help` may."""
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOME_OF[name], __name__), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
