"""Flush and close, and who may use a session at all (F-115, design D4)."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionClosedError, SessionLockedError, SessionManager, SessionTreeError

Make = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def chain(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


async def branch(session: SessionManager) -> None:
    session.branch("a")


async def reset(session: SessionManager) -> None:
    session.reset_leaf()


USES: dict[str, Callable[[SessionManager], Awaitable[Any]]] = {
    "append_message": lambda session: session.append_message(user("x")),
    "append_many": lambda session: session.append_many([user("x")]),
    "append_label_change": lambda session: session.append_label_change("a", "x"),
    "branch_with_summary": lambda session: session.branch_with_summary("a", "x"),
    "branch": branch,
    "reset_leaf": reset,
    "get_entry": lambda session: session.get_entry("a"),
    "get_entry of an unknown id": lambda session: session.get_entry("nope"),
    "get_entries": lambda session: session.get_entries(),
    "get_branch": lambda session: session.get_branch(),
    "get_children": lambda session: session.get_children("a"),
    "get_tree": lambda session: session.get_tree(),
    "build_session_context": lambda session: session.build_session_context(),
    "new_session": lambda session: session.new_session(),
    "create_branched_session": lambda session: session.create_branched_session("a"),
    "follow": lambda session: anext(session.follow()),
    "refresh": lambda session: session.refresh(),
    "migrate": lambda session: session.migrate(),
    "flush": lambda session: session.flush(),
}


@pytest.mark.parametrize("name", USES)
async def test_a_closed_session_refuses_every_use(session: SessionManager, name: str) -> None:
    """D4: cursors too; what is resident can still be looked at."""
    await chain(session, "a")
    await session.close()
    with pytest.raises(SessionClosedError) as caught:
        await USES[name](session)
    assert isinstance(caught.value, SessionTreeError)
    assert (session.path_ids(), session.leaf_id) == (["a"], "a")


async def test_the_cursors_of_a_closed_session_are_closed(session: SessionManager) -> None:
    await chain(session, "a")
    cursor = session.cursor("a")
    await session.close()
    with pytest.raises(SessionClosedError):
        await cursor.append_message(user("x"))
    with pytest.raises(SessionClosedError):
        await cursor.build_session_context()


@pytest.mark.parametrize("name", USES)
async def test_a_session_belongs_to_its_event_loop(session: SessionManager, name: str) -> None:
    """D4: another loop is told so, and changes nothing."""
    await chain(session, "a")

    async def use() -> None:
        with pytest.raises(SessionClosedError, match="loop"):
            await USES[name](session)

    await asyncio.to_thread(asyncio.run, use())
    assert (session.leaf_id, session.entry_ids()) == ("a", ["a"])
    await chain(session, "b")


async def test_closing_twice_is_closing_once(session: SessionManager) -> None:
    """F-115: at once, and later."""
    await chain(session, "a")
    await asyncio.gather(session.close(), session.close())
    await session.close()


async def test_a_session_is_closed_by_the_end_of_its_block(make: Make) -> None:
    session = await make()
    async with session as same:
        assert same is session
        await chain(session, "a")
    with pytest.raises(SessionClosedError):
        await chain(session, "b")
    with pytest.raises(RuntimeError, match="of the block"):
        async with await make():
            raise RuntimeError("of the block")


@pytest.mark.parametrize("durability", ["always", "os"])
async def test_what_was_handed_over_before_closing_is_recorded(
    make_file: Make, records: Records, durability: str
) -> None:
    """F-115: every caller is answered."""
    session = await make_file(durability=durability)
    appends = [asyncio.ensure_future(session.append_message(user(str(number)))) for number in range(100)]
    await asyncio.sleep(0)
    await session.close()
    assert [append.done() for append in appends] == [True] * 100
    assert [line["id"] for line in records(session)[1:]] == [append.result() for append in appends]


async def test_while_it_closes_a_session_takes_nothing_new(make_file: Make, disk: Any, records: Records) -> None:
    """D4: and a second close waits for the first."""
    session = await make_file()
    disk.hold()
    append = asyncio.ensure_future(session.append_message(user("a"), entry_id="a"))
    await disk.holds()
    closing = [asyncio.ensure_future(session.close()) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(SessionClosedError):
        await chain(session, "b")
    assert not any(close.done() for close in closing)
    disk.go_on.set()
    await asyncio.gather(*closing)
    assert await append == "a"
    assert [line["id"] for line in records(session)[1:]] == ["a"]


async def test_a_close_that_is_cancelled_goes_on_in_the_background(
    make_file: Make, disk: Any, records: Records
) -> None:
    """D4: a second call awaits the first."""
    session = await make_file()
    disk.hold()
    append = asyncio.ensure_future(session.append_message(user("a"), entry_id="a"))
    await disk.holds()
    closing = asyncio.ensure_future(session.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    disk.go_on.set()
    await session.close()
    assert (append.done(), len(records(session))) == (True, 2)
    async with await SessionManager.open(str(session.session_file)) as again:
        await chain(again, "b")


async def test_closing_lets_go_of_the_lock(make_file: Make) -> None:
    """D5: it is taken at the first append, and by one writer at a time."""
    session = await make_file()
    await chain(session, "a")
    async with await SessionManager.open(str(session.session_file)) as other:
        with pytest.raises(SessionLockedError):
            await chain(other, "b")
        assert other.leaf_id == "a"
        await session.close()
        await chain(other, "b")


async def test_a_lock_is_waited_for_as_long_as_was_asked(make_file: Make) -> None:
    """The contract of `lock_timeout`: in seconds; what is queued goes in its order."""
    holder = await make_file()
    await chain(holder, "a")
    async with await SessionManager.open(str(holder.session_file), lock_timeout=60) as session:
        appends = [asyncio.ensure_future(session.append_message(user(name), entry_id=name)) for name in "bc"]
        await asyncio.sleep(0.03)
        assert not any(append.done() for append in appends)
        await chain(holder, "x")
        await holder.close()
        assert await asyncio.gather(*appends) == ["b", "c"]
        assert session.path_ids() == ["a", "b", "c"]
        assert session.child_ids("a") == ["x", "b"]
    late = await SessionManager.open(str(holder.session_file), lock_timeout=0.02)
    async with await SessionManager.open(str(holder.session_file)) as other:
        await chain(other, "y")
        with pytest.raises(SessionLockedError):
            await chain(late, "z")
    await late.close()


async def test_flush_returns_when_everything_handed_over_is_recorded(make: Make) -> None:
    """F-115: though nobody awaited it."""
    session = await make(durability="os")
    appends = [asyncio.ensure_future(session.append_message(user(str(number)))) for number in range(20)]
    await asyncio.sleep(0)
    await session.flush()
    assert session.entry_count == 20
    assert all(append.done() for append in appends) or await asyncio.gather(*appends)


FORK = """
import asyncio, os, sys
from sessiontree import SessionClosedError, SessionLockedError, SessionManager

