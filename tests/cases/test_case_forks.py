"""Cases 51 to 55 and 80: a new session from a path of another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import EntryNotFoundError, SessionManager

CopyCase = Callable[[str], Path]
Pairs = Callable[[Any], list[list[str]]]
Records = Callable[[Path], list[dict[str, Any]]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "assistant", "content": content, "provider": "acme", "model": "m-1", "stopReason": "stop"}


async def fork_at(path: Path, entry_id: str) -> Path:
    async with await SessionManager.open(path) as session:
        return Path(str(await session.create_branched_session(entry_id)))


async def test_what_hung_on_a_label_hangs_on_its_parent_in_a_fork(
    copy_case: CopyCase, context_pairs: Pairs, records: Records
) -> None:
    """T-61, T-62, T-65, T-69, T-71."""
    path = copy_case("51")
    before = path.read_bytes()
    fork = await fork_at(path, "u3")
    assert path.read_bytes() == before
    header, *entries = records(fork)
    assert header["parentSession"] == str(path)
    ids = [entry["id"] for entry in entries]
    assert [entry["parentId"] for entry in entries] == [None, *ids[:-1]]
    assert ids[:5] == ["u1", "a1", "u2", "a2", "u3"]
    assert [entry["type"] for entry in entries[5:]] == ["label", "label"]
    async with await SessionManager.open(fork) as session:
        assert (dict(session.labels), list(session.root_ids)) == ({"u1": "start", "a1": "good"}, ["u1"])
        assert session.report.faults == []
        texts = [text for _, text in context_pairs(await session.build_session_context())]
        assert texts == ["q1", "r1", "q2", "r2", "q3"]


async def test_a_fork_without_a_reply_is_on_the_disk_at_once(copy_case: CopyCase, records: Records) -> None:
    """T-67: with one header, and each entry once."""
    path = copy_case("53")
    async with await SessionManager.open(path) as session:
        fork = Path(str(await session.create_branched_session("u1")))
        assert [record["id"] for record in records(fork)][1:] == ["m1", "u1"]
        first = await session.append_message(assistant("an answer"))
        second = await session.append_message(user("thanks"))
    header, *entries = records(fork)
    assert header["type"] == "session"
    assert [entry["id"] for entry in entries] == ["m1", "u1", first, second]
    assert [entry["parentId"] for entry in entries] == [None, "m1", "u1", first]
    async with await SessionManager.open(fork) as session:
        assert session.report.faults == []


@pytest.mark.parametrize("entry_id", ["a1", "u1"])
async def test_after_a_fork_the_fork_is_the_active_file(entry_id: str, copy_case: CopyCase, records: Records) -> None:
    """F-24, T-63, T-64, T-67, T-69, T-70: at the first message too."""
    path = copy_case("54")
    before = path.read_bytes()
    async with await SessionManager.open(path) as session:
        source_id = session.session_id
        fork = Path(str(await session.create_branched_session(entry_id)))
        assert session.session_file is not None
        assert Path(session.session_file) == fork
        assert session.session_id != source_id
        new = await session.append_message(user("on the fork"))
        session_id = session.session_id
    assert path.read_bytes() == before
    header, *entries = records(fork)
    assert (header["id"], header["cwd"], header["parentSession"]) == (session_id, "/proj/demo", str(path))
    time = header["timestamp"].replace(":", "-").replace(".", "-")
    assert (fork.name, fork.parent) == (f"{time}_{session_id}.jsonl", path.parent)
    assert (entries[-1]["id"], entries[-1]["parentId"]) == (new, entry_id)


async def test_a_copy_of_the_current_position_continues_there(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """T-60, T-66: the last line of the source does not count."""
    path = copy_case("55")
    async with await SessionManager.open(path) as session:
        session.branch("a2")
        assert session.leaf_id == "a2"
        fork = await session.create_branched_session(session.leaf_id)
    async with await SessionManager.open(str(fork)) as session:
        assert session.leaf_id == "a2"
        texts = [text for _, text in context_pairs(await session.build_session_context())]
        assert texts == ["q1", "r1", "chosen", "chosen reply"]


async def test_a_copy_of_the_empty_position_is_refused(copy_case: CopyCase) -> None:
    """T-60, C-01: a new session is what starts empty."""
    path = copy_case("55")
    async with await SessionManager.open(path) as session:
        session.reset_leaf()
        assert session.leaf_id is None
        assert (await session.build_session_context()).messages == []
        with pytest.raises(EntryNotFoundError):
            await session.create_branched_session("")
        assert session.session_file is not None
        assert Path(session.session_file) == path
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("entry_id", "kept", "open_calls", "context"),
    [
        ("a1", 2, ["t1", "t2"], ["q1", "calling two"]),
        ("r1", 3, ["t2"], ["q1", "calling two[toolCall:t1]", "one"]),
    ],
)
async def test_a_fork_at_an_open_tool_call_keeps_the_call_and_names_it(
    entry_id: str,
    kept: int,
    open_calls: list[str],
    context: list[str],
    copy_case: CopyCase,
    context_pairs: Pairs,
) -> None:
    """C-40, T-61: only the context leaves it out, as a copy."""
    path = copy_case("80")
    before = path.read_bytes()
    fork = await fork_at(path, entry_id)
    assert path.read_bytes() == before
    assert fork.read_bytes().splitlines()[1:] == before.splitlines()[1 : kept + 1]
    async with await SessionManager.open(fork) as session:
        built = await session.build_session_context()
        assert [text for _, text in context_pairs(built)] == context
        assert list(built.open_tool_calls) == open_calls
        entry: Any = await session.get_entry("a1")
        assert [part["id"] for part in entry.message["content"] if "arguments" in part] == ["t1", "t2"]


async def test_an_append_behind_an_open_tool_call_keeps_the_context_whole(
    copy_case: CopyCase, context_pairs: Pairs
) -> None:
    """C-40: at `r1` the second call has no result, though the file has one elsewhere."""
    async with await SessionManager.open(copy_case("80")) as session:
        session.branch("r1")
        await session.append_message(user("never mind the second"))
        context = await session.build_session_context()
        texts = [text for _, text in context_pairs(context)]
        assert texts == ["q1", "calling two[toolCall:t1]", "one", "never mind the second"]
        assert list(context.open_tool_calls) == ["t2"]
        assert session.has_entry("r2")


@pytest.mark.parametrize("field", ['"summary":7', '"firstKeptEntryId":[]', '"tokensBefore":"many"'])
async def test_a_fork_copies_a_compaction_that_cannot_be_read(field: str, copy_case: CopyCase) -> None:
    """F-40..F-56 as settled: it is kept like an unknown type, in a fork too."""
    path = copy_case("51")
    odd = '{"type":"compaction","id":"c1","parentId":"zz","timestamp":"2026-01-05T10:00:10.000Z",' + field + "}"
    path.write_bytes(path.read_bytes() + odd.encode() + b"\n")
    fork = await fork_at(path, "c1")
    async with await SessionManager.open(fork) as session:
        assert list(session.path_ids("c1")) == ["u1", "zz", "c1"]
        assert [message["role"] for message in (await session.build_session_context("c1")).messages] == ["user"] * 2
