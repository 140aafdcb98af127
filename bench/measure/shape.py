"""What walks the whole tree: `path_ids` of the leaf and `get_tree`."""

from __future__ import annotations

from time import perf_counter

from bench.figures import Figures
from sessiontree import SessionManager


async def path_and_tree(path: str) -> Figures:
    """Figures: `path_ids` and `get_tree` in seconds, `depth`, `nodes`."""
    async with await SessionManager.open(path) as session:
        started = perf_counter()
        depth = len(session.path_ids())
        path_ids = perf_counter() - started
        started = perf_counter()
        waiting = list(await session.get_tree())
        get_tree = perf_counter() - started
        nodes = 0
        while waiting:
            node = waiting.pop()
            nodes += 1
            waiting.extend(node.children)
        assert nodes == session.entry_count
        return {"path_ids": path_ids, "get_tree": get_tree, "depth": depth, "nodes": nodes}


async def tree_and_children(path: str, parent_id: str) -> Figures:
    """Figures: `open`, `get_tree`, `child_ids` and `get_children` (of `parent_id`) in seconds."""
    started = perf_counter()
    async with await SessionManager.open(path) as session:
        opened = perf_counter()
        tree = await session.get_tree()
        built = perf_counter()
        ids = session.child_ids(parent_id)
        listed = perf_counter()
        children = await session.get_children(parent_id)
        loaded = perf_counter()
        assert len(tree) == 1 and len(ids) == len(children)
    return {
        "open": opened - started,
        "get_tree": built - opened,
        "child_ids": listed - built,
        "get_children": loaded - listed,
    }
