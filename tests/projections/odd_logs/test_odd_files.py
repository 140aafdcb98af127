"""Random odd logs in real files, read in chunks of 512 bytes: always what the naive model says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessiontree import SessionManager
from sessiontree.eventstore import jsonl_reader

Factory = Callable[..., Any]

HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p","title":"first"}\n'
# Lines that hold no entry, with the kind of their fault.
JUNK = [
    (b"", None),
    (b"   ", None),
    (b'{"type":"message"', "malformed"),
    (b"[1]", "not-object"),
    (b"null", "not-object"),
    (b'{"type":"message","message":{"role":"user"}}', "no-id"),
    (b'{"type":"session","version":3,"id":"again"}', "second-header"),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A session file to write anew for each log; files are read in chunks of 512 bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl_reader, "CHUNK", 512)
        yield tmp_path_factory.mktemp("odd") / "session.jsonl"


def faults_of(rows: list[Any], model: Any) -> list[tuple[int, str, str | None]]:
    """The faults by 1-based line: those of the model, those of junk, and parents that are no string."""
    found: list[tuple[int, str, str | None]] = []
    line_of = []
    for line, (entry, junk_kind) in enumerate(rows, 2):
        if entry is not None:
            line_of.append(line)
            if not isinstance(entry["parentId"], str | None):
                found.append((line, "bad-parent", entry["id"]))
        elif junk_kind is not None:
            found.append((line, junk_kind, None))
    found += [(line_of[index], kind, entry_id) for index, kind, entry_id in model.faults()]
    return sorted(found, key=str)


async def check_shape(session: SessionManager, model: Any) -> None:
    assert session.entry_ids() == [entry.id for entry in await session.get_entries()] == list(model.live)
    assert session.root_ids == model.children(None)
    assert session.leaf_id == (list(model.live)[-1] if model.live else None)
    for entry_id in model.live:
        assert session.path_ids(entry_id) == model.path(entry_id)
        assert [entry.id for entry in await session.get_branch(entry_id)] == model.path(entry_id)
        assert session.child_ids(entry_id) == model.children(entry_id)
        assert [entry.id for entry in await session.get_children(entry_id)] == model.children(entry_id)
        assert session.ordered_child_ids(entry_id) == model.ordered_children(entry_id)
        assert session.shape(entry_id).parent_id == model.parents[entry_id]
        assert session.get_label(entry_id) == model.labels().get(entry_id)
    labels = {target: text for target, text in model.labels().items() if target in model.live}
    assert list(session.labels.items()) == list(labels.items())
    assert session.session_name == model.name()
    assert [getattr(session.usage, name) for name in session.usage.__struct_fields__] == model.usage()
    assert session.last_model_change_role() == model.last_model_change_role(session.leaf_id)


async def check_nodes(session: SessionManager, model: Any) -> None:
    nodes = await session.get_tree()
    assert [node.entry.id for node in nodes] == model.children(None)
    met = []
    while nodes:
        node = nodes.pop()
        met.append(node.entry.id)
        assert [child.entry.id for child in node.children] == model.ordered_children(node.entry.id)
        assert node.label == model.labels().get(node.entry.id)
        nodes += node.children
    assert sorted(met) == sorted(model.live)


async def check_contexts(session: SessionManager, model: Any) -> None:
    for leaf in [None, *model.live]:
        for keep in (False, True):
            context = await session.build_session_context(leaf, keep_failed_turns=keep)
            assert (context.messages, context.open_tool_calls) == model.messages(leaf, keep_failed_turns=keep)
            expected = model.state(leaf)
            assert {name: getattr(context, name) for name in expected} == expected


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_file_of_any_log_is_read_as_the_model_reads_it(
    data: st.DataObject, odd_logs: st.SearchStrategy[Any], naive_log: Factory, path: Path
) -> None:
    """T-20..T-33, T-50, T-95, F-81..F-87, C-01..C-41, D7: lines without an entry between them change nothing."""
    entries = data.draw(odd_logs)
    rows: list[Any] = []
    text = HEADER
    for entry in entries:
        for junk, kind in data.draw(st.lists(st.sampled_from(JUNK), max_size=1)):
            rows.append((None, kind))
            text += junk + b"\n"
        rows.append((entry, None))
        text += json.dumps(entry).encode() + b"\n"
    path.write_bytes(text)
    model = naive_log(entries, title="first")

    async def check() -> None:
        async with await SessionManager.open(path) as session:
            await check_shape(session, model)
            await check_nodes(session, model)
            await check_contexts(session, model)
            faults = [(fault.line, fault.kind, fault.id) for fault in session.report.faults]
            assert [line for line, _, _ in faults] == sorted(line for line, _, _ in faults)
            assert sorted(faults, key=str) == faults_of(rows, model)

    asyncio.run(check())
    assert path.read_bytes() == text
