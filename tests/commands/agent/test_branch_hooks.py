"""The hooks around a branch, and the context that one of them may keep (N-71, N-76, N-77)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import (
    AbortController,
    AbortError,
    AgentSession,
    AppendError,
    BranchResult,
    HookFault,
    Hooks,
    SessionBeforeBranchResult,
    SessionManager,
)

Make = Callable[..., Awaitable[SessionManager]]
Say = Callable[..., Awaitable[None]]

CANCEL = SessionBeforeBranchResult(cancel=True)
KEEP = SessionBeforeBranchResult(skip_conversation_restore=True)


@pytest.fixture
async def spoken(session: SessionManager, say: Say) -> SessionManager:
    """A session of two turns."""
    await say(session, "u1", "a1", "u2", "a2")
    return session


async def texts(agent: AgentSession) -> list[str]:
    """The messages of the context."""
    contents = [message["content"] for message in (await agent.get_context()).messages]
    return [content if isinstance(content, str) else content[0]["text"] for content in contents]


ALL = [f"text of {entry_id}" for entry_id in ("u1", "a1", "u2", "a2")]


@pytest.mark.parametrize(("entry_id", "kept"), [("u1", []), ("u2", ["u1", "a1"])])
async def test_hooks_are_asked_before_and_told_after_a_branch(
    entry_id: str, kept: list[str], spoken: SessionManager
) -> None:
    """N-71, N-76: with the entry, then with the file that was left, once the session has moved."""
    seen: list[Any] = []
    hooks = Hooks()
    hooks.on("session_before_branch", lambda event: seen.append((event.entry_id, len(spoken.entry_ids()))))
    hooks.on("session_branch", lambda event: seen.append((event.previous_session_file, spoken.entry_ids())))
    old = spoken.session_file
    await AgentSession(spoken, hooks=hooks).branch(entry_id)
    assert seen == [(entry_id, 4), (old, kept)]


@pytest.mark.parametrize("entry_id", ["u1", "u2"])
@pytest.mark.parametrize("answer", [CANCEL, {"cancel": True}])
async def test_a_hook_can_cancel(answer: object, entry_id: str, spoken: SessionManager) -> None:
    """X-120, N-71: nothing has changed, and the text is returned all the same."""
    told: list[object] = []
    hooks = Hooks()
    hooks.on("session_before_branch", lambda _event: answer)
    hooks.on("session_branch", told.append)
    before = (spoken.session_id, spoken.session_file, spoken.leaf_id)
    agent = AgentSession(spoken, hooks=hooks)
    assert await agent.branch(entry_id) == BranchResult(f"text of {entry_id}", cancelled=True)
    assert ((spoken.session_id, spoken.session_file, spoken.leaf_id), told) == (before, [])
    assert await texts(agent) == ALL


async def test_a_hook_that_fails_is_reported_and_changes_nothing(spoken: SessionManager) -> None:
    """N-53."""
    faults: list[HookFault] = []
    hooks = Hooks()
    hooks.on_error(faults.append)

    def fail(_event: object) -> None:
        raise RuntimeError("broken")

    hooks.on("session_before_branch", lambda _event: "no")
    hooks.on("session_before_branch", fail)
    hooks.on("session_branch", fail)
    await AgentSession(spoken, hooks=hooks).branch("u2")
    assert spoken.entry_ids() == ["u1", "a1"]
    names = ["session_before_branch", "session_before_branch", "session_branch"]
    assert [fault.event for fault in faults] == names


@pytest.mark.parametrize("entry_id", ["u1", "u2"])
async def test_a_hook_can_keep_the_context_until_the_next_move(
    entry_id: str, spoken: SessionManager, say: Say
) -> None:
    """N-71, N-77: the conversation stays what it was, while the session goes on in the new file."""
    hooks = Hooks()
    hooks.on("session_before_branch", lambda _event: KEEP)
    agent = AgentSession(spoken, hooks=hooks)
    await agent.branch(entry_id)
    for _ in range(2):
        assert await texts(agent) == ALL
    restored = [] if entry_id == "u1" else ALL[:2]
    assert len((await spoken.build_session_context()).messages) == len(restored)
    await say(spoken, "u3")
    assert await texts(agent) == [*restored, "text of u3"]


@pytest.mark.parametrize("answer", [None, {}, {"cancel": True, "skip_conversation_restore": True}])
async def test_a_context_that_nobody_keeps_is_the_sessions(answer: object, spoken: SessionManager) -> None:
    """N-71, N-77: a branch that is cancelled keeps nothing either."""
    hooks = Hooks()
    remove = hooks.on("session_before_branch", lambda _event: answer)
    agent = AgentSession(spoken, hooks=hooks)
    if (await agent.branch("u2")).cancelled:
        remove()
        await agent.branch("u2")
    assert await texts(agent) == ALL[:2]


async def test_what_a_hook_appends_after_the_branch_ends_a_kept_context(spoken: SessionManager, say: Say) -> None:
    """N-71, N-77: it is the next move."""
    hooks = Hooks()
    hooks.on("session_before_branch", lambda _event: KEEP)
    hooks.on("session_branch", lambda _event: say(spoken, "u3"))
    agent = AgentSession(spoken, hooks=hooks)
    await agent.branch("u2")
    assert await texts(agent) == [*ALL[:2], "text of u3"]


@pytest.mark.parametrize("entry_id", ["u1", "u2"])
@pytest.mark.parametrize("way", ["before", "by a hook", "by closing the agent", "by a cancellation"])
async def test_a_branch_that_is_ended_before_its_file_is_made_changes_nothing(
    way: str, entry_id: str, spoken: SessionManager
) -> None:
    """N-71, D8: it is raised, and the next one works."""
    told: list[object] = []
    hooks = Hooks()
    controller = AbortController()
    agent = AgentSession(spoken, hooks=hooks)
    before = (spoken.session_id, spoken.session_file, spoken.leaf_id)

    async def end(_event: object) -> None:
        if way == "by a hook":
            controller.abort("enough")
        elif way == "by closing the agent":
            await agent.close()
        elif way == "by a cancellation":
            branching.cancel()
            await asyncio.Event().wait()

    remove = hooks.on("session_before_branch", end)
    hooks.on("session_branch", told.append)
    if way == "before":
        controller.abort()
    branching = asyncio.ensure_future(agent.branch(entry_id, signal=controller.signal))
    with pytest.raises(asyncio.CancelledError if way == "by a cancellation" else AbortError):
        await branching
    assert ((spoken.session_id, spoken.session_file, spoken.leaf_id), told) == (before, [])
    remove()
    await agent.branch(entry_id)
    assert len(told) == 1


@pytest.mark.parametrize("entry_id", ["u1", "u2"])
async def test_once_the_session_has_moved_the_hooks_are_told_before_a_cancellation(
    entry_id: str, spoken: SessionManager
) -> None:
    """N-76, D8: all of them."""
    begun, go_on, told = asyncio.Event(), asyncio.Event(), list[object]()
    hooks = Hooks()

    @hooks.on("session_branch")
    async def wait(_event: object) -> None:
        begun.set()
        await go_on.wait()

    hooks.on("session_branch", told.append)
    branching = asyncio.ensure_future(AgentSession(spoken, hooks=hooks).branch(entry_id))
    async with asyncio.timeout(20):
        await begun.wait()
    branching.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await branching
    assert len(told) == 1
    assert spoken.entry_ids() == (["u1", "a1"] if entry_id == "u2" else [])


async def test_a_root_branch_that_is_cancelled_while_it_waits_for_the_writer_has_not_begun(
    make_file: Make, say: Say, disk: Any
) -> None:
    """N-72, D8: what was handed over is recorded, the session has not moved, and nobody was told."""
    session = await make_file()
    await say(session, "u1")
    old = str(session.session_file)
    told: list[Any] = []
    hooks = Hooks()
    hooks.on("session_branch", told.append)
    disk.hold()
    saying = asyncio.ensure_future(say(session, "a1"))
    await disk.holds()
    branching = asyncio.ensure_future(AgentSession(session, hooks=hooks).branch("u1"))
    for _ in range(20):
        await asyncio.sleep(0)
    branching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await branching
    disk.go_on.set()
    await saying
    assert (told, session.session_file, session.leaf_id) == ([], old, "a1")
    async with await SessionManager.open(old) as again:
        assert again.entry_ids() == ["u1", "a1"]


async def test_a_file_that_cannot_be_made_leaves_the_session_where_it_is(
    make_file: Make, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """N-74, D7: the hooks are not told, and it can be tried again."""
    session = await make_file()
    await say(session, "u1", "a1", "u2")
    old = session.session_file
    told: list[object] = []
    hooks = Hooks()
    hooks.on("session_branch", told.append)
    agent = AgentSession(session, hooks=hooks)

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("sessiontree.eventstore.session_file._publish", refuse)
        with pytest.raises(AppendError, match="No space left"):
            await agent.branch("u2")
    assert (session.session_file, session.leaf_id, told) == (old, "u2", [])
    await agent.branch("u2")
    assert len(told) == 1
