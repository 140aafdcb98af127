"""Every error of the library, under one base class; each carries its data as attributes."""

from __future__ import annotations

import errno
import os
from pathlib import Path


class SessionTreeError(Exception):
    """Base of all errors that the library raises on purpose."""


class EntryNotFoundError(SessionTreeError, KeyError):
    """Raised when an id names no entry of the session (T-100). Attribute: `entry_id`."""

    def __init__(self, entry_id: str) -> None:
        super().__init__(f"Entry {entry_id} not found")
        self.entry_id = entry_id

    def __str__(self) -> str:
        return f"Entry {self.entry_id} not found"


class SessionNotFoundError(SessionTreeError, FileNotFoundError):
    """Raised when a path, an id or an id prefix names no session. Attribute: `target`."""

    def __init__(self, target: str | os.PathLike[str], detail: str = "no such session") -> None:
        super().__init__(errno.ENOENT, detail, os.fspath(target))
        self.target = os.fspath(target)

    def __str__(self) -> str:
        return f"{self.target}: {self.strerror}"


class AmbiguousSessionError(SessionTreeError, ValueError):
    """Raised when an id prefix fits more than one session. Attributes: `prefix`, `paths`."""

    def __init__(self, prefix: str, paths: list[Path]) -> None:
        names = ", ".join(path.name for path in paths[:4]) + (", …" if len(paths) > 4 else "")
        super().__init__(f"{prefix}: fits {len(paths)} sessions ({names}); give more of the id")
        self.prefix = prefix
        self.paths = paths


class NotASessionError(SessionTreeError, ValueError):
    """Raised when a file is no session or its header is damaged (F-82, F-89).

    Attributes: `path`, `line` (None where it is no matter of a line), `detail`.
    """

    def __init__(self, path: str | os.PathLike[str], line: int | None, detail: str) -> None:
        place = f"{os.fspath(path)}: line {line}" if line is not None else os.fspath(path)
        super().__init__(f"{place}: not a session file: {detail}")
        self.path = Path(path)
        self.line = line
        self.detail = detail


class UnsupportedVersionError(SessionTreeError):
    """Raised when a session of a version newer than 3 would be written (F-100). Attributes: `path`, `version`."""

    def __init__(self, path: str | os.PathLike[str], version: int) -> None:
        super().__init__(f"{os.fspath(path)}: is version {version}, newer than version 3: it can be read, not written")
        self.path = Path(path)
        self.version = version


