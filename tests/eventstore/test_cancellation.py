"""Steps that are carried out to their end, whatever is cancelled meanwhile (design D8)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sessiontree.eventstore.cancellation import carry_out, is_being_cancelled


class Work:
    """A step that ends when it is let; `cancels` are those that reached it."""

    def __init__(self, outcome: object = "done") -> None:
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        self.cancels = 0
        self._outcome = outcome

    async def run(self) -> object:
        self.begun.set()
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.cancels += 1
            raise
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        return self._outcome


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_the_work_returns_is_returned() -> None:
    """D8."""
    work = Work()
    work.go_on.set()
    assert await carry_out(work.run()) == "done"


async def test_what_the_work_raises_is_raised() -> None:
    """D8: as it is."""
    error = ValueError("failed")
    work = Work(error)
    work.go_on.set()
    with pytest.raises(ValueError, match="failed") as caught:
        await carry_out(work.run())
    assert caught.value is error


@pytest.mark.parametrize("times", [1, 3])
async def test_a_cancellation_waits_for_the_end_of_the_work(times: int) -> None:
    """D8: however often; it is not passed on to the work, and it is raised once, as what it is."""
    work, seen = Work(), list[str]()

    async def caller() -> None:
        with pytest.raises(asyncio.CancelledError) as caught:
            await carry_out(work.run())
        seen.append(str(caught.value.__cause__))
        await asyncio.sleep(0)
        seen.append("went on")

    task = asyncio.create_task(caller())
    await work.begun.wait()
    for _ in range(times):
        task.cancel()
        await turns()
    assert (task.done(), seen) == (False, [])
    work.go_on.set()
    await task
    assert (seen, work.cancels) == (["None", "went on"], 0)


async def test_a_cancellation_before_the_work_has_begun_does_not_keep_it_from_being_done() -> None:
    """D8: from the call on it is to be carried out."""
    work = Work()
    work.go_on.set()
    task = asyncio.create_task(carry_out(work.run()))
    await asyncio.sleep(0)
    assert not work.begun.is_set()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.begun.is_set()


async def test_a_cancellation_in_the_turn_in_which_the_work_ends_is_raised() -> None:
    """D8: it is never lost."""
    work = Work()
    task = asyncio.create_task(carry_out(work.run()))
    await work.begun.wait()
    work.go_on.set()
    task.cancel()
    await asyncio.wait((task,))
    assert task.cancelled()


async def test_what_the_work_raises_is_the_cause_of_a_cancellation() -> None:
    """D8: neither is lost, and nobody has to ask for it."""
    error = ValueError("failed")
    work = Work(error)
    task = asyncio.create_task(carry_out(work.run()))
    await work.begun.wait()
    task.cancel()
    await turns()
    work.go_on.set()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert caught.value.__cause__ is error


async def cancel_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.Event().wait()


async def test_work_that_cancels_itself_is_a_cancellation_of_nobody_else() -> None:
    """D8: it is raised, and the caller is not being cancelled."""
    with pytest.raises(asyncio.CancelledError):
        await carry_out(cancel_itself())
    assert not is_being_cancelled()


async def test_a_cancellation_while_the_work_cancels_itself_has_no_cause() -> None:
    """D8."""
    task = asyncio.create_task(carry_out(cancel_itself()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert caught.value.__cause__ is None


async def test_no_task_is_left_and_no_exception_is_unasked_for() -> None:
    """D8."""
    faults: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    before = asyncio.all_tasks()
    for outcome in ("done", ValueError("failed")):
        work = Work(outcome)
        task = asyncio.create_task(carry_out(work.run()))
        await work.begun.wait()
        task.cancel()
        await turns()
        work.go_on.set()
        await asyncio.wait((task,))
    del task, work
    assert (asyncio.all_tasks(), faults) == (before, [])


async def test_a_task_that_is_cancelled_is_being_cancelled() -> None:
    """D8."""
    seen: list[bool] = []

    async def watch() -> None:
        seen.append(is_being_cancelled())
        try:
            await asyncio.Event().wait()
        finally:
            seen.append(is_being_cancelled())

    task = asyncio.create_task(watch())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait((task,))
    assert seen == [False, True]


async def test_a_cancellation_of_what_was_waited_for_is_none_of_the_waiting_task() -> None:
    """D8: that is how the one who waits tells them apart."""
    child = asyncio.ensure_future(asyncio.Event().wait())
    child.cancel()
    with pytest.raises(asyncio.CancelledError):
        await child
    assert not is_being_cancelled()


async def test_outside_of_tasks_nothing_is_being_cancelled() -> None:
    """D8: in a callback of the loop."""
    seen: list[bool] = []
    asyncio.get_running_loop().call_soon(lambda: seen.append(is_being_cancelled()))
    await asyncio.sleep(0)
    assert seen == [False]
