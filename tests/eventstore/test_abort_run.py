"""`AbortSignal.run`: results, aborts, outer cancellation, children that do not stop."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import threading
import weakref
from collections.abc import AsyncIterator, Awaitable, Generator, Iterator

import pytest

from sessiontree.eventstore.abort import AbortController, AbortError, AbortSignal, stragglers

GUARD = 30.0


@pytest.fixture(autouse=True)
def no_noise(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing is left for asyncio to complain about: no unretrieved exception, no destroyed task."""
    yield
    gc.collect()
    records = caplog.get_records("call") + caplog.get_records("teardown")
    assert [r.getMessage() for r in records if r.name == "asyncio" and r.levelno >= logging.ERROR] == []


class Child:
    """A child that records what happens to it; `stubborn` ignores every cancellation until `release()`."""

    def __init__(self, *, stubborn: bool = False, at_the_end: BaseException | str = "done") -> None:
        self.started = asyncio.Event()
        self.released = asyncio.Event()
        self.cancelled = 0
        self.task: asyncio.Task[object] | None = None
        self._stubborn = stubborn
        self._at_the_end = at_the_end

    async def work(self) -> str:
        self.task = asyncio.current_task()
        self.started.set()
        while not self.released.is_set():
            try:
                await self.released.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                await asyncio.sleep(0)  # cleaning up takes a turn
                if not self._stubborn:
                    raise
        if isinstance(self._at_the_end, BaseException):
            raise self._at_the_end
        return self._at_the_end

    async def end(self) -> None:
        self.released.set()
        assert self.task is not None
        await asyncio.wait([self.task])
        await asyncio.sleep(0)
        assert stragglers() == frozenset()


async def started(signal: AbortSignal, child: Child) -> asyncio.Task[str]:
    outer = asyncio.create_task(signal.run(child.work()))
    await child.started.wait()
    return outer


async def outcome(outer: asyncio.Task[str]) -> BaseException | str:
    async with asyncio.timeout(GUARD):
        await asyncio.wait([outer])
    if outer.cancelled():
        return asyncio.CancelledError()
    return outer.exception() or outer.result()


async def until_cancelled(child: Child, times: int = 1) -> None:
    async with asyncio.timeout(GUARD):
        while child.cancelled < times:
            await asyncio.sleep(0)


# Results


async def test_run_gives_the_result_of_a_task_of_its_own_and_leaves_no_listener() -> None:
    signal = AbortController().signal
    child = Child()
    child.released.set()
    assert await signal.run(child.work()) == "done"
    assert child.task is not asyncio.current_task()
    assert not signal._listeners


async def test_run_raises_the_childs_own_exception_and_leaves_no_listener() -> None:
    signal = AbortController().signal
    error = ValueError("child")
    child = Child(at_the_end=error)
    child.released.set()
    with pytest.raises(ValueError, match="child") as caught:
        await signal.run(child.work())
    assert caught.value is error
    assert not signal._listeners


async def test_an_exception_of_the_child_is_freed_with_its_last_reference() -> None:
    async def fail() -> None:
        raise ValueError

    gc.collect()
    gc.disable()
    try:
        gone: weakref.ref[ValueError] | None = None
        try:
            await AbortController().signal.run(fail())
        except ValueError as error:
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


async def test_a_child_that_was_cancelled_by_another_ends_run_as_cancelled() -> None:
    child = Child()
    outer = await started(AbortController().signal, child)
    assert child.task is not None
    child.task.cancel()
    assert isinstance(await outcome(outer), asyncio.CancelledError)


# Abort


async def test_an_abort_cancels_the_child_waits_for_it_and_raises_abort_error() -> None:
    controller = AbortController()
    child = Child()
    outer = await started(controller.signal, child)
    controller.abort("enough")
    error = await outcome(outer)
    assert isinstance(error, AbortError)
    assert error.reason == "enough"
    assert child.cancelled == 1
    assert child.task is not None
    assert child.task.cancelled()
    assert stragglers() == frozenset()
    assert not controller.signal._listeners


