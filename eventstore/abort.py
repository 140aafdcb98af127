"""Abort signals with the web's names and meaning: `AbortController`, `AbortSignal`, `AbortError`."""

from __future__ import annotations

import asyncio
import math
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import Any, Final, TypeVar

from .errors import AbortError

T = TypeVar("T")

GRACE: Final = 0.05
"""Seconds that `AbortSignal.run` waits for a cancelled child to end."""

_stragglers: set[asyncio.Future[Any]] = set()


class AbortSignal:
    """Tells work that its result is no longer wanted. Made by a controller, by `any` or by `timeout`.

    Belongs to no event loop: it can be made and aborted where none runs, and waited for in several.
    """

    # No lock: abort() may interrupt this very code, from a signal handler or a finalizer. Every step is
    # one atomic operation on a list or dict: of several reasons the first appended counts, a listener is
    # added before `aborted` is looked at, and it is called by whoever pops it, so exactly once.

    def __init__(self) -> None:
        self._reasons: list[object] = []
        self._listeners: dict[object, Callable[[object], None]] = {}
        self._sources: tuple[AbortSignal, ...] = ()
        self._deadline = math.inf
        self._expiry: TimeoutError | None = None

    @staticmethod
    def any(signals: Iterable[AbortSignal]) -> AbortSignal:
        """A signal that is aborted with the first of `signals`, and with its reason; of none, never.

        They do not keep it alive: once its user drops it, it is gone.
        """
        signals = tuple(signals)
        derived = AbortSignal()
        for signal in signals:
            if signal.aborted:
                derived._abort(signal.reason)
                return derived
            if signal._deadline < derived._deadline:
                derived._deadline, derived._expiry = signal._deadline, signal._expiry
        # Sources are never derived signals: an abort goes one step down, however long the chain was built.
        derived._sources = tuple(dict.fromkeys(root for s in signals for root in s._sources or (s,)))
        for source in derived._sources:
            remove = source._listen(partial(_relay, weakref.ref(derived)))
            weakref.finalize(derived, remove).atexit = False
        return derived

    @staticmethod
    def timeout(seconds: float) -> AbortSignal:
        """A signal that is aborted after `seconds`, with a `TimeoutError` as its reason.

        It keeps a point in time, not a timer: nothing but its user holds it.
        """
        signal = AbortSignal()
        signal._deadline = monotonic() + seconds
        signal._expiry = TimeoutError(f"timed out after {seconds:g} s")
        return signal

    @property
    def aborted(self) -> bool:
        if not self._reasons and monotonic() >= self._deadline:
            self._abort(self._expiry)
        return bool(self._reasons)

    @property
    def reason(self) -> object:
        """What the first `abort()` was given; None before, and when it was given nothing."""
        return self._reasons[0] if self.aborted else None

    def raise_if_aborted(self) -> None:
        """Raises `AbortError` once the signal is aborted."""
        if self.aborted:
            raise AbortError(self.reason)

    async def wait(self) -> None:
        """Returns once the signal is aborted."""
        with self._wakeup() as woken:
            await woken

    async def run(self, awaitable: Awaitable[T]) -> T:
        """Awaits `awaitable` in a task of its own until it ends or the signal is aborted.

        Raises `AbortError` on an abort and `CancelledError` when the caller is cancelled, both at most
        `GRACE` seconds after the child was cancelled; what the child gives or raises from then on is
        dropped, and while it does not stop it is one of the `stragglers()`. When several come together
        the caller's cancellation wins, then the child's result or exception, then the abort.
        Already aborted: a coroutine is closed unstarted, a task or future cancelled.
        Not for a step that must not be lost once begun: its result is dropped with the rest.
        """
        if self.aborted:
            if isinstance(awaitable, Coroutine):
                awaitable.close()
            else:
                await _stop(asyncio.ensure_future(awaitable))
            raise AbortError(self.reason)
        child = asyncio.ensure_future(awaitable)
        with self._wakeup() as woken:
            try:
                await asyncio.wait((child, woken), return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                await _stop(child)
                raise
        if not child.done():
            await _stop(child)
            raise AbortError(self.reason)
        try:
            return child.result()
        finally:
            del awaitable, child  # else the child's exception, its traceback and this frame hold each other

    def _abort(self, reason: object) -> None:
        if not self._reasons:
            # A deadline that nobody looked at in time came first all the same.
            self._reasons.append(self._expiry if monotonic() >= self._deadline else reason)
        for key in list(self._listeners):
            listener = self._listeners.pop(key, None)
            if listener is not None:
                listener(self._reasons[0])

    def _listen(self, listener: Callable[[object], None]) -> Callable[[], object]:
        """Has `listener` called once with the reason, in the thread that aborts; returns what removes it."""
        key = object()
        self._listeners[key] = listener
        if self.aborted:
            self._abort(None)
        return partial(self._listeners.pop, key, None)

    @contextmanager
    def _wakeup(self) -> Iterator[asyncio.Future[None]]:
        """A future of the running loop that is done once the signal is aborted."""
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()
        timer = None
        if self._deadline < math.inf:
            timer = loop.call_later(self._deadline - monotonic(), self._abort, self._expiry)
        remove = self._listen(partial(_wake, loop, woken))
        try:
            yield woken
        finally:
            remove()
            if timer is not None:
                timer.cancel()


class AbortController:
    """Owns a signal and aborts it."""

    def __init__(self) -> None:
        self.signal: Final = AbortSignal()

    def abort(self, reason: object = None) -> None:
        """Aborts the signal; the first call counts. From any thread, with or without an event loop."""
        self.signal._abort(reason)


def stragglers() -> frozenset[asyncio.Future[Any]]:
    """The children of `AbortSignal.run` on the running loop that were cancelled and have not ended yet."""
    loop = asyncio.get_running_loop()
    return frozenset(child for child in tuple(_stragglers) if child.get_loop() is loop)


async def _stop(child: asyncio.Future[Any]) -> None:
    """Cancels `child`, once, and waits up to `GRACE`. A cancel of the caller meanwhile is raised after that.

    To cut the grace short would leave the innermost child of nested runs behind: on an abort each run
    stops its own child, and the outer one cancels the inner one while that waits.
    """
    # Not asyncio.timeout: on 3.11 it gives no TimeoutError in a task that is being cancelled.
    loop = asyncio.get_running_loop()
    end = loop.time() + GRACE
    interrupted: asyncio.CancelledError | None = None
    child.cancel()
    try:
        while not child.done() and (left := end - loop.time()) > 0:
            try:
                await asyncio.wait((child,), timeout=left)
            except asyncio.CancelledError as error:
                interrupted = error
        if interrupted is not None:
            raise interrupted
    finally:
        del interrupted  # else it, its traceback and this frame hold each other
        if child.done():
            _collect(child)
        else:
            _stragglers.add(child)
            child.add_done_callback(_collect)


def _collect(child: asyncio.Future[Any]) -> None:
    _stragglers.discard(child)
    if not child.cancelled():
        child.exception()  # marks it as retrieved


def _relay(target: weakref.ref[AbortSignal], reason: object) -> None:
    signal = target()
    if signal is not None:
        signal._abort(reason)


def _wake(loop: asyncio.AbstractEventLoop, woken: asyncio.Future[None], _reason: object) -> None:
    try:
        loop.call_soon_threadsafe(_settle, woken)
    except RuntimeError:
        pass  # the loop is closed: nobody waits there any more


def _settle(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)
