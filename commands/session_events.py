"""What happens in a session, told to whoever observes it, in the order in which it happens."""

from __future__ import annotations

import weakref
from typing import Protocol

from msgspec import Struct

from ..eventstore.entries import SessionEntry, decode_entry


class SessionEvent(Struct, frozen=True):
    """Base of what happens in a session. `session_file` is None in memory."""

    session_id: str
    session_file: str | None


class SessionOpened(SessionEvent, frozen=True):
    """A service has opened or made the session."""


class EntriesAppended(SessionEvent, frozen=True, kw_only=True):
    """Entries were recorded through this session, by whichever cursor; as durable as the session makes them.

    `lines`: what was written, without newlines.
    """

    entry_ids: list[str]
    lines: list[bytes]

    @property
    def entries(self) -> list[SessionEntry]:
        """The entries, decoded now."""
        return [decode_entry(line) for line in self.lines]


class LeafMoved(SessionEvent, frozen=True, kw_only=True):
    """The session's own leaf was moved, by a bare move or a navigation; what appends do to it is not told."""

    old_leaf_id: str | None
    new_leaf_id: str | None


class SessionSwitched(SessionEvent, frozen=True, kw_only=True):
    """The session went on in another file, which `session_file` names: by a fork, a branch, or as a new one."""

    previous_session_file: str | None


class SessionClosed(SessionEvent, frozen=True):
    """The session was closed, everything handed over recorded."""


class SessionObserver(Protocol):
    """Hears what happens in a session. Held weakly."""

    def on_session_event(self, event: SessionEvent) -> None:
        """Take note; called between two steps of a command, so it must neither fail nor wait."""


class Observers:
    """Those who observe one session, in whichever file it goes on."""

    def __init__(self) -> None:
        self._observers: weakref.WeakSet[SessionObserver] = weakref.WeakSet()

    def __bool__(self) -> bool:
        return bool(self._observers)

    def add(self, observer: SessionObserver) -> None:
        """Tell an observer what happens from now on."""
        self._observers.add(observer)

    def tell(self, event: SessionEvent) -> None:
        """Tell everybody."""
        for observer in list(self._observers):
            observer.on_session_event(event)
