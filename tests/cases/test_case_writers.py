"""Case 38: two managers, then two processes, write to one file."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionLockedError, SessionManager

CopyCase = Callable[[str], Path]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def test_a_second_writer_is_told_who_holds_the_file_and_goes_on_reading(copy_case: CopyCase) -> None:
    """D5: the lock is taken at the first append and let go by `close`."""
    path = copy_case("38")
    async with await SessionManager.open(path) as b:
        async with await SessionManager.open(path) as a:
            from_a = await a.append_message(user("from A"))
            with pytest.raises(SessionLockedError, match="is being written") as caught:
                await b.append_message(user("too early"))
            assert caught.value.path.samefile(path)
            assert caught.value.pid in {None, os.getpid()}
            assert (b.leaf_id, len(await b.get_branch("a1"))) == ("a1", 2)
        from_b = await b.append_message(user("from B"))
    async with await SessionManager.open(path) as session:
        assert session.child_ids("a1") == [from_a, from_b]
        assert (session.leaf_id, session.entry_count, session.report.faults) == (from_b, 4, [])


APPEND_FIFTY = """
import asyncio, sys
from sessiontree import SessionManager

async def main():
    async with await SessionManager.open(sys.argv[1], lock_timeout=60, durability="os") as session:
        print("open", flush=True)
        sys.stdin.readline()
        for number in range(50):
            await session.append_message({"role": "user", "content": sys.argv[2] * 200_000})

asyncio.run(main())
"""


async def test_two_processes_that_wait_for_the_lock_lose_nothing(copy_case: CopyCase) -> None:
    """D5: both opened at `a1`, every line is whole, and each process's messages are a branch of their own."""
    path = copy_case("38")
    pipe = asyncio.subprocess.PIPE
    arguments = (sys.executable, "-c", APPEND_FIFTY, str(path))
    processes = [await asyncio.create_subprocess_exec(*arguments, letter, stdin=pipe, stdout=pipe) for letter in "xy"]
    for process in processes:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"open\n"
    await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    assert [process.returncode for process in processes] == [0, 0]
    async with await SessionManager.open(path) as session:
        assert (session.entry_count, session.report.faults) == (102, [])
        texts = set()
        for first in session.child_ids("a1"):
            leaf = first
            while children := session.child_ids(leaf):
                (leaf,) = children
            branch = (await session.build_session_context(leaf)).messages[2:]
            assert len(branch) == 50
            texts |= {message["content"][:1] for message in branch}
        assert texts == {"x", "y"}
