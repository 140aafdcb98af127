"""A branch into a new file that is aborted or cancelled at any of its steps: the file is there, or it is not."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sessiontree import AbortController, AbortError, AbortSignal, AgentSession, BranchResult, Hooks, SessionManager
from sessiontree.commands.session_log import SessionLog
from sessiontree.commands.session_opening import SessionSettings

Make = Callable[..., Awaitable[SessionManager]]
Say = Callable[..., Awaitable[None]]
Walk = Callable[..., Awaitable[tuple[Any, bool]]]
Stop = Callable[[AbortController, "asyncio.Task[Any]"], object]


async def turns(number: int = 3) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


def files(session: SessionManager) -> dict[Path, bytes]:
    """What stands beside the session's file, with it."""
    if session.session_file is None:
        return {}
    return {path: path.read_bytes() for path in Path(session.session_file).parent.iterdir()}


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


@pytest.fixture
def slow_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    """The new file takes a few turns to be opened, as a large one would."""
    open_log = SessionSettings.open_log

    async def slowly(settings: SessionSettings, path: Path, signal: AbortSignal | None = None) -> SessionLog:
        await turns()
        return await open_log(settings, path, signal)

    monkeypatch.setattr(SessionSettings, "open_log", slowly)


@pytest.mark.usefixtures("slow_opening")
@pytest.mark.parametrize(("entry_id", "kept"), [("u1", []), ("u2", ["u1", "a1"])], ids=["root", "other"])
async def test_stopped_at_any_step_the_session_has_moved_or_nothing_has_changed(
    make: Make,
    say: Say,
    walk: Walk,
    hooks_that_note: Callable[..., Hooks],
    entry_id: str,
    kept: list[str],
    stop: Stop,
    way: str,
) -> None:
    """N-73, N-74, N-76, D8, T-69: a new file is whole, switched to and told, else there is none, not even a part."""
    seen: set[bool] = set()
    for step in count():
        session, told, controller = await make(), list[Any](), AbortController()
        await say(session, "u1", "a1", "u2", "a2")
        await session.append_label_change("a1", "mark")
        await session.get_entries()  # the file is open for reading, and stays so
        agent = AgentSession(session, hooks=hooks_that_note("branch", told))
        session_id, path, leaf_id = session.session_id, session.session_file, session.leaf_id
        before, descriptors = files(session), open_descriptors()
        flow = agent.branch(entry_id, signal=controller.signal)
        outcome, reached = await walk(flow, step, partial(stop, controller))
        moved = session.session_id != session_id
        if moved:
            labels = [] if not kept else [str(session.leaf_id)]
            assert session.path_ids() == session.entry_ids() == [*kept, *labels]
            assert session.labels == ({"a1": "mark"} if kept else {})
            assert [event.previous_session_file for event in told] == [path] * 2
            new = {Path(str(session.session_file))} if path is not None and kept else set()
            after = files(session)
            assert after.keys() - before.keys() == new
            assert before.items() <= after.items()
            for file in new:
                async with await SessionManager.open(file, read_only=True) as again:
                    assert (again.session_id, again.path_ids()) == (session.session_id, session.path_ids())
        else:
            assert (session.session_file, session.leaf_id, files(session), told) == (path, leaf_id, before, [])
            assert open_descriptors() == descriptors
        if reached and "cancel" in way:
            assert isinstance(outcome, asyncio.CancelledError)
        elif moved:
            assert outcome == BranchResult(f"text of {entry_id}")
        else:
            assert isinstance(outcome, AbortError)
            assert outcome.reason == "enough"
        await say(session, "u9")
        assert not (await agent.branch("u9")).cancelled
        await session.close()
        seen.add(moved)
        if not reached:
            break
    assert seen == {True, False}
    assert step > 6


async def test_while_the_new_file_is_made_a_branch_can_be_stopped(
    make_file: Make, say: Say, monkeypatch: pytest.MonkeyPatch, stop: Stop, way: str
) -> None:
    """N-74, D8: nothing is left of the file, though its copy was begun."""
    session, controller, loop = await make_file(), AbortController(), asyncio.get_running_loop()
    await say(session, "u1", "a1", "u2")
    before = files(session)
    task: asyncio.Task[Any] = asyncio.ensure_future(AgentSession(session).branch("u2", signal=controller.signal))

    async def stop_it() -> None:
        stop(controller, task)

    def make_directory(path: Path) -> None:
        asyncio.run_coroutine_threadsafe(stop_it(), loop).result(20)

    monkeypatch.setattr("sessiontree.eventstore.session_file.make_directory", make_directory)
    with pytest.raises(AbortError if way == "signal" else asyncio.CancelledError):
        await task
    assert files(session) == before


@pytest.mark.parametrize("entry_id", ["u1", "u2"])
@pytest.mark.parametrize("way", ["cancel", "signal"], indirect=True)
async def test_while_it_waits_for_the_appends_before_it_a_branch_can_be_stopped(
    make_file: Make, say: Say, disk: Any, entry_id: str, stop: Stop
) -> None:
    """N-72, D8: at once, however long the writer takes; what was handed over is recorded where it belongs."""
    session, controller = await make_file(), AbortController()
    await say(session, "u1", "a1", "u2")
    before = files(session).keys()
    disk.hold()
    saying = asyncio.ensure_future(say(session, "a2"))
    await disk.holds()
    task = asyncio.ensure_future(AgentSession(session).branch(entry_id, signal=controller.signal))
    await turns(20)
    stop(controller, task)
    await turns(20)
    ended = task.done()
    disk.go_on.set()
    await asyncio.gather(task, return_exceptions=True)
    await saying
    assert ended
    assert (session.path_ids(), files(session).keys()) == (["u1", "a1", "u2", "a2"], before)
