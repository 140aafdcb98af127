"""New sessions, and copies of whole ones (T-80..T-91, F-20, F-24)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from sessiontree import NotASessionError, SessionClosedError, SessionManager, SessionNotFoundError, SessionTreeError

Make = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]
WriteFile = Callable[..., Path]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def chain(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


async def test_a_created_session_has_a_header_and_no_file_yet(make_file: Make, tmp_path: Path) -> None:
    """F-20, F-24, F-33, F-110."""
    session = await make_file(clock=lambda: 1_770_000_000.123)
    assert session.header.fields == {
        "type": "session",
        "version": 3,
        "id": session.session_id,
        "timestamp": "2026-02-02T02:40:00.123Z",
        "cwd": "/proj/demo",
    }
    assert UUID(session.session_id).version == 7
    name = f"2026-02-02T02-40-00-123Z_{session.session_id}.jsonl"
    assert session.session_file == str(tmp_path / "sessions" / name)
    assert not (tmp_path / "sessions").exists()


async def test_a_session_in_memory_has_no_file(tmp_path: Path) -> None:
    """F-117: making one may be awaited or not."""
    session = SessionManager.in_memory(cwd=tmp_path)
    awaited = await SessionManager.in_memory(cwd=tmp_path)
    for one in (session, awaited):
        assert (one.session_file, one.cwd, UUID(one.session_id).version) == (None, str(tmp_path), 7)
        await chain(one, "a")
        await one.flush()
        await one.close()
    assert list(tmp_path.iterdir()) == []


async def test_a_new_session_starts_empty(session: SessionManager) -> None:
    """X-26, T-80, T-81: entries, labels, usage, name and leaf are gone, the working directory stays."""
    await session.append_message({"role": "assistant", "content": [], "usage": {"input": 5}}, entry_id="a")
    await session.append_label_change("a", "mark")
    await session.set_session_name("a name")
    old_id = session.session_id
    returned = await session.new_session()
    assert returned == session.session_file
    assert UUID(session.session_id).version == 7
    assert session.session_id == session.header.id != old_id
    assert (session.entry_count, session.leaf_id, session.labels, session.usage.input) == (0, None, {}, 0)
    assert (session.session_name, session.cwd, session.header.parent_session) == (None, "/proj/demo", None)
    await chain(session, "a")
    assert session.root_ids == ["a"]


async def test_a_new_session_in_memory_has_no_path() -> None:
    """T-80."""
    async with SessionManager.in_memory() as session:
        assert await session.new_session() is None


async def test_the_file_of_a_new_session_appears_with_its_first_entry(make_file: Make) -> None:
    """T-80, F-110, F-113: the previous one stays intact."""
    session = await make_file()
    await chain(session, "a")
    old = Path(str(session.session_file))
    before = old.read_bytes()
    new = Path(str(await session.new_session()))
    assert (new.exists(), new.parent) == (False, old.parent)
    await chain(session, "b")
    assert new.exists()
    assert old.read_bytes() == before


@pytest.mark.parametrize("parent", ["/a/path.jsonl", "some-id", ""])
async def test_the_lineage_is_recorded_as_given(session: SessionManager, parent: str) -> None:
    """T-84: a path or an id."""
    await session.new_session(parent_session=parent)
    assert session.header.fields["parentSession"] == parent


async def test_what_is_on_its_way_lands_in_the_session_that_it_was_meant_for(make_file: Make) -> None:
    """T-80: an append before the switch is recorded before it."""
    session = await make_file()
    old = str(session.session_file)
    append = asyncio.ensure_future(session.append_message(user("a"), entry_id="a"))
    await asyncio.sleep(0)
    await session.new_session()
    assert (await append, session.entry_count) == ("a", 0)
    async with await SessionManager.open(old) as again:
        assert again.entry_ids() == ["a"]


async def test_the_cursors_of_the_old_session_are_closed(session: SessionManager) -> None:
    await chain(session, "a")
    cursor = session.cursor("a")
    await session.new_session()
    with pytest.raises(SessionClosedError):
        cursor.branch("a")


async def test_after_a_new_session_without_output_the_previous_one_is_the_most_recent(tmp_path: Path) -> None:
    """X-49, F-92, F-113."""
    async with await SessionManager.create(cwd=tmp_path) as session:
        await chain(session, "a")
        old = session.session_file
        await session.new_session()
    async with await SessionManager.continue_recent(tmp_path) as again:
        assert (again.session_file, again.leaf_id) == (old, "a")


async def test_without_a_session_to_continue_a_new_one_begins(tmp_path: Path) -> None:
    """F-92."""
    async with await SessionManager.continue_recent(tmp_path, sessions_dir=tmp_path / "sessions") as session:
        assert (session.entry_count, session.cwd) == (0, str(tmp_path))
        assert session.session_file is not None
        assert Path(session.session_file).parent == tmp_path / "sessions"


async def test_only_sessions_of_the_same_directory_are_continued(tmp_path: Path) -> None:
    """F-92 as settled: by the header's cwd."""
    sessions = tmp_path / "sessions"
    async with await SessionManager.create(cwd="/proj/one", sessions_dir=sessions) as one:
        await chain(one, "a")
    async with await SessionManager.continue_recent("/proj/two", sessions) as session:
        assert session.entry_count == 0
    async with await SessionManager.continue_recent("/proj/one", sessions) as session:
        assert session.session_id == one.session_id


