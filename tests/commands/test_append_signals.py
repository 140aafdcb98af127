"""Waiting for an append under a signal, and where leaves go when it is taken back (design D4, D8)."""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Callable
from typing import Any

import pytest

from sessiontree import AbortController, AbortError, AbortSignal, AppendError
from sessiontree.commands.append_queue import AppendQueue, PendingAppend, PendingEntry

FULL = OSError(errno.ENOSPC, "No space left on device")


async def turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


class Writer:
    """An append queue and what it writes to; `ready` and `go_on` let it become the writer, and record."""

    def __init__(self) -> None:
        self.queue = AppendQueue(self._get_ready, self._record, self._lose)
        self.ready, self.taken, self.go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.when_recorded: Callable[[], object] = lambda: None
        self.failures: list[Exception] = []
        self.records: list[dict[str, Any]] = []
        self.leaf: str | None = "old"
        self.unwanted = 0
        self.controller = AbortController()

    def submit(
        self, *ids: str, parent: str | None = "old", fallback: str | None = "old", kind: str = "message"
    ) -> PendingAppend:
        """Hand entries over as a chain, and put the leaf on the last; `fallback` is where it came from."""
        entries = []
        for entry_id in ids:
            fields = {"type": kind, "id": entry_id, "parentId": parent, "fromId": parent}
            entries.append(PendingEntry(entry_id, parent, json.dumps(fields).encode(), fallback_id=fallback))
            parent = fallback = entry_id
        self.leaf = parent
        return self.queue.submit(entries)

    async def start(self, append: PendingAppend, signal: AbortSignal | None = None) -> asyncio.Task[None]:
        """Wait for an append in a task, under a signal of its own or the controller's."""
        task = asyncio.create_task(self.queue.wait(append, signal or self.controller.signal))
        await turns()
        return task

    async def withdraw(self, task: asyncio.Task[None]) -> None:
        """Abort a wait that `start` began."""
        self.controller.abort()
        await asyncio.gather(task, return_exceptions=True)

    async def take_and_fail(self, append: PendingAppend, behind: Callable[[], object]) -> None:
        """Let an append be taken and fail, with another behind it for which nobody becomes the writer yet."""
        self.failures.append(AppendError("/p", FULL))
        self.ready.set()
        await self.taken.wait()
        behind()
        self.ready.clear()
        self.go_on.set()
        with pytest.raises(AppendError):
            await self.queue.wait(append)

    def let_go(self) -> None:
        self.ready.set()
        self.go_on.set()

    async def _get_ready(self) -> None:
        try:
            await self.ready.wait()
        except asyncio.CancelledError:
            self.unwanted += 1
            raise

    async def _record(self, lines: list[bytes]) -> None:
        self.taken.set()
        await self.go_on.wait()
        if self.failures:
            raise self.failures.pop(0)
        self.records += map(json.loads, lines)
        self.when_recorded()

    def _lose(self, lost: dict[str, str | None]) -> None:
        while self.leaf in lost:
            self.leaf = lost[self.leaf]

    @property
    def parents(self) -> dict[str, str | None]:
        return {record["id"]: record["parentId"] for record in self.records}


@pytest.fixture
async def writer() -> Writer:
    return Writer()


Stop = Callable[[Writer, "asyncio.Task[None]"], object]
STOPS: dict[str, tuple[Stop, type[BaseException]]] = {
    "signal": (lambda writer, task: writer.controller.abort("enough"), AbortError),
    "cancel": (lambda writer, task: task.cancel(), asyncio.CancelledError),
}
stops = pytest.mark.parametrize(("stop", "error"), STOPS.values(), ids=STOPS)


@stops
@pytest.mark.parametrize("fallback", ["before", None])
async def test_what_was_not_taken_is_withdrawn(writer: Writer, stop: Stop, error: Any, fallback: str | None) -> None:
    """D8: at once; the leaf goes to where it came from, and nobody becomes the writer for it."""
    append = writer.submit("a", "b", fallback=fallback)
    task = await writer.start(append)
    stop(writer, task)
    with pytest.raises(error):
        await task
    assert (writer.leaf, append.done, append.taken) == (fallback, True, False)
    assert (writer.queue.pending("a"), writer.queue.pending("b")) == (None, None)
    await writer.queue.drain()
    assert (writer.unwanted, writer.records) == (1, [])


async def test_a_signal_that_is_aborted_already_withdraws_at_once(writer: Writer) -> None:
    """D8: with its reason."""
    writer.controller.abort("enough")
    append = writer.submit("a")
    with pytest.raises(AbortError) as caught:
        await writer.queue.wait(append, writer.controller.signal)
    assert (caught.value.reason, append.error, writer.leaf) == ("enough", caught.value, "old")
    writer.ready.set()
    await writer.queue.drain()
    assert not writer.taken.is_set()


@stops
async def test_what_was_taken_is_recorded(writer: Writer, stop: Stop, error: Any) -> None:
    """D8: an abort comes too late and is not raised; a cancellation is raised once it is recorded."""
    task = await writer.start(writer.submit("a"))
    writer.ready.set()
    await writer.taken.wait()
    for _ in range(2):
        stop(writer, task)
        await turns()
    assert not task.done()
    writer.go_on.set()
    await asyncio.wait((task,))
    assert (task.cancelled(), writer.leaf, list(writer.parents)) == (error is asyncio.CancelledError, "a", ["a"])
    assert task.cancelled() or task.exception() is None


@stops
async def test_what_was_taken_and_fails_is_the_failure_or_the_cancellation(
    writer: Writer, stop: Stop, error: Any
) -> None:
    """D8: an abort never hides a failure."""
    task = await writer.start(writer.submit("a", fallback="before"))
    writer.failures.append(AppendError("/p", FULL))
    writer.ready.set()
    await writer.taken.wait()
    stop(writer, task)
    writer.go_on.set()
    with pytest.raises(AppendError if error is AbortError else asyncio.CancelledError):
        await task
    assert writer.leaf == "before"


