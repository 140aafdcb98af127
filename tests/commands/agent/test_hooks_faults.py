"""Handlers that fail, hang or answer with something else: reported, no result, and no harm (N-53, N-54)."""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from typing import Any

import pytest

from sessiontree import (
    AbortController,
    AbortError,
    AbortSignal,
    HookFault,
    Hooks,
    SessionBeforeTreeEvent,
    SessionBeforeTreeResult,
    SuppliedSummary,
    TreePreparation,
)
from sessiontree.eventstore.abort import stragglers

NAME = "session_before_tree"
SUPPLIED = SessionBeforeTreeResult(summary=SuppliedSummary("kept"))


def event_with(signal: AbortSignal) -> SessionBeforeTreeEvent:
    return SessionBeforeTreeEvent(TreePreparation("t", None, None, [], True), signal)


async def ask(hooks: Hooks, signal: AbortSignal | None = None) -> SessionBeforeTreeResult | None:
    signal = signal or AbortSignal()
    return await hooks.ask(event_with(signal), SessionBeforeTreeResult, signal)


@pytest.fixture
def faults(hooks: Hooks) -> list[HookFault]:
    """The faults that were reported."""
    reported: list[HookFault] = []
    hooks.on_error(reported.append)
    return reported


@pytest.fixture
def hooks() -> Hooks:
    """With one handler in front, whose answer counts when those behind it fail."""
    hooks = Hooks()
    hooks.on(NAME, lambda event: SUPPLIED)
    return hooks


@pytest.mark.parametrize("slow", [False, True])
async def test_a_handler_that_raises_has_no_result(hooks: Hooks, faults: list[HookFault], slow: bool) -> None:
    """X-135, X-157, N-53: reported with event, handler, message and error; those behind it are called."""
    error, calls = RuntimeError("broken"), list[Any]()

    def fails(event: Any) -> Any:
        raise error

    async def fails_slowly(event: Any) -> Any:
        await asyncio.sleep(0)
        raise error

    handler = fails_slowly if slow else fails
    hooks.on(NAME, handler)
    hooks.on(NAME, calls.append)
    assert await ask(hooks) == SUPPLIED
    assert len(calls) == 1
    assert faults == [HookFault(NAME, handler.__qualname__, "broken", error)]


async def test_a_fault_without_words_is_called_by_its_type(hooks: Hooks, faults: list[HookFault]) -> None:
    """N-53: and a handler without a name by its own."""

    def fails(event: Any) -> Any:
        raise KeyError

    hooks.on(NAME, partial(fails))
    await ask(hooks)
    assert [(fault.handler, fault.message) for fault in faults] == [("partial", "KeyError")]


async def test_what_is_told_to_a_handler_that_raises_is_told_to_the_others(
    hooks: Hooks, faults: list[HookFault]
) -> None:
    """N-53."""
    calls: list[Any] = []
    event = event_with(AbortSignal())
    hooks.on(NAME, lambda event: 1 / 0)
    hooks.on(NAME, calls.append)
    await hooks.tell(event)
    assert (calls, [type(fault.error) for fault in faults]) == ([event], [ZeroDivisionError])


async def test_listeners_are_called_until_they_are_removed(hooks: Hooks) -> None:
    """X-157, N-53: one that fails itself keeps the others from nothing."""
    heard: list[Any] = []

    def fails(fault: HookFault) -> None:
        raise RuntimeError("nobody hears this")

    hooks.on(NAME, lambda event: 1 / 0)
    hooks.on_error(fails)
    remove = hooks.on_error(heard.append)
    assert await ask(hooks) == SUPPLIED
    remove()
    remove()
    assert await ask(hooks) == SUPPLIED
    assert len(heard) == 1