async def test_a_copy_has_every_branch_and_an_id_of_its_own(
    write_file: WriteFile, tmp_path: Path, records: Records
) -> None:
    """X-26, X-66, T-90: entries byte for byte, lineage by id, the source untouched."""
    path = write_file(
        [
            {"id": "a"},
            {"id": "b", "parentId": "a"},
            {"id": "l", "type": "label", "parentId": "b", "targetId": "a", "label": "mark"},
            {"id": "c", "parentId": "a", "odd": "\u2028"},
        ],
        title="a title",
        titleSource="user",
        additionalDirectories=["/x", "/proj/new"],
    )
    before = path.read_bytes()
    async with await SessionManager.fork_from(path, "/proj/new", tmp_path / "forks") as fork:
        file = Path(str(fork.session_file))
        assert file.parent == tmp_path / "forks"
        assert file.read_bytes().splitlines()[1:] == before.splitlines()[1:]
        assert UUID(fork.session_id).version == 7
        assert (fork.cwd, fork.leaf_id, fork.labels, fork.session_name) == (
            "/proj/new",
            "c",
            {"a": "mark"},
            "a title",
        )
        header = records(fork)[0]
        assert (header["id"], header["parentSession"], header["cwd"]) == (fork.session_id, "made-by-hand", "/proj/new")
        assert (header["title"], header["titleSource"], header["additionalDirectories"]) == ("a title", "user", ["/x"])
        await chain(fork, "d")
    assert path.read_bytes() == before


async def test_a_copy_of_an_old_session_is_of_version_3(
    write_file: WriteFile, tmp_path: Path, records: Records
) -> None:
    """T-90, F-105."""
    path = write_file([{"id": "a", "message": {"role": "hookMessage", "content": "x"}}], version=2)
    async with await SessionManager.fork_from(path, "/proj/new", tmp_path / "forks") as fork:
        header, entry = records(fork)
        assert (header["version"], entry["message"]["role"], fork.file_version) == (3, "custom", 3)


async def test_what_is_no_session_cannot_be_copied(tmp_path: Path) -> None:
    """T-90 as recommended: missing, empty and foreign files are errors, and nothing is made."""
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "foreign.jsonl").write_text('{"type":"something"}\n')
    for name, error in (
        ("missing.jsonl", SessionNotFoundError),
        ("empty.jsonl", NotASessionError),
        ("foreign.jsonl", NotASessionError),
    ):
        with pytest.raises(error) as caught:
            await SessionManager.fork_from(tmp_path / name, "/proj/new", tmp_path / "forks")
        assert isinstance(caught.value, SessionTreeError)
        assert name in str(caught.value)
    assert not (tmp_path / "forks").exists()


async def test_an_odd_session_id_is_kept(write_file: WriteFile) -> None:
    """X-26, F-20."""
    async with await SessionManager.open(write_file([{"id": "a"}], id="V1StGXR8_Z5jdHi6B-myT")) as session:
        assert session.session_id == session.header.id == "V1StGXR8_Z5jdHi6B-myT"


async def test_the_recorded_directory_counts_even_where_it_is_gone(write_file: WriteFile) -> None:
    """F-91 as settled: the process's only where none is recorded."""
    async with await SessionManager.open(write_file([], cwd="/no/such/place")) as session:
        assert session.cwd == "/no/such/place"
    async with await SessionManager.open(write_file([], cwd=None)) as session:
        assert session.cwd == str(Path.cwd())