def refused(call):
    try:
        call()
    except SessionClosedError as error:
        return "process" in str(error)
    return False

async def main():
    async with await SessionManager.open(sys.argv[1]) as session:
        await session.append_message({"role": "user", "content": "parent"}, entry_id="p1")
        child = os.fork()
        if child == 0:
            async def other():
                await session.append_message({"role": "user", "content": "child"})
            ok = refused(lambda: session.append_message({"role": "user", "content": "child"}).send(None))
            ok = ok and refused(lambda: session.branch("a"))
            ok = ok and refused(lambda: session.get_entries().send(None))
            ok = ok and refused(lambda: asyncio.run(other()))
            async def locked():
                async with await SessionManager.open(sys.argv[1]) as mine:
                    try:
                        await mine.append_message({"role": "user", "content": "child"})
                    except SessionLockedError as error:
                        return error.pid in (None, os.getppid())
                return False
            os._exit(0 if ok and asyncio.run(locked()) else 1)
        _, status = os.waitpid(child, 0)
        await session.append_message({"role": "user", "content": "parent"}, entry_id="p2")
        sys.exit(os.waitstatus_to_exitcode(status))

asyncio.run(main())
"""


async def test_a_forked_child_is_refused_and_the_parent_keeps_its_lock(make_file: Make) -> None:
    """D4: the child's calls raise; closing its descriptors unlocks nothing."""
    session = await make_file()
    await chain(session, "a")
    await session.close()
    path = Path(str(session.session_file))
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", FORK, str(path)], capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, b""), done.stderr.decode()
    async with await SessionManager.open(path) as again:
        assert (again.path_ids(), again.report.faults) == (["a", "p1", "p2"], [])