async def test_an_abort_from_a_thread_ends_run() -> None:
    controller = AbortController()
    child = Child()
    outer = await started(controller.signal, child)
    thread = threading.Thread(target=controller.abort)
    thread.start()
    assert isinstance(await outcome(outer), AbortError)
    thread.join()
    assert child.cancelled == 1


async def test_a_timeout_ends_run_with_its_timeout_error_as_the_cause() -> None:
    child = Child()
    signal = AbortSignal.any([AbortController().signal, AbortSignal.timeout(0.01)])
    with pytest.raises(AbortError) as caught:
        await signal.run(child.work())
    assert isinstance(caught.value.__cause__, TimeoutError)


async def test_runs_within_runs_on_one_signal_all_end() -> None:
    controller = AbortController()
    child = Child()
    signal = controller.signal
    outer = asyncio.create_task(signal.run(signal.run(AbortSignal.any([signal]).run(child.work()))))
    await child.started.wait()
    controller.abort()
    assert isinstance(await outcome(outer), AbortError)
    assert child.cancelled == 1
    assert stragglers() == frozenset()
    assert not signal._listeners


async def test_a_result_that_is_there_wins_over_the_abort() -> None:
    controller = AbortController()
    child = Child()
    outer = await started(controller.signal, child)
    child.released.set()
    controller.abort()
    assert await outcome(outer) == "done"


@pytest.mark.parametrize("at_the_end", ["late result", ValueError("late error")])
async def test_what_a_child_gives_after_the_abort_is_dropped(at_the_end: BaseException | str) -> None:
    controller = AbortController()
    child = Child(stubborn=True, at_the_end=at_the_end)
    outer = await started(controller.signal, child)
    controller.abort()
    await until_cancelled(child)
    child.released.set()
    assert isinstance(await outcome(outer), AbortError)
    assert stragglers() == frozenset()


# Already aborted


async def test_already_aborted_the_coroutine_is_closed_unstarted_without_a_turn_of_the_loop() -> None:
    controller = AbortController()
    controller.abort("before")
    child = Child()
    work = child.work()
    with pytest.raises(AbortError) as caught:
        controller.signal.run(work).send(None)
    assert caught.value.reason == "before"
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED
    assert not child.started.is_set()


async def test_already_aborted_a_task_is_cancelled_and_another_awaitable_never_begun() -> None:
    controller = AbortController()
    controller.abort()
    child = Child()
    task = asyncio.create_task(child.work())
    await child.started.wait()
    done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    done.set_exception(ValueError())
    later = Later()
    refused: list[Awaitable[str]] = [task, done, later]
    for awaitable in refused:
        with pytest.raises(AbortError):
            await controller.signal.run(awaitable)
    assert task.cancelled()
    assert not later.begun


# Outer cancellation


async def test_an_outer_cancel_cancels_the_child_waits_for_it_and_is_raised_again() -> None:
    signal = AbortController().signal
    child = Child()
    outer = await started(signal, child)
    outer.cancel()
    assert isinstance(await outcome(outer), asyncio.CancelledError)
    assert outer.cancelling() == 1
    assert child.cancelled == 1
    assert child.task is not None
    assert child.task.cancelled()
    assert stragglers() == frozenset()
    assert not signal._listeners


async def test_a_caller_with_a_cancel_pending_is_cancelled_in_run() -> None:
    child = Child()

    async def cancelled_before() -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return await AbortController().signal.run(child.work())

    assert isinstance(await outcome(asyncio.create_task(cancelled_before())), asyncio.CancelledError)
    assert child.cancelled == 1


