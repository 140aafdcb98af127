"""Writes that fail: who hears of it, what stays, and what goes on (design D4, F-116)."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import AppendError, Cursor, SessionManager

Make = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]

FULL = OSError(errno.ENOSPC, "No space left on device")


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def chain(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


def start(cursor: Cursor, entry_id: str) -> asyncio.Future[str]:
    return asyncio.ensure_future(cursor.append_message(user(entry_id), entry_id=entry_id))


def line_length(session: SessionManager) -> int:
    """The length of the last line: all entries of these tests are of one length."""
    return len(Path(str(session.session_file)).read_bytes().splitlines(keepends=True)[-1])


@pytest.fixture(params=["always", "os"])
async def session(request: pytest.FixtureRequest, make_file: Make) -> SessionManager:
    """A session with the entries `a` and `b`."""
    session = await make_file(durability=request.param)
    await chain(session, "a", "b")
    return session


async def test_a_full_disk_fails_the_append_and_nothing_else(
    session: SessionManager, disk: Any, records: Records
) -> None:
    """D4, F-116 as settled: the caller hears of it, the leaf falls back, later appends work."""
    before = Path(str(session.session_file)).read_bytes()
    disk.left = 0
    with pytest.raises(AppendError, match="No space left on device") as caught:
        await session.append_message(user("c"))
    assert (caught.value.errno, caught.value.outcome, caught.value.recorded) == (errno.ENOSPC, "not-written", 0)
    assert str(caught.value.path) == session.session_file
    assert (session.leaf_id, session.entry_count) == ("b", 2)
    assert Path(str(session.session_file)).read_bytes() == before
    disk.left = 1 << 60
    await chain(session, "d")
    assert session.path_ids() == ["a", "b", "d"]
    assert [line["parentId"] for line in records(session)[1:]] == [None, "a", "b"]
    await session.flush()


async def test_a_torn_line_is_cut_off(session: SessionManager, disk: Any) -> None:
    """D4: the file ends with the last whole line."""
    before = Path(str(session.session_file)).read_bytes()
    disk.left = 40
    with pytest.raises(AppendError):
        await session.append_message(user("c"))
    assert Path(str(session.session_file)).read_bytes() == before
    assert session.leaf_id == "b"


async def test_short_writes_are_continued(session: SessionManager, disk: Any, records: Records) -> None:
    """D4: byte by byte if need be."""
    disk.most = 7
    await chain(session, "c")
    await session.append_many([user("x"), user("y")])
    assert [line["id"] for line in records(session)[1:]] == session.path_ids()
    assert session.report.faults == []


async def test_whole_lines_before_the_failure_stay(session: SessionManager, disk: Any, records: Records) -> None:
    """D4: of a batch that fails the caller is told so, and its leaf is the last that was recorded."""
    first = line_length(session)
    disk.left = 3 * (first + 7) + 20
    with pytest.raises(AppendError) as caught:
        await session.append_many([user("x")] * 6)
    kept = caught.value.recorded
    assert 0 < kept < 6
    assert session.entry_count == 2 + kept
    assert session.path_ids() == [line["id"] for line in records(session)[1:]]
    assert session.leaf_id == records(session)[-1]["id"]
    disk.left = 1 << 60
    await chain(session, "z")
    assert session.path_ids() == [line["id"] for line in records(session)[1:]]
    assert len(session.path_ids()) == 3 + kept


async def test_of_appends_in_one_batch_those_before_the_failure_succeed(
    session: SessionManager, disk: Any, records: Records
) -> None:
    """D4: each caller is answered for its own entry."""
    disk.left = 2 * line_length(session) + 5
    results = await asyncio.gather(*(start(session, name) for name in "cdef"), return_exceptions=True)
    assert results[:2] == ["c", "d"]
    assert all(isinstance(result, AppendError) for result in results[2:])
    assert (session.leaf_id, session.path_ids()) == ("d", ["a", "b", "c", "d"])
    assert [line["id"] for line in records(session)[1:]] == ["a", "b", "c", "d"]


async def test_those_queued_behind_on_the_same_chain_fail_with_the_same_cause(
    make_file: Make, disk: Any, records: Records
) -> None:
    """D4, T-42: their parent will never be; other chains are tried. A leaf that a summary moved goes back."""
    session = await make_file()
    await chain(session, "a", "b")
    other, apart = session.cursor("a"), session.cursor(None)
    disk.hold()
    taken = start(session, "c")
    await disk.holds()
    behind = [start(session, "d"), start(session, "e")]
    branch, root = start(other, "f"), start(apart, "g")
    summary = asyncio.ensure_future(apart.branch_with_summary("d", "left"))
    await asyncio.sleep(0)
    on_d = session.cursor("d")
    assert (session.leaf_id, on_d.leaf_id) == ("e", "d")
    disk.errors.append(FULL)
    disk.go_on.set()
    results = await asyncio.gather(taken, *behind, summary, return_exceptions=True)
    assert all(isinstance(result, AppendError) and result.errno == errno.ENOSPC for result in results)
    assert (await branch, await root) == ("f", "g")
    assert (session.leaf_id, on_d.leaf_id, other.leaf_id, apart.leaf_id) == ("b", "b", "f", "g")
    assert session.entry_ids() == [line["id"] for line in records(session)[1:]] == ["a", "b", "f", "g"]
    await chain(session, "h")
    assert session.path_ids() == ["a", "b", "h"]


async def test_a_read_that_waits_for_an_entry_that_fails_is_answered(make_file: Make, disk: Any) -> None:
    """D4, T-21, T-22: for the position to which the leaf fell back."""
    session = await make_file()
    await chain(session, "a")
    disk.hold()
    append = start(session, "b")
    await disk.holds()
    reads = asyncio.gather(session.get_entry("b"), session.get_branch("b"), session.get_branch())
    context = asyncio.ensure_future(session.build_session_context())
    await asyncio.sleep(0)
    disk.errors.append(FULL)
    disk.go_on.set()
    entry, named, branch = await reads
    assert (entry, named, [one.id for one in branch]) == (None, [], ["a"])
    assert (await context).messages == [user("a")]
    with pytest.raises(AppendError):
        await append


async def test_a_label_of_an_entry_that_fails_fails_with_its_cause(make_file: Make, disk: Any) -> None:
    """T-51, D4: its target never was."""
    session = await make_file()
    await chain(session, "a")
    cursor = session.cursor("a")
    disk.hold()
    append = start(session, "b")
    await disk.holds()
    label = asyncio.ensure_future(cursor.append_label_change("b", "mark"))
    await asyncio.sleep(0)
    disk.errors.append(FULL)
    disk.go_on.set()
    with pytest.raises(AppendError):
        await label
    with pytest.raises(AppendError):
        await append
    assert (cursor.leaf_id, session.entry_ids(), session.labels) == ("a", ["a"], {})


async def test_a_foreign_write_into_the_middle_of_a_line_is_an_error(session: SessionManager, disk: Any) -> None:
    """D4: a short write is continued only while the file ends where ours does; the next line stands alone."""
    path = Path(str(session.session_file))

    def intrude() -> None:
        disk.after_write, disk.most = None, 1 << 30
        with path.open("ab") as file:
            file.write(b"foreign")

    disk.after_write, disk.most = intrude, 10
    with pytest.raises(AppendError):
        await session.append_message(user("c"))
    assert session.leaf_id == "b"
    await chain(session, "d")
    assert session.path_ids() == ["a", "b", "d"]
    lines = path.read_bytes().splitlines()
    assert lines[-2].endswith(b"foreign")
    assert b'"id":"d"' in lines[-1]
    async with await SessionManager.open(path, read_only=True) as again:
        assert again.path_ids() == ["a", "b", "d"]
        assert [fault.kind for fault in again.report.faults] == ["malformed"]


async def test_a_new_file_that_cannot_be_written_is_taken_back(make_file: Make, disk: Any) -> None:
    """D4, F-110: and appears with the next append."""
    session = await make_file()
    disk.left = 100
    with pytest.raises(AppendError):
        await chain(session, "a")
    assert (session.leaf_id, Path(str(session.session_file)).exists()) == (None, False)
    disk.left = 1 << 60
    await chain(session, "b")
    async with await SessionManager.open(str(session.session_file), read_only=True) as again:
        assert (again.path_ids(), again.report.faults) == (["b"], [])


async def test_a_place_where_nothing_can_be_made_is_an_append_error(tmp_path: Path) -> None:
    """D14: of the operating system's errors the library's own is made, with its cause."""
    (tmp_path / "file").touch()
    async with await SessionManager.create(cwd="/p", sessions_dir=tmp_path / "file") as session:
        with pytest.raises(AppendError) as caught:
            await session.append_message(user("a"))
        assert isinstance(caught.value.__cause__, OSError)
        assert session.leaf_id is None


async def test_after_a_failed_sync_the_session_takes_no_more_until_it_is_reopened(make_file: Make, disk: Any) -> None:
    """D4: the outcome is unknown, nothing is acknowledged, and reopening works."""
    session = await make_file()
    await chain(session, "a")
    disk.sync_error = OSError(errno.EIO, "Input/output error")
    with pytest.raises(AppendError) as caught:
        await session.append_message(user("b"), entry_id="b")
    assert (caught.value.outcome, caught.value.errno, caught.value.recorded) == ("unknown", errno.EIO, 0)
    assert session.leaf_id == "a"
    disk.sync_error = None
    for call in (session.append_message(user("c")), session.append_many([user("c")]), session.flush()):
        with pytest.raises(AppendError) as caught:
            await call
        assert caught.value.outcome == "unknown"
    assert session.leaf_id == "a"
    assert [entry.id for entry in await session.get_branch()] == ["a"]
    await session.close()
    async with await SessionManager.open(str(session.session_file)) as again:
        assert again.report.faults == []
        path = again.path_ids()
        assert path[0] == "a"
        assert await again.append_message(user("b"), entry_id="b") == "b"
        await chain(again, "d")
        assert again.path_ids() == ["a", "b", "d"]


async def test_reopening_writes_what_was_not_synced_again(
    make_file: Make, disk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D4: from the last durable end, before anything else is written."""
    session = await make_file()
    await chain(session, "a")
    path = Path(str(session.session_file))
    durable = path.stat().st_size
    disk.sync_error = OSError(errno.EIO, "Input/output error")
    with pytest.raises(AppendError):
        await chain(session, "b")
    disk.sync_error = None
    await session.close()
    before = path.read_bytes()
    rewritten: list[tuple[int, bytes]] = []

    def pwrite(fd: int, data: memoryview, offset: int) -> int:
        rewritten.append((offset, bytes(data)))
        return os.pwrite(fd, data, offset)

    monkeypatch.setattr(disk, "pwrite", pwrite, raising=False)
    async with await SessionManager.open(path) as again:
        await chain(again, "c")
        assert rewritten == [(durable, before[durable:])]
        assert path.read_bytes().startswith(before)


async def test_a_failed_sync_on_closing_is_told(tmp_path: Path, disk: Any) -> None:
    """F-115: with `"os"`, closing is when it is heard of; the session is closed all the same."""
    session = await SessionManager.create(cwd="/p", sessions_dir=tmp_path, durability="os")
    await chain(session, "a", "b")
    disk.sync_error = OSError(errno.EIO, "Input/output error")
    for _ in range(2):
        with pytest.raises(AppendError) as caught:
            await session.close()
        assert caught.value.outcome == "unknown"
    disk.sync_error = None
    async with await SessionManager.open(str(session.session_file)) as again:
        await chain(again, "c")
        assert again.path_ids() == ["a", "b", "c"]