class ReadOnlySessionError(SessionTreeError):
    """Raised when a session that was opened with `read_only=True` is written. Attribute: `path`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(f"{os.fspath(path)}: was opened read-only")
        self.path = Path(path)


class SessionClosedError(SessionTreeError):
    """Raised when a closed session, or one that belongs to another process or event loop, is used."""


class SessionLockedError(SessionTreeError):
    """Raised when another writer holds the session file. Attributes: `path`, `pid` (None if not known)."""

    def __init__(self, path: str | os.PathLike[str], pid: int | None) -> None:
        holder = f"process {pid}" if pid is not None else "another writer"
        super().__init__(f"{os.fspath(path)}: is being written by {holder}")
        self.path = Path(path)
        self.pid = pid


class ConcurrencyError(SessionTreeError):
    """Raised when an append expected another version of the log, or another leaf. Nothing was written.

    Attributes: `expected`, `actual`.
    """

    def __init__(self, expected: int | str | None, actual: int | str | None) -> None:
        super().__init__(f"expected {expected!r}, found {actual!r}; nothing was written")
        self.expected = expected
        self.actual = actual


class SessionRewrittenError(SessionTreeError):
    """Raised when the file is not the one that was read: another program rewrote it. Nothing was written.

    Attributes: `path`, `detail`.
    """

    def __init__(self, path: str | os.PathLike[str], detail: str) -> None:
        super().__init__(f"{os.fspath(path)}: {detail}; nothing was written: open it again")
        self.path = Path(path)
        self.detail = detail


class IndexDamagedError(SessionRewrittenError):
    """Raised when the index of a session is not as it was written; it was removed. Attributes: `path`, `detail`.

    Only what answers at once raises it; what can wait, `refresh()` too, loads the session anew and goes on.
    """


class AppendError(SessionTreeError, OSError):
    """Raised when entries could not be recorded. Attributes: `path`, `outcome`, `recorded`.

    `outcome` is `"not-written"`, or `"unknown"` after a failed sync: then the entries may or may not
    survive a crash, nothing was acknowledged, and the session must be opened again.
    `recorded`: how many entries of the batch, from its start, are on the disk all the same.
    """

    def __init__(
        self, path: str | os.PathLike[str], cause: OSError, *, outcome: str = "not-written", recorded: int = 0
    ):
        super().__init__(cause.errno, cause.strerror or str(cause), os.fspath(path))
        self.path = Path(path)
        self.outcome = outcome
        self.recorded = recorded

    def __str__(self) -> str:
        state = "whether it is on the disk is unknown" if self.outcome == "unknown" else "nothing more was written"
        return f"{self.path}: {self.strerror}; {state}"


class InvalidEntryError(SessionTreeError, ValueError):
    """Raised when a command is given something that cannot be recorded. Nothing was written."""


class EntryConflictError(SessionTreeError, ValueError):
    """Raised when `entry_id=` names an entry of other content. Attribute: `entry_id`."""

    def __init__(self, entry_id: str) -> None:
        super().__init__(f"Entry {entry_id} exists with other content")
        self.entry_id = entry_id


class SessionFileError(SessionTreeError, OSError):
    """Raised when the system refuses to read a session file or directory. Attribute: `path`; the cause is kept."""

    def __init__(self, path: str | os.PathLike[str], cause: OSError) -> None:
        super().__init__(cause.errno, cause.strerror or str(cause), os.fspath(path))
        self.path = Path(path)

    def __str__(self) -> str:
        return f"{self.path}: {self.strerror}"


class AbortError(SessionTreeError):
    """Raised when a signal was aborted before the work was done. Attribute: `reason`, as given to `abort()`.

    An `Exception`, never a `CancelledError`. A reason that is an exception is its cause too.
    """

    def __init__(self, reason: object = None) -> None:
        super().__init__("aborted" if reason is None else f"aborted: {str(reason) or repr(reason)}")
        self.reason = reason
        if isinstance(reason, BaseException):
            self.__cause__ = reason


class LeafMovedError(ConcurrencyError):
    """Raised when the leaf has moved while a navigation or compaction was prepared. Nothing was written.

    Attributes: `expected`, `actual`, the leaf before and now.
    """

    def __str__(self) -> str:
        return f"the leaf has moved from {self.expected} to {self.actual} meanwhile; nothing was written"


class SessionBusyError(SessionTreeError):
    """Raised when a session is navigated, branched or compacted while another of these runs.

    Attributes: `path`, `operation` (the one that runs).
    """

    def __init__(self, path: str | os.PathLike[str], operation: str) -> None:
        super().__init__(f"{os.fspath(path)}: {operation} is running; try again when it has ended")
        self.path = Path(path)
        self.operation = operation


class NotAUserMessageError(SessionTreeError, ValueError):
    """Raised when a session is branched at an entry that is no user message (N-70). Attribute: `entry_id`."""

    def __init__(self, entry_id: str) -> None:
        super().__init__(f"Entry {entry_id} is not a user message: a session is branched at one")
        self.entry_id = entry_id


class NoSummarizerError(SessionTreeError):
    """Raised when a summary is asked for and no summarizer is set, or can be made (N-04, K-61)."""

    def __init__(self, detail: str = "no summarizer is set: a summary needs one") -> None:
        super().__init__(detail)


class SummaryError(SessionTreeError):
    """Raised when a summarizer failed, or its summary is empty or cut. Nothing was written (N-6B, K-55).

    Attribute: `detail`; what the summarizer raised is the cause.
    """

    def __init__(self, detail: str) -> None:
        super().__init__(f"summarization failed: {detail}")
        self.detail = detail


class NothingToCompactError(SessionTreeError):
    """Raised when there is nothing to compact: already compacted, or too small (K-62)."""


class CompactionCancelledError(AbortError):
    """Raised when a compaction was aborted, or cancelled by a hook (K-63, K-66). Nothing was written.

    Attributes: `reason`, and `aborted`, false when a hook cancelled it.
    """

    def __init__(self, reason: object = None, *, aborted: bool) -> None:
        super().__init__(reason)
        self.aborted = aborted

    def __str__(self) -> str:
        return "Compaction cancelled" if not self.aborted else f"Compaction cancelled: {super().__str__()}"
