"""`create_branched_session`: a new session of one path, and the switch to it (T-60..T-72)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from sessiontree import (
    AbortController,
    AbortError,
    AppendError,
    EntryNotFoundError,
    SessionClosedError,
    SessionManager,
)
from sessiontree.eventstore import session_file

Make = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]
WriteFile = Callable[..., Path]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "assistant", "content": content, "provider": "acme", "model": "m-1", "usage": {"input": 7}}


async def chain(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


def file_of(session: SessionManager) -> Path:
    assert session.session_file is not None
    return Path(session.session_file)


async def test_an_unknown_entry_is_refused_and_nothing_changes(session: SessionManager) -> None:
    """X-18, T-60, T-100."""
    await chain(session, "a")
    before = (session.session_id, session.session_file)
    with pytest.raises(EntryNotFoundError, match=r"^Entry nope not found$"):
        await session.create_branched_session("nope")
    assert (session.session_id, session.session_file) == before
    assert (session.leaf_id, session.path_ids()) == ("a", ["a"])
    if session.session_file is not None:
        assert list(file_of(session).parent.iterdir()) == [file_of(session)]


async def test_in_memory_only_the_path_remains() -> None:
    """X-19, T-64, T-68: None is returned, and no lineage is recorded."""
    session = await SessionManager.in_memory()
    await chain(session, "a", "b", "c")
    session.branch("a")
    await chain(session, "d")
    old_id = session.session_id
    assert await session.create_branched_session("b") is None
    assert (session.session_file, session.session_id != old_id) == (None, True)
    assert session.header.parent_session is None
    assert (session.entry_ids(), session.leaf_id) == (["a", "b"], "b")
    await chain(session, "e")
    assert session.path_ids() == ["a", "b", "e"]
    await session.close()


async def test_a_side_branch_is_extracted_in_order(session: SessionManager) -> None:
    """X-20, T-61, T-66: ids, parents, times and content are kept; the leaf is the last kept entry."""
    await chain(session, "a", "b")
    session.branch("a")
    await chain(session, "c", "d", "e")
    kept = [entry for entry in await session.get_entries() if entry.id in "acd"]
    await session.create_branched_session("d")
    assert await session.get_entries() == kept
    assert (session.leaf_id, session.root_ids, session.child_ids("a")) == ("d", ["a"], ["c"])
    assert [message["content"] for message in (await session.build_session_context()).messages] == ["a", "c", "d"]


async def test_the_labels_of_kept_entries_are_set_anew(session: SessionManager) -> None:
    """X-35, X-36, T-61, T-62, T-65, T-66: by fresh entries of now; those of other entries are lost."""
    await chain(session, "a", "b")
    old = [await session.append_label_change("a", "one"), await session.append_label_change("b", "two")]
    session.branch("a")
    await chain(session, "side")
    await session.append_label_change("side", "lost")
    await session.create_branched_session("b")
    assert list(session.labels.items()) == [("a", "one"), ("b", "two")]
    first, last = session.entry_ids()[2:]
    assert not {first, last} & {*old, "a", "b"}
    assert session.path_ids() == ["a", "b", first, last]
    assert session.leaf_id == last
    [root] = await session.get_tree()
    assert (root.label, root.children[0].label) == ("one", "two")


async def test_a_label_inside_the_path_cuts_no_history_off(session: SessionManager) -> None:
    """T-61, T-71 as settled."""
    await chain(session, "a")
    await session.append_label_change("a", "mark")
    await chain(session, "b")
    await session.create_branched_session("b")
    assert session.root_ids == ["a"]
    assert session.path_ids("b") == ["a", "b"]
    assert len((await session.build_session_context()).messages) == 2
    assert session.report.faults == []


async def test_a_path_of_labels_only_becomes_an_empty_session(make_file: Make, write_file: WriteFile) -> None:
    """T-72: on the disk at once."""
    path = write_file([{"id": "l", "type": "label", "targetId": "l", "label": "x"}])
    async with await SessionManager.open(path) as session:
        new = Path(str(await session.create_branched_session("l")))
        assert (session.entry_count, session.leaf_id, session.labels) == (0, None, {})
        assert len(new.read_bytes().splitlines()) == 1
        await chain(session, "a")
        assert session.root_ids == ["a"]


async def test_the_manager_goes_over_to_the_new_file(make_file: Make, records: Records) -> None:
    """X-23, T-63, T-64, T-67, T-69, T-70: appends land there; the old file keeps every byte."""
    session = await make_file(clock=lambda: 1_770_000_000.5)
    await chain(session, "a")
    await session.append_message(assistant("b"), entry_id="b")
    await chain(session, "c")
    old, old_id = file_of(session), session.session_id
    before = old.read_bytes()
    returned = await session.create_branched_session("b")
    assert returned == session.session_file != str(old)
    assert session.session_id != old_id
    new = file_of(session)
    assert (new.parent, new.name) == (old.parent, f"2026-02-02T02-40-00-500Z_{session.session_id}.jsonl")
    assert [line.get("id") for line in records(session)] == [session.session_id, "a", "b"]
    await chain(session, "d")
    header, *entries = records(session)
    assert [line["id"] for line in entries] == ["a", "b", "d"]
    assert header == {
        "type": "session",
        "version": 3,
        "id": session.session_id,
        "timestamp": "2026-02-02T02:40:00.500Z",
        "cwd": "/proj/demo",
        "parentSession": str(old),
    }
    assert UUID(session.session_id).version == 7
    assert old.read_bytes() == before


async def test_a_path_without_a_reply_is_written_at_once(make_file: Make, records: Records) -> None:
    """X-22, T-67 as settled: with one header and no id twice."""
    session = await make_file()
    await chain(session, "a", "b")
    await session.create_branched_session("a")
    assert [line["type"] for line in records(session)] == ["session", "message"]
    await session.append_message(assistant("c"), entry_id="c")
    assert [line["id"] for line in records(session)] == [session.session_id, "a", "c"]


async def test_the_header_carries_titles_and_directories_over(write_file: WriteFile) -> None:
    """X-21, T-64: and neither the cache key nor former places."""
    path = write_file(
        [{"id": "a"}],
        title="a title",
        titleSource="user",
        additionalDirectories=["/x"],
        providerPromptCacheKey="key",
        previousSessionFiles=["/old"],
        cwd="/gone",
    )
    async with await SessionManager.open(path) as session:
        await session.create_branched_session("a")
        header = session.header.fields
        assert (header["title"], header["titleSource"], header["additionalDirectories"]) == ("a title", "user", ["/x"])
        assert (session.cwd, header["cwd"], session.session_name) == ("/gone", "/gone", "a title")
        assert not {"providerPromptCacheKey", "previousSessionFiles"} & header.keys()


async def test_a_fork_keeps_the_name_though_its_entry_stays_behind(session: SessionManager) -> None:
    """F-55 as settled: then it is in the header's title."""
    await chain(session, "a")
    await session.set_session_name("the name")
    await session.create_branched_session("a")
    assert (session.session_name, session.header.title, session.entry_ids()) == ("the name", "the name", ["a"])


