"""`AbortSignal.run`: how its child is stopped, by an abort or by an outer cancel; children that do not stop."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Iterator

import pytest

from sessiontree.eventstore import abort
from sessiontree.eventstore.abort import AbortController, AbortSignal, stragglers
from sessiontree.eventstore.errors import AbortError

GUARD = 30.0
GRACE = abort.GRACE


@pytest.fixture(autouse=True)
def no_noise(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing is left for asyncio to complain about: no unretrieved exception, no destroyed task."""
    yield
    gc.collect()
    records = caplog.get_records("call") + caplog.get_records("teardown")
    assert [r.getMessage() for r in records if r.name == "asyncio" and r.levelno >= logging.ERROR] == []


@pytest.fixture(autouse=True)
def ample_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine does not make a straggler of a child that stops."""
    monkeypatch.setattr(abort, "GRACE", GUARD)


@pytest.fixture
def real_grace(ample_grace: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abort, "GRACE", GRACE)


class Child:
    """A child that works until it is released; a stubborn one ignores the first cancellation."""

    def __init__(self, *, stubborn: bool = False, at_the_end: type[BaseException] | str = "done") -> None:
        self.started = asyncio.Event()
        self.released = asyncio.Event()
        self.stopping = asyncio.Event()
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
                self.stopping.set()
                for _ in range(10):  # cleaning up takes a few turns of the loop
                    await asyncio.sleep(0)
                if not self._stubborn or self.cancelled > 1:
                    raise
        if isinstance(self._at_the_end, str):
            return self._at_the_end
        raise self._at_the_end

    def assert_stopped(self) -> None:
        assert self.task is not None
        assert self.task.cancelled()
        assert self.task.cancelling() == self.cancelled == 1
        assert stragglers() == frozenset()

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


# Abort


@pytest.mark.parametrize("from_a_thread", [False, True])
async def test_an_abort_cancels_the_child_waits_for_it_and_raises_abort_error(from_a_thread: bool) -> None:
    controller = AbortController()
    child = Child()
    outer = await started(controller.signal, child)
    if from_a_thread:
        await asyncio.to_thread(controller.abort, "enough")
    else:
        controller.abort("enough")
    error = await outcome(outer)
    assert isinstance(error, AbortError)
    assert error.reason == "enough"
    child.assert_stopped()
    assert not controller.signal._listeners


async def test_runs_within_runs_on_one_signal_all_end() -> None:
    controller = AbortController()
    child = Child()
    signal = controller.signal
    outer = asyncio.create_task(signal.run(signal.run(AbortSignal.any([signal]).run(child.work()))))
    await child.started.wait()
    controller.abort()
    assert isinstance(await outcome(outer), AbortError)
    child.assert_stopped()
    assert not signal._listeners


async def test_a_result_that_is_there_wins_over_the_abort() -> None:
    controller = AbortController()
    child = Child()
    outer = await started(controller.signal, child)
    child.released.set()
    controller.abort()
    assert await outcome(outer) == "done"


@pytest.mark.parametrize("at_the_end", ["late result", ValueError])
async def test_what_a_child_gives_after_the_abort_is_dropped(at_the_end: type[BaseException] | str) -> None:
    controller = AbortController()
    child = Child(stubborn=True, at_the_end=at_the_end)
    outer = await started(controller.signal, child)
    controller.abort()
    await child.stopping.wait()
    child.released.set()
    assert isinstance(await outcome(outer), AbortError)
    assert stragglers() == frozenset()


# Outer cancellation


async def test_an_outer_cancel_cancels_the_child_waits_for_it_and_is_raised_again() -> None:
    signal = AbortController().signal
    child = Child()
    outer = await started(signal, child)
    outer.cancel()
    assert isinstance(await outcome(outer), asyncio.CancelledError)
    assert outer.cancelling() == 1
    child.assert_stopped()
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


@pytest.mark.usefixtures("real_grace")
async def test_run_works_under_asyncio_timeout_and_in_a_task_group() -> None:
    child, sibling = Child(), Child(stubborn=True)
    signal = AbortController().signal
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await signal.run(child.work())
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    assert child.cancelled == 1

    async def fail() -> None:
        await sibling.started.wait()
        raise ValueError

    with pytest.raises(ExceptionGroup) as caught:
        async with asyncio.TaskGroup() as group:
            group.create_task(signal.run(sibling.work()))
            group.create_task(fail())
    assert [type(error) for error in caught.value.exceptions] == [ValueError]
    await sibling.end()


@pytest.mark.parametrize("at_the_end", ["result", ValueError])
async def test_an_outer_cancel_wins_over_a_child_that_ends_in_the_same_tick(
    at_the_end: type[BaseException] | str,
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


@pytest.mark.parametrize("first", ["abort", "cancel"])
async def test_an_outer_cancel_in_the_grace_is_raised_when_the_child_has_ended(first: str) -> None:
    controller = AbortController()
    child = Child(stubborn=True)
    outer = await started(controller.signal, child)
    (controller.abort if first == "abort" else outer.cancel)()
    await child.stopping.wait()
    for _ in range(3):
        outer.cancel()
        await asyncio.sleep(0)
    assert not outer.done()
    await child.end()
    assert isinstance(await outcome(outer), asyncio.CancelledError)
    assert child.task is not None
    assert child.task.cancelling() == 1


@pytest.mark.usefixtures("real_grace")
async def test_outer_cancels_in_the_grace_do_not_make_it_endless() -> None:
    child = Child(stubborn=True)
    outer = await started(AbortController().signal, child)
    async with asyncio.timeout(GUARD):
        while not outer.done():
            outer.cancel()
            await asyncio.sleep(0)
    assert isinstance(await outcome(outer), asyncio.CancelledError)
    assert stragglers() == {child.task}
    await child.end()


@pytest.mark.usefixtures("real_grace")
async def test_an_abort_in_the_grace_of_an_outer_cancel_does_not_replace_it() -> None:
    controller = AbortController()
    child = Child(stubborn=True)
    outer = await started(controller.signal, child)
    outer.cancel()
    await child.stopping.wait()
    controller.abort()
    assert isinstance(await outcome(outer), asyncio.CancelledError)
    await child.end()


# Children that do not stop


@pytest.mark.usefixtures("real_grace")
@pytest.mark.parametrize("at_the_end", ["late result", ValueError, asyncio.CancelledError])
@pytest.mark.parametrize("aborted", [True, False])
async def test_a_child_that_does_not_stop_is_left_to_the_stragglers(
    at_the_end: type[BaseException] | str, aborted: bool
) -> None:
    controller = AbortController()
    child = Child(stubborn=True, at_the_end=at_the_end)
    outer = await started(controller.signal, child)
    (controller.abort if aborted else outer.cancel)()
    assert isinstance(await outcome(outer), AbortError if aborted else asyncio.CancelledError)
    assert stragglers() == {child.task}
    assert not controller.signal._listeners
    await child.end()


@pytest.mark.usefixtures("real_grace")
async def test_stragglers_are_those_of_the_running_loop() -> None:
    controller = AbortController()
    child = Child(stubborn=True)
    outer = await started(controller.signal, child)
    controller.abort()
    await outcome(outer)

    async def elsewhere() -> frozenset[asyncio.Future[object]]:
        return stragglers()

    assert await asyncio.to_thread(lambda: asyncio.run(elsewhere(), debug=True)) == frozenset()
    assert stragglers() == {child.task}
    await child.end()
