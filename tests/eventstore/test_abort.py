"""Abort signals: state, waiting, threads."""

from __future__ import annotations

import asyncio
import signal as os_signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from sessiontree.eventstore.abort import AbortController, AbortSignal
from sessiontree.eventstore.errors import AbortError, SessionTreeError

GUARD = 30.0


async def waiting_on(signal: AbortSignal) -> asyncio.Task[None]:
    task = asyncio.create_task(signal.wait())
    await asyncio.sleep(0)
    return task


def in_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


# State


def test_a_fresh_signal_is_not_aborted() -> None:
    signal = AbortController().signal
    assert not signal.aborted
    assert signal.reason is None
    signal.raise_if_aborted()


def test_an_aborted_signal_says_so_gives_its_reason_and_raises() -> None:
    controller = AbortController()
    controller.abort("Escape")
    assert controller.signal.aborted
    assert controller.signal.reason == "Escape"
    with pytest.raises(AbortError, match=r"^aborted: Escape$") as caught:
        controller.signal.raise_if_aborted()
    assert caught.value.reason == "Escape"


def test_an_abort_needs_no_reason() -> None:
    controller = AbortController()
    controller.abort()
    assert controller.signal.aborted
    assert controller.signal.reason is None
    with pytest.raises(AbortError, match=r"^aborted$"):
        controller.signal.raise_if_aborted()


def test_the_first_abort_counts() -> None:
    controller = AbortController()
    controller.abort()
    controller.abort("late")
    assert controller.signal.reason is None


def test_an_abort_error_is_an_error_of_the_library_and_no_cancellation() -> None:
    assert issubclass(AbortError, SessionTreeError)
    assert issubclass(AbortError, Exception)
    assert not issubclass(AbortError, asyncio.CancelledError)


def test_a_reason_that_is_an_exception_is_the_cause() -> None:
    reason = ValueError()
    controller = AbortController()
    controller.abort(reason)
    with pytest.raises(AbortError, match=r"^aborted: ValueError\(\)$") as caught:
        controller.signal.raise_if_aborted()
    assert caught.value.reason is reason
    assert caught.value.__cause__ is reason


# Waiting


async def test_wait_returns_at_once_when_already_aborted() -> None:
    controller = AbortController()
    controller.abort()
    async with asyncio.timeout(GUARD):
        await controller.signal.wait()
    assert not controller.signal._listeners


async def test_an_abort_wakes_every_waiter_and_forgets_them() -> None:
    controller = AbortController()
    tasks = [await waiting_on(controller.signal) for _ in range(3)]
    assert not any(task.done() for task in tasks)
    controller.abort()
    async with asyncio.timeout(GUARD):
        await asyncio.gather(*tasks)
    assert not controller.signal._listeners


async def test_a_cancelled_wait_leaves_no_listener() -> None:
    signal = AbortController().signal
    task = await waiting_on(signal)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not signal._listeners


async def test_a_waiter_cancelled_in_the_tick_of_the_abort_is_cancelled_without_noise() -> None:
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    controller = AbortController()
    task = await waiting_on(controller.signal)
    controller.abort()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert faults == []


def test_a_signal_made_and_aborted_before_any_loop_works_in_one() -> None:
    controller = AbortController()
    early = AbortSignal.any([controller.signal, AbortSignal.timeout(3600)])
    controller.abort("early")
    asyncio.run(early.wait(), debug=True)
    assert early.reason == "early"


# Threads


async def test_an_abort_from_a_thread_wakes_the_loop() -> None:
    controller = AbortController()
    task = await waiting_on(controller.signal)
    in_thread(controller.abort)
    async with asyncio.timeout(GUARD):
        await task


def test_an_abort_wakes_the_waiters_of_each_loop() -> None:
    controller = AbortController()
    derived = AbortSignal.any([controller.signal])
    ready = threading.Barrier(4)

    async def wait() -> object:
        task = await waiting_on(derived)
        ready.wait(GUARD)
        await task
        return derived.reason

    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(lambda: asyncio.run(wait(), debug=True)) for _ in range(3)]
        ready.wait(GUARD)
        controller.abort("all")
        assert [run.result(GUARD) for run in runs] == ["all"] * 3


def test_a_closed_loop_does_not_make_abort_raise() -> None:
    controller = AbortController()
    waiter = controller.signal.wait()

    async def begin() -> None:
        waiter.send(None)

    asyncio.run(begin(), debug=True)
    assert controller.signal._listeners
    controller.abort()
    waiter.close()
    assert controller.signal.aborted


def test_of_threads_that_abort_at_once_one_gives_the_reason() -> None:
    for _ in range(50):
        controller = AbortController()
        derived = AbortSignal.any([controller.signal])
        ready = threading.Barrier(4)

        def fire(n: int, abort: Callable[[object], None], ready: threading.Barrier) -> None:
            ready.wait(GUARD)
            abort(n)

        threads = [threading.Thread(target=fire, args=(n, controller.abort, ready)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert controller.signal.reason in range(4)
        assert derived.reason in range(4)


async def test_no_wait_is_lost_to_an_abort_that_comes_meanwhile() -> None:
    with ThreadPoolExecutor(1) as pool:
        for _ in range(200):
            controller = AbortController()
            fired = pool.submit(controller.abort)
            async with asyncio.timeout(GUARD):
                await AbortSignal.any([controller.signal]).wait()
            fired.result(GUARD)
            assert not controller.signal._listeners


async def test_abort_may_be_called_from_a_signal_handler() -> None:
    controller = AbortController()
    task = await waiting_on(controller.signal)
    before = os_signal.signal(os_signal.SIGUSR1, lambda *_: controller.abort("SIGUSR1"))
    try:
        os_signal.raise_signal(os_signal.SIGUSR1)
        async with asyncio.timeout(GUARD):
            await task
    finally:
        os_signal.signal(os_signal.SIGUSR1, before)
    assert controller.signal.reason == "SIGUSR1"
