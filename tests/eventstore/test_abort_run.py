"""`AbortSignal.run`: what it takes, gives and raises."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import weakref
from collections.abc import AsyncIterator, Awaitable, Generator, Iterator

import pytest

from sessiontree.eventstore.abort import GRACE, AbortController, AbortSignal
from sessiontree.eventstore.errors import AbortError


@pytest.fixture(autouse=True)
def no_noise(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing is left for asyncio to complain about: no unretrieved exception, no destroyed task."""
    yield
    gc.collect()
    records = caplog.get_records("call") + caplog.get_records("teardown")
    assert [r.getMessage() for r in records if r.name == "asyncio" and r.levelno >= logging.ERROR] == []


async def current() -> asyncio.Task[object] | None:
    return asyncio.current_task()


# Results


async def test_run_gives_the_result_of_a_task_of_its_own_and_leaves_no_listener() -> None:
    signal = AbortController().signal
    caller = asyncio.current_task()
    assert await signal.run(current()) not in (None, caller)
    assert not signal._listeners


async def test_run_raises_the_childs_own_exception_and_leaves_no_listener() -> None:
    signal = AbortController().signal
    error = ValueError("child")

    async def fail() -> None:
        raise error

    with pytest.raises(ValueError, match="child") as caught:
        await signal.run(fail())
    assert caught.value is error
    assert not signal._listeners


async def test_an_exception_of_the_child_is_freed_with_its_last_reference() -> None:
    class Failure(Exception):
        pass

    async def fail() -> None:
        raise Failure

    gc.collect()
    gc.disable()
    try:
        gone: weakref.ref[Failure] | None = None
        try:
            await AbortController().signal.run(fail())
        except Failure as error:
            gone = weakref.ref(error)
        await asyncio.sleep(0)
        assert gone is not None
        assert gone() is None
    finally:
        gc.enable()


class Later:
    """An awaitable that is neither coroutine nor future."""

    begun = False

    def __await__(self) -> Generator[object, None, str]:
        self.begun = True
        yield from asyncio.sleep(0).__await__()
        return "later"


async def test_run_takes_any_awaitable() -> None:
    signal = AbortController().signal
    future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    future.set_result("future")

    async def items() -> AsyncIterator[str]:
        yield "item"

    iterator = items()
    assert await signal.run(Later()) == "later"
    assert await signal.run(future) == "future"
    assert await signal.run(asyncio.create_task(asyncio.sleep(0, "task"))) == "task"
    assert await signal.run(anext(iterator)) == "item"
    with pytest.raises(StopAsyncIteration):
        await signal.run(anext(iterator))


async def test_a_child_that_cancels_itself_ends_run_as_cancelled() -> None:
    async def give_up() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await AbortController().signal.run(give_up())


async def test_a_timeout_ends_run_with_its_timeout_error_as_the_cause() -> None:
    signal = AbortSignal.any([AbortController().signal, AbortSignal.timeout(0.01)])
    with pytest.raises(AbortError) as caught:
        await signal.run(asyncio.sleep(3600))
    assert isinstance(caught.value.__cause__, TimeoutError)


def test_the_grace_of_a_child_is_50_ms() -> None:
    assert GRACE == 0.05


# Already aborted


async def test_already_aborted_the_coroutine_is_closed_unstarted_without_a_turn_of_the_loop() -> None:
    controller = AbortController()
    controller.abort("before")
    work = current()
    with pytest.raises(AbortError) as caught:
        controller.signal.run(work).send(None)
    assert caught.value.reason == "before"
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED


async def test_already_aborted_a_task_is_cancelled_and_another_awaitable_never_begun() -> None:
    controller = AbortController()
    controller.abort()
    task = asyncio.create_task(asyncio.sleep(3600, "slept"))
    await asyncio.sleep(0)
    done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    done.set_exception(ValueError())
    later = Later()
    refused: list[Awaitable[str]] = [task, done, later]
    for awaitable in refused:
        with pytest.raises(AbortError):
            await controller.signal.run(awaitable)
    assert task.cancelled()
    assert not later.begun