async def test_run_works_under_asyncio_timeout_and_in_a_task_group() -> None:
    child, sibling = Child(), Child(stubborn=True)
    signal = AbortController().signal
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await signal.run(child.work())
    assert child.cancelled == 1

    async def fail() -> None:
        await sibling.started.wait()
        raise ValueError

    with pytest.raises(ExceptionGroup) as caught:
        async with asyncio.TaskGroup() as group:
            group.create_task(signal.run(sibling.work()))
            group.create_task(fail())
    assert [type(error) for error in caught.value.exceptions] == [ValueError]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    await sibling.end()


@pytest.mark.parametrize("at_the_end", ["result", ValueError("error")])
async def test_an_outer_cancel_wins_over_a_child_that_ends_in_the_same_tick(
    at_the_end: BaseException | str,
) -> None:
    child = Child(at_the_end=at_the_end)
    outer = await started(AbortController().signal, child)
    assert child.task is not None
    child.task.add_done_callback(lambda _: outer.cancel())
    child.released.set()
    assert isinstance(await outcome(outer), asyncio.CancelledError)
    assert child.cancelled == 0


@pytest.mark.parametrize("abort_first", [True, False])
async def test_an_outer_cancel_wins_over_an_abort_in_the_same_tick(abort_first: bool) -> None:
    controller = AbortController()
    child = Child()
    outer = await started(controller.signal, child)
    for step in (controller.abort, outer.cancel) if abort_first else (outer.cancel, controller.abort):
        step()
    assert isinstance(await outcome(outer), asyncio.CancelledError)
    assert child.cancelled == 1


async def test_an_outer_cancel_in_the_grace_of_an_abort_is_raised() -> None:
    controller = AbortController()
    child = Child(stubborn=True)
    outer = await started(controller.signal, child)
    controller.abort()
    await until_cancelled(child)
    outer.cancel()
    assert isinstance(await outcome(outer), asyncio.CancelledError)
    assert stragglers() == {child.task}
    await child.end()


async def test_an_abort_in_the_grace_of_an_outer_cancel_does_not_replace_it() -> None:
    controller = AbortController()
    child = Child(stubborn=True)
    outer = await started(controller.signal, child)
    outer.cancel()
    await until_cancelled(child)
    controller.abort()
    assert isinstance(await outcome(outer), asyncio.CancelledError)
    await child.end()


async def test_a_second_outer_cancel_ends_the_grace() -> None:
    child = Child(stubborn=True)
    outer = await started(AbortController().signal, child)
    outer.cancel()
    await until_cancelled(child)
    outer.cancel()
    assert isinstance(await outcome(outer), asyncio.CancelledError)
    assert outer.cancelling() == 2
    assert stragglers() == {child.task}
    await child.end()


# Children that do not stop


@pytest.mark.parametrize("at_the_end", ["late result", ValueError("late error"), asyncio.CancelledError()])
@pytest.mark.parametrize("aborted", [True, False])
async def test_a_child_that_does_not_stop_is_left_to_the_stragglers(
    at_the_end: BaseException | str, aborted: bool
) -> None:
    controller = AbortController()
    child = Child(stubborn=True, at_the_end=at_the_end)
    outer = await started(controller.signal, child)
    if aborted:
        controller.abort()
    else:
        outer.cancel()
    assert isinstance(await outcome(outer), AbortError if aborted else asyncio.CancelledError)
    assert stragglers() == {child.task}
    assert not controller.signal._listeners
    await child.end()


async def test_stragglers_are_those_of_the_running_loop() -> None:
    controller = AbortController()
    child = Child(stubborn=True)
    outer = await started(controller.signal, child)
    controller.abort()
    await outcome(outer)

    async def elsewhere() -> frozenset[asyncio.Future[object]]:
        return stragglers()

    seen: list[frozenset[asyncio.Future[object]]] = []
    thread = threading.Thread(target=lambda: seen.append(asyncio.run(elsewhere(), debug=True)))
    thread.start()
    thread.join()
    assert seen == [frozenset()]
    assert stragglers() == {child.task}
    await child.end()