async def test_an_abort_in_the_turn_in_which_it_is_taken_is_too_late(writer: Writer) -> None:
    """D8: never raised with the entry on its way to the disk."""
    task = await writer.start(writer.submit("a"))
    writer.ready.set()
    writer.controller.abort()
    writer.go_on.set()
    await task
    assert (writer.leaf, list(writer.parents)) == ("a", ["a"])


@stops
async def test_what_comes_in_the_turn_in_which_it_is_recorded_is_too_late(
    writer: Writer, stop: Stop, error: Any
) -> None:
    """D8: a cancellation is not lost then."""
    task = await writer.start(writer.submit("a"))
    writer.when_recorded = lambda: stop(writer, task)
    writer.let_go()
    await asyncio.wait((task,))
    assert (task.cancelled(), writer.leaf, list(writer.parents)) == (error is asyncio.CancelledError, "a", ["a"])
    assert task.cancelled() or task.exception() is None


async def test_a_signal_is_let_go_when_the_append_is_recorded(writer: Writer) -> None:
    """D8: one that lives long gathers nothing."""
    task = await writer.start(writer.submit("a"))
    assert writer.controller.signal._listeners
    writer.let_go()
    await task
    assert not writer.controller.signal._listeners


@pytest.mark.parametrize(("fallback", "from_id"), [("before", "before"), (None, "root")])
async def test_what_was_queued_behind_hangs_where_the_leaf_was(
    writer: Writer, fallback: str | None, from_id: str
) -> None:
    """D4, D8, F-45: over the whole batch, and a branch summary names its new position."""
    task = await writer.start(writer.submit("a", "b", fallback=fallback))
    behind = writer.submit("c", parent="b", fallback="b", kind="branch_summary")
    await writer.withdraw(task)
    assert (writer.leaf, writer.queue.parent_of("c")) == ("c", fallback)
    writer.let_go()
    await writer.queue.wait(behind)
    assert writer.records == [{"type": "branch_summary", "id": "c", "parentId": fallback, "fromId": from_id}]


async def test_a_leaf_falls_back_over_all_that_was_withdrawn(writer: Writer) -> None:
    """D4: in whatever order it was."""
    tasks = [
        await writer.start(writer.submit("a")),
        await writer.start(writer.submit("b", parent="far", fallback="a"), AbortController().signal),
    ]
    writer.controller.abort()
    await turns()
    assert writer.leaf == "b"
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert writer.leaf == "old"


async def test_a_leaf_falls_back_over_what_failed_before(writer: Writer) -> None:
    """D4: to the nearest recorded entry, when what failed alone was where the leaf came from."""
    writer.failures += [AppendError("/p", FULL), AppendError("/p", FULL)]
    writer.ready.set()
    first = writer.submit("a")
    await writer.taken.wait()
    second = writer.submit("b", parent="far", fallback="a")
    writer.go_on.set()
    for append in (first, second):
        with pytest.raises(AppendError):
            await writer.queue.wait(append)
    assert writer.leaf == "old"


async def test_a_leaf_falls_back_over_what_was_withdrawn_before_a_failure(writer: Writer) -> None:
    """D4, D8."""
    task = await writer.start(writer.submit("a"))
    second = writer.submit("b", parent="far", fallback="a")
    await writer.withdraw(task)
    writer.failures.append(AppendError("/p", FULL))
    writer.let_go()
    with pytest.raises(AppendError):
        await writer.queue.wait(second)
    assert writer.leaf == "old"


async def test_a_leaf_falls_back_over_what_failed_before_it_was_withdrawn(writer: Writer) -> None:
    """D4, D8."""
    behind: list[PendingAppend] = []
    await writer.take_and_fail(
        writer.submit("a"), lambda: behind.append(writer.submit("b", parent="far", fallback="a"))
    )
    await writer.withdraw(await writer.start(behind[0]))
    assert writer.leaf == "old"


async def test_an_id_that_was_withdrawn_can_be_used_again(writer: Writer) -> None:
    """D4: what is appended on the second hangs on it, what was queued behind the first does not."""
    task = await writer.start(writer.submit("a"))
    appends = [writer.submit("b", parent="a", fallback="a")]
    await writer.withdraw(task)
    appends += [writer.submit("a", parent="b", fallback="b"), writer.submit("c", parent="a", fallback="a")]
    writer.let_go()
    await asyncio.gather(*map(writer.queue.wait, appends))
    assert (writer.parents, writer.leaf) == ({"b": "old", "a": "b", "c": "a"}, "c")


async def test_a_leaf_on_an_id_that_is_used_again_stays_there(writer: Writer) -> None:
    """D4: whatever else is withdrawn."""
    tasks = [await writer.start(writer.submit("a"))]
    tasks += [await writer.start(writer.submit("z", parent="far", fallback="far"), AbortController().signal)]
    writer.controller.abort()
    await turns()
    writer.submit("a")
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert writer.leaf == "a"
    writer.let_go()
    await writer.queue.drain()
    assert writer.parents == {"a": "old"}


async def test_an_id_that_failed_can_be_used_again(writer: Writer) -> None:
    """D4: at once, while another append keeps the writer at work."""
    await writer.take_and_fail(writer.submit("a"), lambda: writer.submit("z", parent="far", fallback="far"))
    appends = [writer.submit("a"), writer.submit("c", parent="a", fallback="a")]
    writer.ready.set()
    await asyncio.gather(*map(writer.queue.wait, appends))
    assert (writer.parents, writer.leaf) == ({"z": "far", "a": "old", "c": "a"}, "c")
