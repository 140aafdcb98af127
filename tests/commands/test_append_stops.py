"""An append queue whose work is stopped from outside, or comes to nothing: everybody who waits is answered (D4)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from sessiontree import AbortController, AbortError, EntryNotFoundError, SessionClosedError
from sessiontree.commands.append_queue import AppendQueue, PendingEntry

Step = Callable[[], Awaitable[None]]


async def at_once() -> None:
    """Do nothing."""


async def never() -> None:
    await asyncio.Event().wait()


async def interrupt() -> None:
    raise KeyboardInterrupt


class Stopped:
    """A queue whose steps to the disk are these two."""

    def __init__(self, get_ready: Step, record: Step) -> None:
        self.lost: set[str] = set()
        self.batches = 0
        self._record_step = record
        self.queue = AppendQueue(get_ready, self._record, self.lost.update)

    async def _record(self, lines: list[bytes]) -> None:
        self.batches += 1
        await self._record_step()


def entry(entry_id: str, target_id: str | None = None) -> list[PendingEntry]:
    return [PendingEntry(entry_id, None, b'{"type":"message"}', fallback_id=None, target_id=target_id)]


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_when_the_loop_stops_while_nothing_was_taken_all_who_wait_hear_of_it() -> None:
    """D4: as of a session that was closed."""
    before = asyncio.all_tasks()
    stopped = Stopped(never, at_once)
    appends = [stopped.queue.submit(entry("a")), stopped.queue.submit(entry("b"))]
    await turns()
    [pump] = asyncio.all_tasks() - before
    pump.cancel()
    for append in appends:
        with pytest.raises(SessionClosedError, match="the event loop was stopped"):
            await stopped.queue.wait(append)
    assert (stopped.lost, stopped.batches) == ({"a", "b"}, 0)
    assert asyncio.all_tasks() == before


async def test_when_the_loop_stops_while_a_batch_is_recorded_those_behind_it_hear_of_it_too() -> None:
    """D4: nobody waits for ever."""
    before = asyncio.all_tasks()
    stopped = Stopped(at_once, never)
    taken = stopped.queue.submit(entry("a"))
    await turns()
    behind = stopped.queue.submit(entry("b"))
    [pump] = asyncio.all_tasks() - before
    pump.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopped.queue.wait(taken)
    with pytest.raises(SessionClosedError):
        await stopped.queue.wait(behind)
    assert (stopped.lost, stopped.batches) == ({"a", "b"}, 1)


@pytest.mark.parametrize("steps", [(interrupt, at_once), (at_once, interrupt)], ids=["get ready", "record"])
def test_an_interrupt_is_not_kept_from_the_loop(steps: tuple[Step, Step]) -> None:
    """D4: those who wait are answered with it, and it goes on."""
    stopped = Stopped(*steps)

    async def append() -> None:
        # The interrupted task's exception is the one that is raised.
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        await stopped.queue.wait(stopped.queue.submit(entry("a")))

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(append(), debug=True)
    assert stopped.lost == {"a"}


async def test_a_batch_of_labels_whose_targets_were_withdrawn_is_not_written() -> None:
    """T-51, D8: not even an empty one."""
    ready, controller = asyncio.Event(), AbortController()

    async def get_ready() -> None:
        await ready.wait()

    stopped = Stopped(get_ready, at_once)
    target, label = stopped.queue.submit(entry("a")), stopped.queue.submit(entry("b", target_id="a"))
    controller.abort()
    with pytest.raises(AbortError):
        await stopped.queue.wait(target, controller.signal)
    ready.set()
    with pytest.raises(EntryNotFoundError):
        await stopped.queue.wait(label)
    assert (stopped.lost, stopped.batches) == ({"a", "b"}, 0)


async def test_what_is_handed_over_while_the_wait_for_the_writer_ends_begins_the_next() -> None:
    """D4, D8: it does not end with the one that was given up."""
    asked = 0
    ready, controller = asyncio.Event(), AbortController()

    async def get_ready() -> None:
        nonlocal asked
        asked += 1
        await ready.wait()

    stopped = Stopped(get_ready, at_once)
    given_up = stopped.queue.submit(entry("a"))
    await turns()
    controller.abort()
    with pytest.raises(AbortError):
        await stopped.queue.wait(given_up, controller.signal)
    later = stopped.queue.submit(entry("b"))
    ready.set()
    await stopped.queue.wait(later)
    assert (asked, stopped.batches, stopped.lost) == (2, 1, {"a"})