async def test_a_handler_that_takes_too_long_has_no_result() -> None:
    """N-54: it is cancelled, and reported as timed out; the others are called. By default after 30 s."""
    assert inspect.signature(Hooks).parameters["handler_seconds"].default == 30
    hooks, ended, calls, faults = Hooks(handler_seconds=0.01), asyncio.Event(), list[Any](), list[HookFault]()
    hooks.on_error(faults.append)

    @hooks.on(NAME)
    async def hangs(event: Any) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    hooks.on(NAME, calls.append)
    async with asyncio.timeout(20):
        assert await ask(hooks) is None
    assert ended.is_set()
    assert len(calls) == 1
    [fault] = faults
    assert isinstance(fault.error, TimeoutError)
    assert (fault.event, fault.message) == (NAME, "took longer than 0.01 s")
    faults.clear()
    async with asyncio.timeout(20):
        await hooks.tell(event_with(AbortSignal()))
    assert [type(fault.error) for fault in faults] == [TimeoutError]


async def test_a_handler_that_does_not_stop_is_left_behind() -> None:
    """N-54, D8: nobody waits for it, and what it says later is dropped."""
    hooks, release, cancelled, faults = Hooks(handler_seconds=0.01), asyncio.Event(), list[Any](), list[HookFault]()
    hooks.on_error(faults.append)

    @hooks.on(NAME)
    async def stubborn(event: Any) -> Any:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError as error:
                cancelled.append(error)
        return {"cancel": True}

    async with asyncio.timeout(20):
        assert await ask(hooks) is None
        assert [type(fault.error) for fault in faults] == [TimeoutError]
        [left] = stragglers()
        release.set()
        await asyncio.wait((left,))
    assert len(cancelled) == 1


async def test_a_handler_that_cancels_itself_has_failed(hooks: Hooks, faults: list[HookFault]) -> None:
    """N-53: who asked is not cancelled by it."""

    async def cancels(event: Any) -> Any:
        raise asyncio.CancelledError

    hooks.on(NAME, cancels)
    assert await ask(hooks) == SUPPLIED
    [fault] = faults
    assert fault.message == "CancelledError"
    assert isinstance(fault.error, asyncio.CancelledError)


async def test_whatever_a_handler_raises_is_a_fault_of_its_own(hooks: Hooks, faults: list[HookFault]) -> None:
    """N-53: but an interrupt, or the end of the program, is nobody's fault."""

    class Odd(BaseException):
        pass

    def fails(event: Any) -> Any:
        raise Odd

    def interrupts(event: Any) -> Any:
        raise KeyboardInterrupt

    hooks.on(NAME, fails)
    assert await ask(hooks) == SUPPLIED
    assert [type(fault.error) for fault in faults] == [Odd]
    hooks.on(NAME, interrupts)
    with pytest.raises(KeyboardInterrupt):
        await ask(hooks)


async def test_a_handler_that_raises_an_abort_of_its_own_has_failed(hooks: Hooks, faults: list[HookFault]) -> None:
    """N-53, N-39: only the event's signal aborts."""

    async def aborts(event: Any) -> Any:
        raise AbortError("of my own")

    hooks.on(NAME, aborts)
    assert await ask(hooks) == SUPPLIED
    assert [fault.message for fault in faults] == ["aborted: of my own"]


async def test_a_handler_that_raises_after_the_abort_is_no_fault(hooks: Hooks, faults: list[HookFault]) -> None:
    """N-39: the abort counts."""
    controller = AbortController()

    async def aborts(event: Any) -> Any:
        controller.abort("by the user")
        event.signal.raise_if_aborted()

    hooks.on(NAME, aborts)
    with pytest.raises(AbortError, match="by the user"):
        await ask(hooks, controller.signal)
    assert faults == []


async def test_who_asks_can_be_cancelled(hooks: Hooks, faults: list[HookFault]) -> None:
    """D8: it is no fault of the handler that waits."""
    waits = asyncio.Event()

    @hooks.on(NAME)
    async def wait(event: Any) -> None:
        waits.set()
        await asyncio.Event().wait()

    asking = asyncio.create_task(ask(hooks))
    async with asyncio.timeout(20):
        await waits.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert faults == []
