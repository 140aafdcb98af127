"""One table for all cases: what a session answers about each input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sessiontree import SessionManager
from sessiontree.app.cli import main

CHECKS: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "checks.json").read_text("utf-8"))
Pairs = Callable[[Any], list[list[str]]]


async def nodes_by_id(session: SessionManager) -> dict[str, Any]:
    """All nodes of the tree; fails if an entry is in it twice."""
    nodes: dict[str, Any] = {}
    stack = list(await session.get_tree())
    while stack:
        node = stack.pop()
        assert node.entry.id not in nodes
        nodes[node.entry.id] = node
        stack.extend(node.children)
    return nodes


async def observe(session: SessionManager, checks: dict[str, Any], pairs: Pairs) -> dict[str, Any]:
    context = await session.build_session_context()
    nodes = await nodes_by_id(session)
    asked = checks.get("children", {})
    return {
        "ids": [entry.id for entry in await session.get_entries()],
        "skipped_lines": session.report.skipped_lines,
        "orphans": session.report.orphans,
        "duplicates": session.report.duplicates,
        "leaf": session.leaf_id,
        "roots": list(session.root_ids),
        "path": list(session.path_ids()),
        "children": {parent: [child.entry.id for child in nodes[parent].children] for parent in asked},
        "labels": dict(session.labels),
        "visible_labels": {key: node.label for key, node in nodes.items() if node.label is not None},
        "context": pairs(context),
        "at": {leaf: pairs(await session.build_session_context(leaf)) for leaf in checks.get("at", {})},
        "header": session.session_id,
        "name": session.session_name,
        "model": context.models.get("default", "").split("/"),
        "thinking": context.thinking_level,
    }


@pytest.mark.parametrize("name", CHECKS)
async def test_an_input_reads_as_the_table_says(
    name: str, copy_case: Callable[[str], Path], context_pairs: Pairs
) -> None:
    checks = {key: value for key, value in CHECKS[name].items() if key not in {"title", "faults"}}
    async with await SessionManager.open(copy_case(name[:2])) as session:
        seen = await observe(session, checks, context_pairs)
    assert {key: seen[key] for key in checks} == checks


@pytest.mark.parametrize("name", CHECKS)
def test_verify_names_every_fault_of_an_input_and_no_other(name: str, copy_case: Callable[[str], Path]) -> None:
    """F-81..F-87: by line, kind and entry; the exit status says whether there are any."""
    result = CliRunner().invoke(main, ["verify", "--json", str(copy_case(name[:2]))])
    faults = [[fault["line"], fault["kind"], fault["id"]] for fault in json.loads(result.stdout)["faults"]]
    assert faults == CHECKS[name]["faults"]
    assert result.exit_code == (1 if faults else 0)


@pytest.mark.parametrize("name", CHECKS)
async def test_every_entry_is_in_the_tree_and_on_its_own_path_once(
    name: str, copy_case: Callable[[str], Path]
) -> None:
    """T-23, T-27, T-29: nothing in the log is unreachable, and no path holds an id twice."""
    async with await SessionManager.open(copy_case(name[:2])) as session:
        ids = [entry.id for entry in await session.get_entries()]
        assert sorted(await nodes_by_id(session)) == sorted(ids)
        assert session.entry_count == len(ids) == len(set(ids))
        assert [node.entry.id for node in await session.get_tree()] == list(session.root_ids)
        for entry_id in ids:
            path = list(session.path_ids(entry_id))
            assert path[-1] == entry_id
            assert path[0] in session.root_ids
            assert len(path) == len(set(path))


@pytest.mark.parametrize("name", CHECKS)
async def test_reading_leaves_bytes_times_and_directory_alone(name: str, copy_case: Callable[[str], Path]) -> None:
    """D5, F-105: an open reads only, whatever is wrong with the file."""
    path = copy_case(name[:2])
    before = path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())
    async with await SessionManager.open(path) as session:
        await session.get_tree()
        await session.build_session_context()
        await session.flush()
    assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())) == before
