"""The errors: one base, what they carry, what they say."""

from __future__ import annotations

import errno
import inspect
from pathlib import Path

import pytest

from sessiontree.eventstore import errors
from sessiontree.eventstore.errors import SessionTreeError

PATH = "/sessions/s.jsonl"
CLASSES = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, Exception)]
FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_has_the_base_and_says_when_it_is_raised(kind: type[Exception]) -> None:
    """D14"""
    assert issubclass(kind, SessionTreeError)
    doc = inspect.getdoc(kind) or ""
    assert kind is SessionTreeError or doc.startswith("Raised when")


@pytest.mark.parametrize(
    ("error", "builtin", "message", "attributes"),
    [
        (errors.EntryNotFoundError("a1"), KeyError, "Entry a1 not found", {"entry_id": "a1"}),
        (
            errors.SessionNotFoundError("x", "no such file"),
            FileNotFoundError,
            "x: no such file",
            {"target": "x", "errno": errno.ENOENT},
        ),
        (
            errors.NotASessionError(PATH, 3, "why"),
            ValueError,
            f"{PATH}: line 3: not a session file: why",
            {"path": Path(PATH), "line": 3},
        ),
        (errors.UnsupportedVersionError(PATH, 4), Exception, f"{PATH}: is version 4, newer", {"version": 4}),
        (errors.ReadOnlySessionError(PATH), Exception, f"{PATH}: was opened read-only", {"path": Path(PATH)}),
        (errors.SessionLockedError(PATH, 7), Exception, f"{PATH}: is being written by process 7", {"pid": 7}),
        (
            errors.SessionLockedError(PATH, None),
            Exception,
            f"{PATH}: is being written by another writer",
            {"pid": None},
        ),
        (
            errors.ConcurrencyError(1, 2),
            Exception,
            "expected 1, found 2; nothing was written",
            {"expected": 1, "actual": 2},
        ),
        (errors.ConcurrencyError(None, "a"), Exception, "expected None, found 'a'", {"expected": None, "actual": "a"}),
        (
            errors.SessionRewrittenError(PATH, "was cut"),
            Exception,
            f"{PATH}: was cut; nothing was written",
            {"path": Path(PATH)},
        ),
        (
            errors.AppendError(PATH, FULL),
            OSError,
            f"{PATH}: No space left on device; nothing more was written",
            {"outcome": "not-written", "recorded": 0, "errno": errno.ENOSPC},
        ),
        (
            errors.AppendError(PATH, OSError("odd"), outcome="unknown", recorded=2),
            OSError,
            f"{PATH}: odd; whether it is on the disk is unknown",
            {"recorded": 2},
        ),
        (errors.InvalidEntryError("why"), ValueError, "why", {}),
        (errors.EntryConflictError("a1"), ValueError, "Entry a1 exists with other content", {"entry_id": "a1"}),
        (
            errors.SessionFileError(PATH, FULL),
            OSError,
            f"{PATH}: No space left on device",
            {"path": Path(PATH), "errno": errno.ENOSPC},
        ),
        (errors.SessionClosedError("closed"), Exception, "closed", {}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_an_error_is_the_builtin_of_its_meaning_and_carries_its_data(
    error: SessionTreeError, builtin: type[Exception], message: str, attributes: dict[str, object]
) -> None:
    """D14, X-13, X-38"""
    assert isinstance(error, builtin)
    assert str(error).startswith(message)
    assert "\n" not in str(error)
    assert {name: getattr(error, name) for name in attributes} == attributes


def test_an_ambiguous_name_lists_some_of_what_it_fits() -> None:
    """D14"""
    paths = [Path(f"/s/{number}.jsonl") for number in range(6)]
    error = errors.AmbiguousSessionError("01", paths)
    assert isinstance(error, ValueError)
    assert (error.prefix, error.paths) == ("01", paths)
    assert str(error).startswith("01: fits 6 sessions (0.jsonl, 1.jsonl, 2.jsonl, 3.jsonl, …)")
