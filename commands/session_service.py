"""The sessions of one process: each file open once, however many ask for it, and closed when nobody uses it."""

from __future__ import annotations

import asyncio
import os
import weakref
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from ..eventstore.abort import AbortSignal
from ..eventstore.catalogue import find_session, most_recent
from ..eventstore.directories import PathLike
from ..eventstore.errors import SessionClosedError, SessionTreeError
from ..eventstore.log import log_event
from .event_stream import EventStream
from .live_session import LiveSession
from .session_events import SessionClosed, SessionEvent, SessionOpened, SessionSwitched
from .session_log import SessionLog
from .session_manager import SessionManager
from .session_opening import SessionOptions

IDLE_SECONDS = 300.0
_SHORTEST_SWEEP = 0.01


class SessionService:
    """Holds the live sessions of a runtime; one for a file, wherever it is opened from.

    A session that nobody else holds is closed when it was not used for `idle_seconds`; one that somebody holds
    never is. A session that a branch or a fork takes to another file is found under that one, and opening its
    old file gives a new session. `options`: how sessions are opened, as of `SessionOptions`.
    """

    def __init__(
        self,
        sessions_dir: PathLike | None = None,
        *,
        idle_seconds: float = IDLE_SECONDS,
        **options: Unpack[SessionOptions],
    ) -> None:
        self._sessions_dir = sessions_dir
        self._idle_seconds = idle_seconds
        self._options = options
        self._live: dict[str, LiveSession] = {}
        self._opening: dict[str, asyncio.Task[SessionManager]] = {}
        self._closing: dict[str, asyncio.Task[None]] = {}
        self._streams: weakref.WeakSet[EventStream] = weakref.WeakSet()
        self._sweep: asyncio.TimerHandle | None = None
        self._shutdown: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self, target: PathLike, *, signal: AbortSignal | None = None) -> SessionManager:
        """Return the live session of a path, a session id or the beginning of one, opened if it is not.

        Raises what `SessionManager.open` raises, `AmbiguousSessionError`, and `SessionClosedError` after `close`.
        """
        self._check_open()
        if signal is not None:
            signal.raise_if_aborted()
        session = self._by_file(os.fspath(target)) or self._by_id(os.fspath(target))
        if session is not None:
            return session
        path = await find_session(target, self._sessions_dir, signal=signal)
        return await self._open(path, signal)

    async def create(self, *, cwd: PathLike | None = None) -> SessionManager:
        """Make a new session of a working directory; its file appears with the first append."""
        self._check_open()
        return self._keep(await SessionManager.create(cwd=cwd, sessions_dir=self._sessions_dir, **self._options))

    async def continue_recent(self, cwd: PathLike, *, signal: AbortSignal | None = None) -> SessionManager:
        """Return the live session of a working directory with the newest activity, or a new one (F-92)."""
        self._check_open()
        path = await most_recent(self._sessions_dir, cwd, signal=signal)
        return await self._open(path, signal) if path is not None else await self.create(cwd=cwd)

    def events(self, *, signal: AbortSignal | None = None) -> EventStream:
        """Return what happens in all sessions from now on, to be read with `async for`; it ends with `close`."""
        self._check_open()
        stream = EventStream(signal)
        self._streams.add(stream)
        return stream

    async def close(self) -> None:
        """Refuse new work, and close every session with all that was handed over recorded.

        Cancelled, it goes on in the background; a second call awaits the first.
        """
        if self._shutdown is None:
            self._shutdown = asyncio.get_running_loop().create_task(self._shut_down())
        await asyncio.shield(self._shutdown)

    def _check_open(self) -> None:
        if self._shutdown is not None:
            raise SessionClosedError("the session service is closed")

    def _by_file(self, path: str) -> SessionManager | None:
        live = self._live.get(os.path.realpath(path)) if "\0" not in path else None
        return self._taken(live) if live is not None else None

    def _by_id(self, session_id: str) -> SessionManager | None:
        live = next((live for live in self._live.values() if live.log.store.header.id == session_id), None)
        return self._taken(live) if live is not None else None

    def _taken(self, live: LiveSession) -> SessionManager | None:
        """Return a live session; None for one that is being closed, or that nobody held any more."""
        session = live.take()
        if session is None:
            self._close_later(live, live.file, live.log)
        return session

    async def _open(self, path: Path, signal: AbortSignal | None) -> SessionManager:
        """Open a file; who asks for it meanwhile gets the same session, and nobody's cancellation harms another."""
        self._check_open()
        file = os.path.realpath(path)
        task = self._opening.get(file)
        if task is None:
            task = self._opening[file] = asyncio.get_running_loop().create_task(self._opened(path, file))
            task.add_done_callback(_mark_seen)
        waiting = asyncio.shield(task)
        return await (waiting if signal is None else signal.run(waiting))

    async def _opened(self, path: Path, file: str) -> SessionManager:
        try:
            while (session := self._by_file(file)) is None and (before := self._what_comes_before(file)) is not None:
                await asyncio.wait((before,))
            return session or self._keep(await SessionManager.open(path, **self._options))
        finally:
            del self._opening[file]

    def _what_comes_before(self, file: str) -> asyncio.Future[None] | None:
        """Return what has to end before a file is opened: the closing of a log, the arrival of a session."""
        arrivals = (live.arrival(file) for live in self._live.values())
        return self._closing.get(file) or next(filter(None, arrivals), None)

    def _keep(self, session: SessionManager) -> SessionManager:
        live = LiveSession(session, self._happened)
        self._live[live.file] = live
        self._push(SessionOpened(*live.log.identity))
        self._sweep_later()
        return session

    def _happened(self, live: LiveSession, event: SessionEvent) -> None:
        """Find a session under the file that it goes on in, forget one that is closed, and tell the readers."""
        if isinstance(event, SessionSwitched):
            old_file, old_log = live.file, live.log
            live.follow()
            self._close_later(live, old_file, old_log)
            self._live[live.file] = live
        elif isinstance(event, SessionClosed) and event.session_id == live.log.store.header.id:
            self._forget(live, live.file)
        self._push(event)

    def _push(self, event: SessionEvent) -> None:
        for stream in list(self._streams):
            stream.push(event)

    def _forget(self, live: LiveSession, file: str) -> None:
        if self._live.get(file) is live:
            del self._live[file]

    def _sweep_later(self) -> None:
        if self._sweep is None and self._live and self._shutdown is None:
            self._sweep = asyncio.get_running_loop().call_later(
                max(self._idle_seconds / 2, _SHORTEST_SWEEP), self._close_idle
            )

    def _close_idle(self) -> None:
        self._sweep = None
        idle_since = asyncio.get_running_loop().time() - self._idle_seconds
        for live in list(self._live.values()):
            if live.let_go(idle_since):
                self._close_later(live, live.file, live.log)
        self._sweep_later()

    def _close_later(self, live: LiveSession, file: str, log: SessionLog) -> None:
        """Close a log, after those that are being closed in that file; `live` hears of it to the end."""
        self._forget(live, file)
        before = self._closing.get(file)

        async def close() -> None:
            try:
                if before is not None:
                    await asyncio.wait((before,))
                await log.close()
            except SessionTreeError as error:
                log_event("error", "session.close_failed", session=log.name, error=str(error))
                raise
            finally:
                live.follow()  # keeps it until here
                if self._closing.get(file) is task:
                    del self._closing[file]

        task = self._closing[file] = asyncio.get_running_loop().create_task(close())
        task.add_done_callback(_mark_seen)

    async def _shut_down(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
        if self._opening:
            await asyncio.wait(self._opening.values())
        for live in list(self._live.values()):
            self._close_later(live, live.file, live.log)
        failures: list[BaseException] = []
        while self._closing:
            ended = await asyncio.gather(*self._closing.values(), return_exceptions=True)
            failures += [failure for failure in ended if isinstance(failure, BaseException)]
        for stream in list(self._streams):
            stream.end()
        if failures:
            raise failures[0]


def _mark_seen(task: asyncio.Task[Any]) -> None:
    """Mark a task's error as seen: who waits for the task raises it, and asyncio is not to report it again."""
    if not task.cancelled():
        task.exception()
