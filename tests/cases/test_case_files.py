"""Cases 11 to 15, 77 and 78: files that are no sessions, empty, gone, oddly headed, or newer than we are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    NotASessionError,
    SessionManager,
    SessionTreeError,
    UnsupportedVersionError,
    list_sessions,
)

CopyCase = Callable[[str], Path]
Pairs = Callable[[Any], list[list[str]]]
Records = Callable[[Path], list[dict[str, Any]]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "assistant", "content": content, "provider": "acme", "model": "m-1", "stopReason": "stop"}


async def test_a_file_that_is_no_session_is_refused_and_left_alone(copy_case: CopyCase) -> None:
    """F-89, D7."""
    path = copy_case("11")
    before = path.read_bytes(), path.stat().st_mtime_ns
    with pytest.raises(NotASessionError, match="not a session file") as caught:
        await SessionManager.open(path)
    assert (caught.value.path, caught.value.line) == (path, 1)
    assert str(path) in str(caught.value)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert list(path.parent.iterdir()) == [path]


async def test_a_file_of_zero_bytes_becomes_a_session_at_its_path(copy_case: CopyCase, records: Records) -> None:
    """F-80, F-110: the header comes with the first append."""
    path = copy_case("12")
    async with await SessionManager.open(path) as session:
        assert (session.entry_count, session.leaf_id) == (0, None)
        assert path.read_bytes() == b""
        first = await session.append_message(user("hello"))
        second = await session.append_message(assistant("hello back"))
        session_id = session.session_id
    assert [record["type"] for record in records(path)] == ["session", "message", "message"]
    async with await SessionManager.open(path) as session:
        assert session.session_id == session_id
        assert (list(session.root_ids), session.leaf_id) == ([first], second)
        assert session.report.faults == []


@pytest.mark.parametrize("already_written", [False, True])
async def test_an_append_to_a_deleted_file_is_refused_and_makes_no_headless_file(
    already_written: bool, copy_case: CopyCase, context_pairs: Pairs
) -> None:
    """D5: what was read is still shown; success is never reported for what nobody can read again."""
    path = copy_case("13")
    async with await SessionManager.open(path) as session:
        if already_written:
            await session.append_message(user("still there"))
        pairs = context_pairs(await session.build_session_context())
        leaf, count = session.leaf_id, session.entry_count
        path.unlink()
        for message in (user("lost?"), assistant("lost?")):
            with pytest.raises(SessionTreeError, match="session"):
                await session.append_message(message)
            assert not path.exists()
        assert (session.leaf_id, session.entry_count) == (leaf, count)
        assert context_pairs(await session.build_session_context()) == pairs


async def test_a_title_record_stays_the_first_line_through_append_and_rewrite(
    copy_case: CopyCase, records: Records
) -> None:
    """F-03, F-70, F-105."""
    path = copy_case("14")
    title = path.read_bytes().splitlines(keepends=True)[0]
    (info,) = await list_sessions(path.parent)
    assert (info.id, info.name, info.fault) == ("00000000-0000-4000-8000-000000000014", "a long day", None)
    path.write_bytes(path.read_bytes().replace(b'"version":3', b'"version":2'))
    async with await SessionManager.open(path) as session:
        first = await session.append_message(user("rewrites it as version 3"))
        second = await session.append_message(user("appends to it"))
    assert path.read_bytes().startswith(title)
    _, header, *entries = records(path)
    assert (header["type"], header["version"]) == ("session", 3)
    assert [entry["id"] for entry in entries] == ["u1", "a1", first, second]


async def test_a_header_is_read_whole_however_long_it_is(copy_case: CopyCase) -> None:
    """F-92: no probe of a fixed size."""
    path = copy_case("15")
    infos = await list_sessions(path.parent)
    assert [info.path.name for info in infos] == ["session.jsonl", "other.jsonl"]
    cwd = infos[0].cwd
    assert cwd is not None
    assert len(cwd) > 4096
    async with await SessionManager.continue_recent(cwd, sessions_dir=path.parent) as session:
        assert session.session_id == "00000000-0000-4000-8000-000000000015"
        assert session.cwd == cwd
        assert session.header.parent_session is not None
        assert f'"parentSession":"{session.header.parent_session}"' in path.read_text()


async def test_two_sessions_with_the_same_ids_do_not_mix(copy_case: CopyCase) -> None:
    path = copy_case("77")
    other = path.with_name("b.jsonl")
    async with await SessionManager.open(path) as a, await SessionManager.open(other) as b:
        a2 = await a.append_message(user("A2"))
        b2 = await b.append_message(user("B2"))
        a3 = await a.append_message(user("A3"))
        await b.append_label_change("u1", "only in b")
        await b.set_session_name("b's name")
        assert (dict(a.labels), a.session_name) == ({}, None)
        assert (await b.build_session_context()).messages[0]["content"] == "session B"
    async with await SessionManager.open(path) as a, await SessionManager.open(other) as b:
        assert list(a.path_ids()) == ["u1", "a1", a2, a3]
        assert a.entry_count == 4
        assert list(b.path_ids(b2)) == ["u1", "a1", b2]
        assert (dict(b.labels), b.session_name) == ({"u1": "only in b"}, "b's name")


async def test_a_newer_version_can_be_read_but_not_written(copy_case: CopyCase) -> None:
    """F-100."""
    path = copy_case("78")
    before = path.read_bytes()
    (info,) = await list_sessions(path.parent)
    assert (info.id, info.message_count) == ("00000000-0000-4000-8000-000000000078", 2)
    async with await SessionManager.open(path) as session:
        assert session.header.version == 4
        with pytest.raises(UnsupportedVersionError) as caught:
            await session.append_message(user("from the past"))
        assert (caught.value.version, session.leaf_id, session.entry_count) == (4, "a1", 2)
        assert "version 4" in str(caught.value)
        assert "version 3" in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", ['"3"', "-1", "0", "null", "true", "3.5", "1e999", "[]"])
async def test_a_version_that_is_no_whole_number_is_refused(version: str, copy_case: CopyCase) -> None:
    """F-100: and no migration is run on it."""
    path = copy_case("78")
    path.write_bytes(path.read_bytes().replace(b'"version":4', f'"version":{version}'.encode()))
    before = path.read_bytes()
    with pytest.raises(NotASessionError, match="version"):
        await SessionManager.open(path)
    (info,) = await list_sessions(path.parent)
    assert info.fault is not None
    assert path.read_bytes() == before


async def test_a_whole_number_with_a_point_is_never_migrated(copy_case: CopyCase) -> None:
    """F-100: `3.0` is three, or it is refused."""
    path = copy_case("78")
    path.write_bytes(path.read_bytes().replace(b'"version":4', b'"version":3.0'))
    before = path.read_bytes()
    try:
        async with await SessionManager.open(path) as session:
            assert (session.header.version, list(session.path_ids())) == (3, ["u1", "a1"])
            await session.append_message(user("more"))
    except NotASessionError as error:
        assert "version" in str(error)
    assert path.read_bytes().startswith(before)


async def test_a_second_header_is_no_entry_and_changes_nothing(
    copy_case: CopyCase, context_pairs: Pairs, records: Records
) -> None:
    """F-86: the first header counts, in the list too; a fork has one."""
    path = copy_case("79")
    before = path.read_bytes()
    (info,) = await list_sessions(path.parent)
    assert (info.id, info.cwd) == ("00000000-0000-4000-8000-000000000079", "/proj/demo")
    assert info.message_count == 4
    async with await SessionManager.open(path) as session:
        assert [(fault.line, fault.kind) for fault in session.report.faults] == [(4, "second-header")]
        new = await session.append_message(user("q3"))
        assert session.shape(new).parent_id == "a2"
        fork = Path(str(await session.create_branched_session("a2")))
        assert context_pairs(await session.build_session_context())[-1] == ["assistant", "r2"]
    assert path.read_bytes().startswith(before)
    assert [record["type"] for record in records(fork)] == ["session", *["message"] * 4]
