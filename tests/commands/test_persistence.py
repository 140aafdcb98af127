"""When a session's file appears and what is written when (F-100..F-117 as settled)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from sessiontree import ReadOnlySessionError, SessionManager, SessionNotFoundError, UnsupportedVersionError

Make = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]
WriteFile = Callable[..., Path]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def file_of(session: SessionManager) -> Path:
    assert session.session_file is not None
    return Path(session.session_file)


@pytest.mark.parametrize("kind", ["message", "settings", "name"])
async def test_a_file_appears_with_the_first_append(make_file: Make, records: Records, kind: str) -> None:
    """X-53, F-110, F-114 as settled: whatever its type is; each later one is on the disk when it returns."""
    session = await make_file()
    assert not file_of(session).exists()
    match kind:
        case "message":
            first = await session.append_message(user("1"))
        case "settings":
            first = await session.append_thinking_level_change("high")
        case _:
            first = await session.set_session_name("a name")
    assert [line["id"] for line in records(session)] == [session.session_id, first]
    ids = [first]
    for number in range(3):
        ids.append(await session.append_message(user(str(number))))
        assert [line["id"] for line in records(session)[1:]] == ids


async def test_a_session_without_an_entry_leaves_no_file(make_file: Make) -> None:
    """X-55, F-112: neither a move nor flush nor close makes one."""
    session = await make_file()
    session.reset_leaf()
    await session.flush()
    await session.refresh()
    assert await session.get_entries() == []
    await session.close()
    assert not file_of(session).exists()


async def test_a_session_of_the_user_alone_is_kept(make_file: Make) -> None:
    """X-55, F-110 as settled: an answer is not waited for."""
    session = await make_file()
    await session.append_message(user("1"))
    await session.close()
    assert file_of(session).exists()


async def test_a_crash_loses_nothing_that_was_acknowledged(make_file: Make, tmp_path: Path) -> None:
    """X-54, F-114: what the file holds after each append opens with all its entries."""
    session = await make_file()
    for count in range(1, 4):
        await session.append_message(user(str(count)))
        copy = tmp_path / f"snapshot-{count}.jsonl"
        copy.write_bytes(file_of(session).read_bytes())
        async with await SessionManager.open(copy) as again:
            assert (again.entry_ids(), again.leaf_id) == (session.entry_ids(), session.leaf_id)


async def test_an_empty_file_is_a_new_session_at_its_path(tmp_path: Path) -> None:
    """F-80, F-90 as settled: it stays empty until something is appended."""
    path = tmp_path / "empty.jsonl"
    path.touch()
    async with await SessionManager.open(path) as session:
        assert (session.session_file, session.entry_count) == (str(path), 0)
        assert path.read_bytes() == b""
        await session.append_message(user("1"), entry_id="a")
    header, entry = (json.loads(line) for line in path.read_bytes().splitlines())
    assert (header["type"], header["version"], header["id"], entry["id"]) == ("session", 3, session.session_id, "a")


async def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """F-80 as settled."""
    with pytest.raises(SessionNotFoundError) as caught:
        await SessionManager.open(tmp_path / "missing.jsonl")
    assert isinstance(caught.value, FileNotFoundError)
    assert list(tmp_path.iterdir()) == []


async def test_a_version_1_file_reads_as_one_chain_and_is_written_with_the_next_append(
    write_file: WriteFile, records: Records
) -> None:
    """X-39, X-41, F-101, F-104, F-105: until then its bytes and its time stay."""
    path = write_file([{"id": "x"}, {"id": "x"}, {"id": "z", "parentId": "nowhere"}], version=1)
    before, time = path.read_bytes(), path.stat().st_mtime_ns
    async with await SessionManager.open(path) as session:
        ids = session.entry_ids()
        assert len(set(ids)) == 3
        assert all(len(entry_id) == 8 for entry_id in ids)
        assert [session.shape(entry_id).parent_id for entry_id in ids] == [None, *ids[:-1]]
        assert (session.header.version, session.file_version) == (3, 1)
        await session.flush()
        assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, time)
        new = await session.append_message(user("4"))
        assert session.file_version == 3
        header, *entries = records(session)
        assert header["version"] == 3
        assert [(entry["id"], entry["parentId"]) for entry in entries] == list(
            zip([*ids, new], [None, *ids], strict=True)
        )


async def test_a_version_2_file_keeps_ids_and_parents(write_file: WriteFile) -> None:
    """X-40, F-103, F-104."""
    path = write_file([{"id": "a"}, {"id": "b", "parentId": "a"}, {"id": "c", "parentId": "a"}], version=2)
    async with await SessionManager.open(path) as session:
        assert (session.entry_ids(), session.child_ids("a")) == (["a", "b", "c"], ["b", "c"])


async def test_a_migration_can_be_asked_for(write_file: WriteFile, records: Records) -> None:
    """X-42, F-105: at once, and once."""
    path = write_file([{"id": "x"}, {"id": "y"}], version=1)
    async with await SessionManager.open(path) as session:
        ids = session.entry_ids()
        assert await session.migrate()
        assert [line["id"] for line in records(session)[1:]] == ids
        assert (session.entry_ids(), session.file_version) == (ids, 3)
        assert len(await session.get_entries()) == 2
        assert not await session.migrate()
    async with await SessionManager.open(path) as again:
        assert again.entry_ids() == ids


async def test_a_newer_version_can_be_read_and_not_written(write_file: WriteFile) -> None:
    """F-100 as settled."""
    path = write_file([{"id": "a"}], version=4)
    before = path.read_bytes()
    async with await SessionManager.open(path) as session:
        assert session.path_ids() == ["a"]
        for attempt in (session.append_message(user("b")), session.create_branched_session("a")):
            with pytest.raises(UnsupportedVersionError) as caught:
                await attempt
            assert (caught.value.version, session.leaf_id) == (4, "a")
    with pytest.raises(UnsupportedVersionError):
        await SessionManager.fork_from(path, "/p", path.parent)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


async def test_a_read_only_session_is_never_written(make_file: Make) -> None:
    """The contract of `read_only`: it moves and reads as any other, and takes no lock."""
    session = await make_file()
    await session.append_message(user("1"), entry_id="a")
    path = file_of(session)
    before = path.read_bytes()
    async with await SessionManager.open(path, read_only=True) as reader:
        for attempt in (
            reader.append_message(user("2")),
            reader.append_many([user("2")]),
            reader.append_label_change("a", "x"),
            reader.branch_with_summary(None, "x"),
            reader.set_session_name("x"),
            reader.cursor("a").append_custom_entry("x"),
            reader.new_session(),
            reader.migrate(),
        ):
            with pytest.raises(ReadOnlySessionError):
                await attempt
        reader.reset_leaf()
        reader.branch("a")
        assert [entry.id for entry in await reader.get_branch()] == ["a"]
        assert path.read_bytes() == before
        await session.append_message(user("2"))


async def test_a_read_only_session_in_memory_is_never_written() -> None:
    async with SessionManager.in_memory(read_only=True) as session:
        with pytest.raises(ReadOnlySessionError):
            await session.append_message(user("1"))
        assert session.entry_count == 0


@pytest.mark.parametrize("durability", ["", "Always", "disk"])
async def test_other_words_for_durability_are_refused(durability: Any, tmp_path: Path) -> None:
    for make in (SessionManager.create, SessionManager.in_memory):
        with pytest.raises(ValueError, match="durability"):
            await make(cwd=tmp_path, durability=durability)


async def test_an_awaited_append_is_synced_by_default(make_file: Make, disk: Any) -> None:
    """D4: one sync for each batch."""
    session = await make_file()
    await session.append_message(user("0"))
    first = disk.syncs
    for count in range(1, 4):
        await session.append_message(user(str(count)))
        assert disk.syncs == first + count
    await session.append_many([user("x")] * 50)
    assert disk.syncs == first + 4


@pytest.mark.parametrize("end", ["flush", "close"])
async def test_handed_to_the_system_an_append_is_synced_at_the_end(
    make_file: Make, disk: Any, records: Records, end: Literal["flush", "close"]
) -> None:
    """D4, F-115: the file itself is made durable; then `"os"` leaves syncing to flush and close."""
    session = await make_file(durability="os")
    await session.append_message(user("1"))
    syncs = disk.syncs
    for number in range(5):
        await session.append_message(user(str(number)))
    assert (len(records(session)), disk.syncs) == (7, syncs)
    await (session.flush() if end == "flush" else session.close())
    assert disk.syncs == syncs + 1
