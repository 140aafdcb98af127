"""Handlers of a runtime's extensions: in order, each within its time, and harmless when they fail (N-50..N-55)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar, cast, overload

import msgspec
from msgspec import Struct

from ..eventstore.abort import AbortSignal
from ..eventstore.cancellation import is_being_cancelled
from ..eventstore.errors import AbortError
from ..eventstore.json_text import encode_json
from ..eventstore.log import log_event
from .drafts import MOST_NESTED, nests_deeper
from .hook_events import HookEvent

Handler = Callable[[Any], Any]
"""Takes an event; may be a coroutine function. The answer is None, a result Struct, or a mapping of its shape."""

H = TypeVar("H", bound=Handler)
R = TypeVar("R", bound=Struct)

HANDLER_SECONDS = 30.0


class HookFault(Struct, frozen=True):
    """A handler that failed. `event`: the event's name; `handler`: the handler's; `error`: what it came to."""

    event: str
    handler: str
    message: str
    error: BaseException


class Hooks:
    """A registry of handlers by event name.

    Handlers are called one after the other, in order of registration. One that raises, answers with something
    else than a result, or takes longer than `handler_seconds` is reported and counts as having no result. A
    handler that is no coroutine function cannot be interrupted, and holds the event loop while it runs.
    """

    def __init__(self, *, handler_seconds: float = HANDLER_SECONDS) -> None:
        self._handler_seconds = handler_seconds
        self._handlers: dict[str, list[Handler]] = {}
        self._listeners: list[Callable[[HookFault], object]] = []

    @overload
    def on(self, event: str, handler: Handler) -> Callable[[], None]: ...

    @overload
    def on(self, event: str) -> Callable[[H], H]: ...

    def on(self, event: str, handler: Handler | None = None) -> Callable[..., Any]:
        """Register a handler and return what removes it; without a handler, a decorator.

        Raises `ValueError` for an event that there is not, `TypeError` for a handler that cannot be called.
        """
        if event not in _EVENTS:
            raise ValueError(f"no event is named {event!r}; there are {', '.join(sorted(_EVENTS))}")
        if handler is None:

            def register(decorated: H) -> H:
                self.on(event, decorated)
                return decorated

            return register
        if not callable(handler):
            raise TypeError(f"a handler must be callable, not {type(handler).__name__}")
        handlers = self._handlers.setdefault(event, [])
        handlers.append(handler)
        return partial(_remove, handlers, handler)

    def on_error(self, listener: Callable[[HookFault], object]) -> Callable[[], None]:
        """Have a listener called with each fault of a handler; return what removes it."""
        self._listeners.append(listener)
        return partial(_remove, self._listeners, listener)

    def has_handlers(self, event: str) -> bool:
        """Tell whether anybody would be called."""
        return bool(self._handlers.get(event))

    async def ask(self, event: HookEvent, result: type[R], signal: AbortSignal) -> R | None:
        """Ask all handlers; the last result counts, but the first that cancels ends it (N-51, N-52, N-55).

        Raises `AbortError` as soon as the signal is aborted.
        """
        answer: R | None = None
        for handler in tuple(self._handlers.get(event.type, ())):
            given = await self._call(handler, event, signal)
            if given is None:
                continue
            try:
                answer = _as_result(given, result)
            except Exception as error:  # noqa: BLE001 - whatever a handler's answer does when it is read
                self.report(event.type, _name(handler), error)
                continue
            if getattr(answer, "cancel", False):
                break
        return answer

    async def tell(self, event: HookEvent) -> None:
        """Tell all handlers; what they return means nothing."""
        for handler in tuple(self._handlers.get(event.type, ())):
            await self._call(handler, event, None)

    async def _call(self, handler: Handler, event: HookEvent, signal: AbortSignal | None) -> object:
        """Return what a handler answers, None when it fails. Raises `AbortError` when the signal is aborted."""
        limit = AbortSignal.timeout(self._handler_seconds)
        try:
            answer = handler(event)
            if inspect.isawaitable(answer):
                answer = await AbortSignal.any([limit, signal] if signal is not None else [limit]).run(answer)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and is_being_cancelled():
                raise
            timed_out = isinstance(error, AbortError) and limit.aborted
            failure: BaseException = (
                TimeoutError(f"took longer than {self._handler_seconds:g} s") if timed_out else error
            )
        else:
            if signal is not None:
                signal.raise_if_aborted()
            return cast(object, answer)
        if signal is not None:
            signal.raise_if_aborted()
        self.report(event.type, _name(handler), failure)
        return None

    def report(self, event: str, handler: str, error: BaseException) -> None:
        """Report a fault to the listeners and the log."""
        fault = HookFault(event, handler, str(error) or type(error).__name__, error)
        log_event("warning", "hook.failed", hook=event, handler=handler, error=type(error).__name__)
        for listener in tuple(self._listeners):
            try:
                listener(fault)
            except Exception as failure:  # noqa: BLE001 - a listener is somebody else's, and nobody hears it
                log_event("warning", "hook.listener_failed", hook=event, error=type(failure).__name__)


_EVENTS = frozenset(event.type for event in HookEvent.__subclasses__())


def _remove(items: list[Any], item: object) -> None:
    # By identity, and once: the same handler may be registered twice.
    for index, other in enumerate(items):
        if other is item:
            del items[index]
            return


def _name(handler: Handler) -> str:
    return str(getattr(handler, "__qualname__", type(handler).__name__))


def _as_result(answer: object, result: type[R]) -> R:
    """Return an answer as a result. Raises `TypeError` or `ValueError` for what is none, or cannot be stored."""
    if not isinstance(answer, Mapping | result):
        raise TypeError(f"must answer with None, a mapping or {result.__name__}, not {type(answer).__name__}")
    fields = {name: _fields(value) for name, value in _fields(answer).items()}
    converted = msgspec.convert(fields, result)
    encode_json(converted)
    if nests_deeper(fields, MOST_NESTED):
        raise ValueError(f"the answer nests deeper than {MOST_NESTED} levels")
    return converted


def _fields(value: Any) -> Any:
    """Return a Struct as the mapping that it stands for, so that its fields are checked like a mapping's."""
    if isinstance(value, Struct):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    return dict(value) if isinstance(value, Mapping) else value
