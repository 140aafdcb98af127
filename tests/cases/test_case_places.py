"""Cases 68, 70 and 71: permissions, replacements and links."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionManager, list_sessions

CopyCase = Callable[[str], Path]
Pairs = Callable[[Any], list[list[str]]]
Records = Callable[[Path], list[dict[str, Any]]]

USER = {"role": "user", "content": "three"}


async def test_a_session_under_a_file_cannot_be_made(tmp_path: Path) -> None:
    parent = tmp_path / "a-file"
    parent.write_text("not a directory")
    place = parent / "sessions"
    with pytest.raises(OSError, match="a-file") as caught:
        async with await SessionManager.create(cwd="/proj/demo", sessions_dir=place) as session:
            await session.append_message(USER)
    assert str(place) in str(caught.value)
    assert parent.read_text() == "not a directory"
    assert list(await list_sessions(tmp_path)) == []


@pytest.fixture
def nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Refuses every open for writing in a directory: like its modes would, but for root too."""
    real_open = os.open

    def refuse_in(directory: Path) -> None:
        def guarded(path: Any, flags: int, *args: Any, **keywords: Any) -> int:
            writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            if writes and Path(os.path.realpath(os.fsdecode(path))).is_relative_to(directory):
                raise PermissionError(13, "Permission denied", os.fsdecode(path))
            return real_open(path, flags, *args, **keywords)

        monkeypatch.setattr(os, "open", guarded)
        for file in directory.iterdir():
            file.chmod(0o444)
        directory.chmod(0o555)

    return refuse_in


async def test_a_session_that_cannot_be_written_can_be_read(
    copy_case: CopyCase, context_pairs: Pairs, nothing_can_be_written: Callable[[Path], None]
) -> None:
    """A refused append leaves the leaf and the tree as they were."""
    path = copy_case("68")
    before = path.read_bytes()
    nothing_can_be_written(path.parent)
    try:
        async with await SessionManager.open(path) as session:
            with pytest.raises(OSError, match="Permission denied") as caught:
                await session.append_message(USER)
            assert str(path) in str(caught.value)
            assert (session.leaf_id, session.entry_count, session.child_ids("a1")) == ("a1", 2, [])
            pairs = context_pairs(await session.build_session_context())
            assert pairs == [["user", "q1"], ["assistant", "r1"]]
            with pytest.raises(OSError, match="Permission denied"):
                await session.append_message(USER)
        assert (path.read_bytes(), list(path.parent.iterdir())) == (before, [path])
    finally:
        path.parent.chmod(0o755)


async def test_an_old_session_that_cannot_be_rewritten_is_migrated_in_memory(
    copy_case: CopyCase, context_pairs: Pairs, nothing_can_be_written: Callable[[Path], None]
) -> None:
    """F-105."""
    path = copy_case("70")
    before = path.read_bytes()
    nothing_can_be_written(path.parent)
    try:
        async with await SessionManager.open(path) as session:
            assert context_pairs(await session.build_session_context()) == [
                ["user", "one"],
                ["assistant", "two"],
            ]
            leaf = session.leaf_id
            with pytest.raises(OSError, match="Permission denied") as caught:
                await session.append_message(USER)
            assert str(path.parent) in str(caught.value)
            assert (session.leaf_id, session.entry_count) == (leaf, 2)
        assert (path.read_bytes(), list(path.parent.iterdir())) == (before, [path])
    finally:
        path.parent.chmod(0o755)


async def test_a_refused_replacement_leaves_the_old_file_and_the_next_append_tries_again(
    copy_case: CopyCase, context_pairs: Pairs, records: Records
) -> None:
    """F-105, D7: no half file under the session's name, no temporary file left."""
    path = copy_case("70")
    before = path.read_bytes()

    def refuse(*args: Any, **keywords: Any) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    async with await SessionManager.open(path) as session:
        ids = list(session.path_ids())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "replace", refuse)
            patch.setattr(os, "rename", refuse)
            with pytest.raises(OSError, match="Operation not permitted") as caught:
                await session.append_message(USER)
        assert str(path) in str(caught.value)
        assert (path.read_bytes(), list(path.parent.iterdir())) == (before, [path])
        assert list(session.path_ids()) == ids
        new = await session.append_message(USER)
        assert [text for _, text in context_pairs(await session.build_session_context())] == [
            "one",
            "two",
            "three",
        ]
    header, *entries = records(path)
    assert (header["version"], [entry["id"] for entry in entries]) == (3, [*ids, new])
    assert list(path.parent.iterdir()) == [path]


APPEND_ONE = """
import asyncio, sys
from sessiontree import SessionManager, SessionTreeError

async def main():
    async with await SessionManager.open(sys.argv[1], lock_timeout=30) as session:
        await session.append_message({"role": "user", "content": "from a process"})

try:
    asyncio.run(main())
except SessionTreeError as error:
    print(type(error).__name__, error, file=sys.stderr)
    sys.exit(7)
"""


async def test_two_processes_that_rewrite_one_old_file_leave_one_valid_file(
    copy_case: CopyCase, records: Records
) -> None:
    """F-105, D5: who comes second appends to the new file, or is told that it was rewritten."""
    path = copy_case("70")
    processes = [await asyncio.create_subprocess_exec(sys.executable, "-c", APPEND_ONE, str(path)) for _ in range(2)]
    codes = [await process.wait() for process in processes]
    assert 0 in codes
    assert set(codes) <= {0, 7}
    header, *entries = records(path)
    assert header["version"] == 3
    assert len({entry["id"] for entry in entries}) == len(entries) == 2 + codes.count(0)
    assert list(path.parent.iterdir()) == [path]
    async with await SessionManager.open(path) as session:
        assert session.report.faults == []


async def test_a_link_is_followed_and_the_file_behind_it_keeps_its_mode(copy_case: CopyCase, records: Records) -> None:
    """F-105, D7."""
    path = copy_case("71")
    real = path.parent / "store" / "real.jsonl"
    real.parent.mkdir()
    path.rename(real)
    real.chmod(0o640)
    link = path.with_name("link.jsonl")
    link.symlink_to(Path("store") / "real.jsonl")
    async with await SessionManager.open(link) as session:
        new = await session.append_message(USER)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    header, *entries = records(real)
    assert (header["version"], entries[-1]["id"], len(entries)) == (3, new, 3)
    assert sorted(file.name for file in real.parent.iterdir()) == ["real.jsonl"]
    assert sorted(file.name for file in path.parent.iterdir()) == ["link.jsonl", "store"]
    for name in (link, real):
        async with await SessionManager.open(name) as session:
            assert session.leaf_id == new


async def test_a_directory_of_two_names_lists_its_sessions_under_both(copy_case: CopyCase, tmp_path: Path) -> None:
    directory = copy_case("71").parent
    alias = tmp_path / "alias"
    alias.symlink_to(directory, target_is_directory=True)
    (one,) = await list_sessions(directory)
    (other,) = await list_sessions(alias)
    assert one.id == other.id == "00000000-0000-4000-8000-000000000071"
    assert one.path.samefile(other.path)
