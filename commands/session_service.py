"""The sessions of one process: each file open once, however many ask for it, and closed when nobody uses it."""

from __future__ import annotations

import asyncio
import os
import weakref
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from ..eventstore.abort import AbortSignal
from ..eventstore.catalogue import find_session, most_recent
from ..eventstore.directories import PathLike
from ..eventstore.errors import SessionClosedError
from .event_stream import EventStream
from .live_session import LiveSession
from .session_events import SessionEvent, SessionOpened
from .session_manager import SessionManager
from .session_opening import SessionOptions

IDLE_SECONDS = 300.0


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
        live = self._live.get(os.path.realpath(path))
        return live.take() if live is not None else None

    def _by_id(self, session_id: str) -> SessionManager | None:
        found = (live for live in self._live.values() if live.log.store.header.id == session_id)
        live = next(found, None)
        return live.take() if live is not None else None

    async def _open(self, path: Path, signal: AbortSignal | None) -> SessionManager:
        """Open a file; who asks for it meanwhile gets the same session, and nobody's cancellation harms another."""
        self._check_open()
        key = os.path.realpath(path)
        task = self._opening.get(key)
        if task is None:
            task = self._opening[key] = asyncio.get_running_loop().create_task(self._opened(path, key))

            def forget(done: asyncio.Task[SessionManager]) -> None:
                del self._opening[key]
                if not done.cancelled():
                    done.exception()  # whoever asked may be gone

            task.add_done_callback(forget)
        waiting = asyncio.shield(task)
        return await (waiting if signal is None else signal.run(waiting))

    async def _opened(self, path: Path, key: str) -> SessionManager:
        if (closing := self._closing.get(key)) is not None:
            await asyncio.wait((closing,))
        return self._by_file(key) or self._keep(await SessionManager.open(path, **self._options))

    def _keep(self, session: SessionManager) -> SessionManager:
        live = LiveSession(self, session)
        self._live[live.file] = live
        self.happened(SessionOpened(*live.log.identity))
        self._sweep_later()
        return session

    def moved(self, live: LiveSession, old_file: str) -> None:
        """Find a session under its new file from now on."""
        if self._live.get(old_file) is live:
            del self._live[old_file]
        self._live[live.file] = live

    def gone(self, live: LiveSession) -> None:
        """Forget a session that was closed."""
        if self._live.get(live.file) is live:
            del self._live[live.file]

    def happened(self, event: SessionEvent) -> None:
        """Give an event to all who read them."""
        for stream in list(self._streams):
            stream.push(event)

    def _sweep_later(self) -> None:
        if self._sweep is None and self._live and self._shutdown is None:
            self._sweep = asyncio.get_running_loop().call_later(self._idle_seconds / 2, self._close_idle)

    def _close_idle(self) -> None:
        self._sweep = None
        idle_since = asyncio.get_running_loop().time() - self._idle_seconds
        for file, live in list(self._live.items()):
            if live.let_go(idle_since):
                del self._live[file]
                self._close_later(file, live)
        self._sweep_later()

    def _close_later(self, file: str, live: LiveSession) -> None:
        async def close() -> None:
            try:
                await live.log.close()
            finally:
                del self._closing[file]

        self._closing[file] = asyncio.get_running_loop().create_task(close())

    async def _shut_down(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
        if self._opening:
            await asyncio.wait(self._opening.values())
        for file, live in list(self._live.items()):
            self._close_later(file, live)
        closed = await asyncio.gather(*self._closing.values(), return_exceptions=True)
        for stream in list(self._streams):
            stream.end()
        for failure in closed:
            if isinstance(failure, BaseException):
                raise failure
