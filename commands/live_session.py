"""One session of a service: held while it is in use, afterwards only as long as somebody else holds it."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Callable

from .session_events import SessionEvent
from .session_manager import SessionManager


class LiveSession:
    """Follows a session from file to file. `file` is the one that it is in, resolved (design D5)."""

    def __init__(self, session: SessionManager, tell: Callable[[LiveSession, SessionEvent], None]) -> None:
        self._session = weakref.ref(session)
        self._held: SessionManager | None = session
        self._used_at = 0.0
        self._tell = tell
        # The log outlives a session that nobody closed: it is what has to be closed then.
        self.log = session._log
        self.file = os.path.realpath(str(session.session_file))
        self._hold()
        session._log.observers.add(self)

    def _hold(self) -> None:
        self._used_at = asyncio.get_running_loop().time()
        self._held = self._session()

    def take(self) -> SessionManager | None:
        """Return the session and hold it; None when it is being closed, or nobody held it any more."""
        if self.log.is_closing:
            return None
        self._hold()
        return self._held

    def let_go(self, idle_since: float) -> bool:
        """Hold the session no longer when it was not used since; tell whether nobody holds it now."""
        if self._used_at <= idle_since:
            self._held = None
        return self._session() is None

    def arrival(self, file: str) -> asyncio.Future[None] | None:
        """Return what is done when the session has gone to a file, None where it is not on its way there."""
        session = self._session()
        return session._arrival(file) if session is not None else None

    def follow(self) -> None:
        """Note the file and the log that the session goes on in."""
        session = self._session()
        if session is not None:
            self.log = session._log
            self.file = os.path.realpath(str(session.session_file))

    def on_session_event(self, event: SessionEvent) -> None:
        """Pass on what happens; see `SessionObserver`."""
        self._hold()
        self._tell(self, event)
