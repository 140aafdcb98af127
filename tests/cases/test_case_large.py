"""Cases 09, 30, 31 and 32: long lines, deep chains and many branches, made here."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from sessiontree import SessionManager, list_sessions

Row = tuple[str, str | None, dict[str, Any]]
WriteChain = Callable[[Iterable[Row]], Path]

MEBIBYTE = 1 << 20


def chain(length: int) -> Iterator[Row]:
    """Questions and answers, `n00000` to the last."""
    parent = None
    for number in range(length):
        entry_id = f"n{number:05}"
        role = "assistant" if number % 2 else "user"
        yield entry_id, parent, {"role": role, "content": f"turn {number}"}
        parent = entry_id


async def test_a_line_of_6_mebibytes_costs_a_small_multiple_of_itself(write_chain: WriteChain) -> None:
    """F-88, D2: an open and a list keep no body in memory."""
    call = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {}}
    block = {"type": "text", "text": "x" * (6 * MEBIBYTE)}
    result = {
        "role": "toolResult",
        "toolCallId": "t1",
        "toolName": "bash",
        "content": [block],
        "isError": False,
    }
    path = write_chain(
        [
            ("u1", None, {"role": "user", "content": "dump all of it"}),
            ("a1", "u1", {"role": "assistant", "content": [call], "provider": "acme", "model": "m-1"}),
            ("r1", "a1", result),
            (
                "a2",
                "r1",
                {"role": "assistant", "content": "that was long", "provider": "acme", "model": "m-1"},
            ),
        ]
    )
    del block, result
    tracemalloc.start()
    try:
        async with await SessionManager.open(path) as session:
            assert list(session.path_ids()) == ["u1", "a1", "r1", "a2"]
            (info,) = await list_sessions(path.parent)
            assert info.message_count == 4
            entry: Any = await session.get_entry("r1")
            assert len(entry.message["content"][0]["text"]) == 6 * MEBIBYTE
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 6 * 6 * MEBIBYTE


async def test_a_chain_of_3000_entries_needs_no_recursion(write_chain: WriteChain) -> None:
    """T-24, T-29."""
    path = write_chain(chain(3000))
    async with await SessionManager.open(path) as session:
        (root,) = await session.get_tree()
        depth, node = 1, root
        while node.children:
            (node,) = node.children
            depth += 1
        assert (depth, root.entry.id, node.entry.id) == (3000, "n00000", "n02999")
        assert len(await session.get_branch()) == 3000
        assert len((await session.build_session_context()).messages) == 3000
        fork = Path(str(await session.create_branched_session("n02999")))
        await session.append_label_change("n02999", "bottom")
        assert session.entry_count == 3001
    async with await SessionManager.open(fork) as session:
        assert session.get_label("n02999") == "bottom"
        assert len(session.path_ids("n02999")) == 3000


async def test_a_deep_tree_can_be_compared_and_printed(write_chain: WriteChain) -> None:
    """Nothing recurses over the nodes of a tree, Python's own operators neither."""
    path = write_chain(chain(3000))
    async with await SessionManager.open(path) as session:
        (one,) = await session.get_tree()
        (other,) = await session.get_tree()
        assert isinstance(one == other, bool)
        assert "n00000" in repr(one)
        assert len(repr(one)) < 10_000


async def test_concurrent_appends_to_a_long_chain_stay_one_chain(write_chain: WriteChain) -> None:
    """T-10, D4: in the order of the calls."""
    path = write_chain(chain(10_000))
    async with await SessionManager.open(path, durability="os") as session:
        calls = [session.append_message({"role": "user", "content": f"more {number}"}) for number in range(200)]
        new = await asyncio.gather(*calls)
        assert session.leaf_id == new[-1]
        assert list(session.path_ids())[-201:] == ["n09999", *new]
    async with await SessionManager.open(path) as session:
        assert (session.entry_count, session.report.faults) == (10_200, [])
        assert list(session.path_ids())[-201:] == ["n09999", *new]
        assert len((await session.build_session_context()).messages) == 10_200


def fan(depth: int, tips: int) -> Iterator[Row]:
    """A chain with many children under its end."""
    yield from chain(depth)
    for number in range(tips):
        yield f"t{number:04}", f"n{depth - 1:05}", {"role": "user", "content": f"way {number}"}


async def test_800_branches_of_one_entry_stay_in_order(write_chain: WriteChain) -> None:
    """T-25, T-28."""
    path = write_chain(fan(1500, 800))
    tips = [f"t{number:04}" for number in range(800)]
    async with await SessionManager.open(path) as session:
        assert (session.entry_count, session.root_ids, session.leaf_id) == (2300, ["n00000"], "t0799")
        assert session.child_ids("n01499") == tips
        (node,) = await session.get_tree()
        while len(node.children) == 1:
            (node,) = node.children
        assert [child.entry.id for child in node.children] == tips
        assert all(len(session.path_ids(tip)) == 1501 for tip in tips)
    (info,) = await list_sessions(path.parent)
    assert (info.message_count, info.branch_count) == (2300, 800)
