"""The hook `session_append`: hears of each recorded entry, once and in order, and can do no harm (T-16, X-30)."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AgentSession,
    AppendError,
    HookFault,
    Hooks,
    SessionAppendEvent,
    SessionManager,
    SessionService,
)

Make = Callable[..., Awaitable[SessionManager]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def append(session: Any, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


class Listener:
    """A handler that keeps the ids of the entries it hears of."""

    def __init__(self) -> None:
        self.hooks = Hooks()
        self.heard: list[str] = []
        self.hooks.on("session_append", self)

    def __call__(self, event: SessionAppendEvent) -> None:
        self.heard.append(event.entry.id)


@pytest.fixture
def listener() -> Listener:
    return Listener()


async def test_each_entry_is_heard_once_and_in_order(session: SessionManager, listener: Listener) -> None:
    """X-30: of all cursors, single ones and batches, of every type."""
    agent = AgentSession(session, hooks=listener.hooks)
    await append(session, "a")
    many = await session.append_many([user("b"), user("c")])
    cursors = [session, session.cursor("a"), session.cursor("a")]
    await asyncio.gather(
        *(append(cursor, *(f"{n}{name}" for n in range(5))) for name, cursor in zip("xyz", cursors, strict=True))
    )
    label = await session.append_label_change("a", "mark")
    summary = await session.branch_with_summary("a", "what was left")
    await agent.close()
    assert listener.heard == session.entry_ids()
    assert {"a", *many, label, summary} < set(listener.heard)
    assert len(listener.heard) == 20


async def test_the_entry_is_as_it_was_recorded(session: SessionManager) -> None:
    """X-30: with parent, time and body; a copy of what is stored."""
    events: list[SessionAppendEvent] = []
    hooks = Hooks()
    hooks.on("session_append", events.append)
    agent = AgentSession(session, hooks=hooks)
    await append(session, "a", "b")
    await agent.close()
    assert [event.entry for event in events] == await session.get_entries()
    assert (events[1].type, events[1].entry.parent_id) == ("session_append", "a")


async def test_a_failing_handler_is_reported_and_harmless(session: SessionManager, listener: Listener) -> None:
    """X-30, N-53: the append stands, the next handler and the next entry are served."""
    hooks, faults = Hooks(handler_seconds=0.02), list[HookFault]()

    def fail(event: SessionAppendEvent) -> None:
        raise ValueError(f"no {event.entry.id}")

    async def hang(event: SessionAppendEvent) -> None:
        await asyncio.Event().wait()

    for handler in (fail, hang, listener):
        hooks.on("session_append", handler)
    hooks.on_error(faults.append)
    agent = AgentSession(session, hooks=hooks)
    await append(session, "a", "b")
    await agent.close()
    assert (session.path_ids(), listener.heard) == (["a", "b"], ["a", "b"])
    assert [(fault.event, type(fault.error)) for fault in faults] == [
        ("session_append", ValueError),
        ("session_append", TimeoutError),
    ] * 2
    assert [fault.message for fault in faults[::2]] == ["no a", "no b"]


async def test_no_append_waits_for_a_handler(session: SessionManager) -> None:
    """X-30: handlers are called one after the other, beside the appends."""
    hooks, go_on, heard = Hooks(), asyncio.Event(), list[str]()

    async def slow(event: SessionAppendEvent) -> None:
        await go_on.wait()
        heard.append(event.entry.id)

    hooks.on("session_append", slow)
    agent = AgentSession(session, hooks=hooks)
    await append(session, "a", "b", "c")
    closing = asyncio.ensure_future(agent.close())
    await asyncio.sleep(0)
    assert (heard, closing.done()) == ([], False)
    go_on.set()
    await closing
    assert heard == ["a", "b", "c"]


async def test_a_handler_may_append(session: SessionManager) -> None:
    """X-30: what it appends is heard of after that."""
    hooks, heard = Hooks(), list[str]()

    async def answer(event: SessionAppendEvent) -> None:
        heard.append(event.entry.id)
        if event.entry.id == "a":
            await append(session, "b")

    hooks.on("session_append", answer)
    agent = AgentSession(session, hooks=hooks)
    await append(session, "a")
    await agent.close()
    assert heard == session.path_ids() == ["a", "b"]


async def test_who_registers_later_hears_what_is_recorded_later(session: SessionManager) -> None:
    """N-50: and who is removed hears no more."""
    listener, hooks = Listener(), Hooks()
    agent = AgentSession(session, hooks=hooks)
    await append(session, "a")
    remove = hooks.on("session_append", listener)
    await append(session, "b")
    await agent.close()
    remove()
    await append(session, "c")
    await agent.close()
    assert listener.heard == ["b"]


@pytest.mark.parametrize("way", ["new_session", "create_branched_session"])
async def test_the_entries_of_the_next_file_are_heard_of_too(
    session: SessionManager, listener: Listener, way: str
) -> None:
    """T-60, T-80: what is copied into it is not appended."""
    agent = AgentSession(session, hooks=listener.hooks)
    await append(session, "a", "b")
    await (session.new_session() if way == "new_session" else session.create_branched_session("b"))
    await append(session, "x")
    await agent.close()
    assert listener.heard == ["a", "b", "x"]


async def test_what_is_not_recorded_by_the_session_is_not_heard_of(
    make_file: Make, listener: Listener, disk: Any
) -> None:
    """D4: a failed append; the entries of other programs."""
    session = await make_file()
    agent = AgentSession(session, hooks=listener.hooks)
    await append(session, "a")
    disk.left = 0
    with pytest.raises(AppendError):
        await append(session, "b")
    disk.left = 1 << 60
    path = Path(str(session.session_file))
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[1].replace(b'"a"', b'"z"'))
    await append(session, "c")
    await agent.close()
    assert session.entry_ids() == ["a", "z", "c"]
    assert listener.heard == ["a", "c"]


async def test_what_is_in_flight_when_the_session_is_closed_is_heard_of(
    make_file: Make, listener: Listener, disk: Any
) -> None:
    """X-30: closing records it, closing the agent session after that tells of it."""
    session = await make_file()
    agent = AgentSession(session, hooks=listener.hooks)
    disk.hold()
    appends = [asyncio.ensure_future(append(session, name)) for name in "abc"]
    await disk.holds()
    closing = asyncio.ensure_future(session.close())
    disk.go_on.set()
    await asyncio.gather(closing, *appends)
    await agent.close()
    assert listener.heard == ["a", "b", "c"]


async def test_what_is_in_flight_when_the_agent_session_is_closed_is_heard_of(
    make_file: Make, listener: Listener, disk: Any
) -> None:
    """X-30: `close` returns when the hooks have been told of every append."""
    session = await make_file()
    agent = AgentSession(session, hooks=listener.hooks)
    disk.hold()
    appends = [asyncio.ensure_future(append(session, name)) for name in "abc"]
    await disk.holds()
    closing = asyncio.ensure_future(agent.close())
    await asyncio.wait([closing], timeout=0.2)
    was_early = closing.done()
    disk.go_on.set()
    await asyncio.gather(closing, *appends)
    heard = [*listener.heard]
    await session.close()
    assert (was_early, heard) == (False, ["a", "b", "c"])


async def test_a_close_that_is_cancelled_drops_nothing(session: SessionManager) -> None:
    """X-30, D8: the telling goes on, and can be waited for again."""
    hooks, go_on, heard = Hooks(), asyncio.Event(), list[str]()

    async def slow(event: SessionAppendEvent) -> None:
        await go_on.wait()
        heard.append(event.entry.id)

    hooks.on("session_append", slow)
    agent = AgentSession(session, hooks=hooks)
    await append(session, "a", "b", "c")
    closing = asyncio.ensure_future(agent.close())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.wait([closing])
    go_on.set()
    await agent.close()
    assert (closing.cancelled(), heard) == (True, ["a", "b", "c"])


async def test_what_was_recorded_is_heard_of_though_the_agent_session_is_dropped(
    session: SessionManager, listener: Listener
) -> None:
    """X-30: from then on nothing is."""
    agent = AgentSession(session, hooks=listener.hooks)
    await append(session, "a", "b")
    del agent
    gc.collect()
    await append(session, "c")
    for _ in range(20):
        await asyncio.sleep(0)
    assert listener.heard == ["a", "b"]


async def test_a_service_that_is_closed_leaves_the_hook_nothing_to_miss(
    service: SessionService, path: Path, listener: Listener
) -> None:
    """X-30: with appends in flight; the agent session is closed last."""
    session = await service.open(path)
    agent = AgentSession(session, hooks=listener.hooks)
    appends = [asyncio.ensure_future(append(session, name)) for name in "bcd"]
    await asyncio.sleep(0)
    await service.close()
    await asyncio.gather(*appends)
    await agent.close()
    assert listener.heard == ["b", "c", "d"]