async def test_a_fork_whose_path_holds_the_name_needs_no_title(session: SessionManager) -> None:
    """F-55 as settled: the name of the path counts."""
    await chain(session, "a")
    named = await session.set_session_name("on the path")
    session.branch("a")
    await session.set_session_name("elsewhere")
    await session.create_branched_session(named)
    assert (session.session_name, session.header.title) == ("on the path", None)


async def test_usage_covers_what_was_kept(session: SessionManager) -> None:
    """T-66, T-98."""
    await session.append_message(assistant("a"), entry_id="a")
    await session.append_message(assistant("b"), entry_id="b")
    assert session.usage.input == 14
    await session.create_branched_session("a")
    assert session.usage.input == 7


async def test_the_cursors_of_the_session_that_was_left_are_closed(session: SessionManager) -> None:
    await chain(session, "a", "b")
    cursor = session.cursor("b")
    await session.create_branched_session("a")
    with pytest.raises(SessionClosedError):
        await cursor.append_message(user("too late"))
    assert session.cursor("a").leaf_id == "a"


async def test_what_is_on_its_way_is_recorded_first(make: Make) -> None:
    """T-60: a fork can end with an entry that was just handed over."""
    session = await make()
    await chain(session, "a")
    append = asyncio.ensure_future(session.append_message(user("b"), entry_id="b"))
    await asyncio.sleep(0)
    await session.create_branched_session("b")
    assert (await append, session.path_ids()) == ("b", ["a", "b"])


async def test_a_fork_that_is_aborted_leaves_nothing(session: SessionManager) -> None:
    """T-60, D8: no file, and the session where it was."""
    await chain(session, "a")
    old_id = session.session_id
    controller = AbortController()
    controller.abort("enough")
    with pytest.raises(AbortError):
        await session.create_branched_session("a", signal=controller.signal)
    assert (session.session_id, session.leaf_id) == (old_id, "a")
    await chain(session, "b")
    if session.session_file is not None:
        assert list(file_of(session).parent.iterdir()) == [file_of(session)]


async def test_a_fork_aborted_midway_leaves_nothing(make_file: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """D8, D7: what was written of it is removed."""
    session = await make_file(durability="os")
    ids = await session.append_many([user("x")] * 2000)
    controller = AbortController()
    write = session_file._write

    def write_and_abort(fd: int, lines: Sequence[bytes]) -> None:
        write(fd, lines)
        if len(lines) > 1:
            controller.abort()

    monkeypatch.setattr(session_file, "_write", write_and_abort)
    with pytest.raises(AbortError):
        await session.create_branched_session(ids[-1], signal=controller.signal)
    assert list(file_of(session).parent.iterdir()) == [file_of(session)]
    assert session.leaf_id == ids[-1]


async def test_a_fork_that_fails_leaves_the_session_alone(make_file: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """D7: nothing half-made is left."""
    session = await make_file()
    await chain(session, "a")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sessiontree.eventstore.session_file._publish", refuse)
    with pytest.raises(AppendError, match="No space left"):
        await session.create_branched_session("a")
    assert list(file_of(session).parent.iterdir()) == [file_of(session)]
    await chain(session, "b")
    assert session.path_ids() == ["a", "b"]


async def test_the_source_is_free_for_other_writers_after_the_switch(make_file: Make) -> None:
    """T-67, D5: the lock goes with the session that was left."""
    session = await make_file()
    await chain(session, "a")
    old = file_of(session)
    await session.create_branched_session("a")
    async with await SessionManager.open(old) as other:
        await other.append_message(user("b"))
    await chain(session, "c")


async def test_an_old_version_is_forked_as_version_3(write_file: WriteFile, records: Records) -> None:
    """T-61, F-105: the source is not migrated by that."""
    path = write_file([{"id": "a", "message": {"role": "hookMessage", "content": "x"}}], version=2)
    before = path.read_bytes()
    async with await SessionManager.open(path) as session:
        await session.create_branched_session("a")
        header, entry = records(session)
        assert (header["version"], entry["message"]["role"]) == (3, "custom")
    assert path.read_bytes() == before
