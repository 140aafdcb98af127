"""Signals made of others: `AbortSignal.any` and `AbortSignal.timeout`."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

from sessiontree.eventstore import abort
from sessiontree.eventstore.abort import AbortController, AbortSignal
from sessiontree.eventstore.errors import AbortError

FAR = 3600.0
GUARD = 30.0


@pytest.fixture
def collector_off() -> Iterator[None]:
    """What is freed in such a test is freed by its last reference, not by a collection."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(abort, "monotonic", clock)
    return clock


async def waiting_on(signal: AbortSignal) -> asyncio.Task[None]:
    task = asyncio.create_task(signal.wait())
    await asyncio.sleep(0)
    return task


# any


async def test_any_is_aborted_with_the_reason_of_its_first_source() -> None:
    first, second = AbortController(), AbortController()
    both = AbortSignal.any(c.signal for c in (first, second))
    task = await waiting_on(both)
    second.abort("second")
    first.abort("first")
    async with asyncio.timeout(GUARD):
        await task
    assert both.reason == "second"


def test_any_with_an_aborted_source_is_aborted_from_the_start_with_the_first_of_them() -> None:
    idle, first, second = AbortController(), AbortController(), AbortController()
    second.abort("second")
    first.abort("first")
    assert AbortSignal.any([idle.signal, first.signal, second.signal]).reason == "first"
    assert not idle.signal._listeners


def test_any_of_nothing_is_never_aborted() -> None:
    assert not AbortSignal.any([]).aborted


def test_any_aborts_although_the_signals_between_were_dropped() -> None:
    controller = AbortController()
    outer = AbortSignal.any([AbortSignal.any([controller.signal, controller.signal])])
    gc.collect()
    assert len(controller.signal._listeners) == 1
    controller.abort("through")
    assert outer.reason == "through"


def test_a_long_chain_of_any_does_not_recurse() -> None:
    controller = AbortController()
    signal = controller.signal
    chain = [signal := AbortSignal.any([signal]) for _ in range(5000)]
    controller.abort()
    assert all(link.aborted for link in chain)


@pytest.mark.usefixtures("collector_off")
def test_any_dropped_by_its_user_is_gone_although_its_sources_live() -> None:
    controller = AbortController()
    derived = AbortSignal.any([controller.signal, AbortSignal.timeout(FAR)])
    gone = weakref.ref(derived)
    assert controller.signal._listeners
    del derived
    assert gone() is None
    assert not controller.signal._listeners
    controller.abort()


@pytest.mark.usefixtures("collector_off")
async def test_any_that_was_waited_for_is_gone_too() -> None:
    controller = AbortController()
    derived = AbortSignal.any([controller.signal, AbortSignal.timeout(FAR)])
    gone = weakref.ref(derived)
    task = await waiting_on(derived)
    task.cancel()
    await asyncio.wait([task])
    del derived, task
    assert gone() is None
    assert not controller.signal._listeners


# timeout


def test_a_timeout_is_aborted_when_its_time_has_come_with_a_timeout_error(clock: Clock) -> None:
    signal = AbortSignal.timeout(5)
    clock.now += 4.9
    assert not signal.aborted
    clock.now += 0.1
    assert isinstance(signal.reason, TimeoutError)
    assert signal.aborted
    with pytest.raises(AbortError, match=r"^aborted: timed out after 5 s$") as caught:
        signal.raise_if_aborted()
    assert caught.value.__cause__ is signal.reason


async def test_a_timeout_wakes_its_waiters() -> None:
    signal = AbortSignal.timeout(0.01)
    async with asyncio.timeout(GUARD):
        await asyncio.gather(signal.wait(), signal.wait())
    assert isinstance(signal.reason, TimeoutError)


async def test_any_keeps_a_timeout_that_nobody_else_holds() -> None:
    controller = AbortController()
    signal = AbortSignal.any([controller.signal, AbortSignal.any([AbortSignal.timeout(0.01)])])
    gc.collect()
    async with asyncio.timeout(GUARD):
        await signal.wait()
    assert isinstance(signal.reason, TimeoutError)
    assert not controller.signal.aborted


def test_a_timeout_nobody_looked_at_still_comes_before_a_later_abort(clock: Clock) -> None:
    controller = AbortController()
    signal = AbortSignal.any([controller.signal, AbortSignal.timeout(9), AbortSignal.timeout(5)])
    clock.now += 6
    controller.abort("later")
    assert str(signal.reason) == "timed out after 5 s"


def test_an_abort_comes_before_a_later_timeout(clock: Clock) -> None:
    controller = AbortController()
    signal = AbortSignal.any([controller.signal, AbortSignal.timeout(5)])
    controller.abort("earlier")
    clock.now += 6
    assert signal.reason == "earlier"


@pytest.mark.usefixtures("collector_off")
async def test_a_timeout_dropped_by_its_user_is_gone_before_its_time() -> None:
    signal = AbortSignal.timeout(FAR)
    gone = weakref.ref(signal)
    task = await waiting_on(signal)
    task.cancel()
    await asyncio.wait([task])
    del signal, task
    assert gone() is None
