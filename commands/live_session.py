"""One session of a service: held while it is in use, afterwards only as long as somebody else holds it."""

from __future__ import annotations

import asyncio
import os
import weakref
from typing import Protocol

from .session_events import SessionClosed, SessionEvent, SessionSwitched
from .session_manager import SessionManager


class LiveSessions(Protocol):
    """The service, as far as its sessions know it."""

    def moved(self, live: LiveSession, old_file: str) -> None:
        """The session goes on in the file that `live` names now."""

    def gone(self, live: LiveSession) -> None:
        """The session was closed."""

    def happened(self, event: SessionEvent) -> None:
        """Something happened in the session."""


class LiveSession:
    """Follows a session from file to file. `file` is the one that it is in, resolved (design D5)."""

    def __init__(self, service: LiveSessions, session: SessionManager) -> None:
        self._service = service
        self._session = weakref.ref(session)
        self._held: SessionManager | None = session
        self._used_at = 0.0
        # The log outlives a session that nobody closed: it is what has to be closed then.
        self.log = session._log
        self.file = os.path.realpath(str(session.session_file))
        self.take()
        session._log.observers.add(self)

    def take(self) -> SessionManager | None:
        """Return the session and hold it; None when nobody held it any more."""
        self._used_at = asyncio.get_running_loop().time()
        self._held = self._session()
        return self._held

    def let_go(self, idle_since: float) -> bool:
        """Hold the session no longer when it was not used since; tell whether nobody holds it now."""
        if self._used_at <= idle_since:
            self._held = None
        return self._session() is None

    def on_session_event(self, event: SessionEvent) -> None:
        """Follow the session, and pass on what happens; see `SessionObserver`."""
        session = self.take()
        if isinstance(event, SessionSwitched) and session is not None:
            self.log = session._log
            old_file, self.file = self.file, os.path.realpath(str(event.session_file))
            self._service.moved(self, old_file)
        elif isinstance(event, SessionClosed) and os.path.realpath(str(event.session_file)) == self.file:
            self._service.gone(self)
        self._service.happened(event)
