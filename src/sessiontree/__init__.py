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
    from .commands.cursor import Cursor
    from .commands.session_manager import SessionManager
    from .commands.session_opening import SessionOptions
    from .eventstore.abort import AbortController, AbortSignal
    from .eventstore.catalogue import SessionInfo, find_session
    from .eventstore.entries import SessionEntry
    from .eventstore.errors import (
        AbortError,
        AmbiguousSessionError,
        AppendError,
        ConcurrencyError,
        EntryConflictError,
        EntryNotFoundError,
        InvalidEntryError,
        NotASessionError,
        ReadOnlySessionError,
        SessionClosedError,
        SessionFileError,
        SessionLockedError,
        SessionNotFoundError,
        SessionRewrittenError,
        SessionTreeError,
        UnsupportedVersionError,
    )
    from .eventstore.header import SessionHeader
    from .eventstore.report import Fault, Report
    from .projections.anthropic_messages import AnthropicRequest, to_anthropic_messages
    from .projections.context import SessionContext, build_session_context
    from .projections.listing import list_sessions
    from .projections.llm_messages import convert_to_llm
    from .projections.openai_messages import to_openai_messages
    from .projections.session_tree import SessionTreeNode
    from .projections.usage import Usage

__version__ = "0.1.0"

__all__ = [
    "AbortController",
    "AbortError",
    "AbortSignal",
    "AmbiguousSessionError",
    "AnthropicRequest",
    "AppendError",
    "ConcurrencyError",
    "Cursor",
    "EntryConflictError",
    "EntryNotFoundError",
    "Fault",
    "InvalidEntryError",
    "NotASessionError",
    "ReadOnlySessionError",
    "Report",
    "SessionClosedError",
    "SessionContext",
    "SessionEntry",
    "SessionFileError",
    "SessionHeader",
    "SessionInfo",
    "SessionLockedError",
    "SessionManager",
    "SessionNotFoundError",
    "SessionOptions",
    "SessionRewrittenError",
    "SessionShape",
    "SessionTreeError",
    "SessionTreeNode",
    "UnsupportedVersionError",
    "Usage",
    "build_session_context",
    "convert_to_llm",
    "find_session",
    "list_sessions",
    "to_anthropic_messages",
    "to_openai_messages",
]

_HOMES = {
    ".commands.cursor": ("Cursor",),
    ".commands.session_manager": ("SessionManager",),
    ".commands.session_view": ("SessionShape",),
    ".commands.session_opening": ("SessionOptions",),
    ".eventstore.abort": ("AbortController", "AbortSignal"),
    ".eventstore.catalogue": ("SessionInfo", "find_session"),
    ".eventstore.entries": ("SessionEntry",),
    ".eventstore.errors": (
        "AbortError",
        "AmbiguousSessionError",
        "AppendError",
        "ConcurrencyError",
        "EntryConflictError",
        "EntryNotFoundError",
        "InvalidEntryError",
        "NotASessionError",
        "ReadOnlySessionError",
        "SessionClosedError",
        "SessionFileError",
        "SessionLockedError",
        "SessionNotFoundError",
        "SessionRewrittenError",
        "SessionTreeError",
        "UnsupportedVersionError",
    ),
    ".eventstore.header": ("SessionHeader",),
    ".eventstore.report": ("Fault", "Report"),
    ".projections.anthropic_messages": ("AnthropicRequest", "to_anthropic_messages"),
    ".projections.context": ("SessionContext", "build_session_context"),
    ".projections.listing": ("list_sessions",),
    ".projections.llm_messages": ("convert_to_llm",),
    ".projections.openai_messages": ("to_openai_messages",),
    ".projections.session_tree": ("SessionTreeNode",),
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
