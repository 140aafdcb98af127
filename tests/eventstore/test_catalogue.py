"""The sessions of a directory: which, in what order, and how they are found by a name."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore import catalogue as module
from sessiontree.eventstore.abort import AbortController
from sessiontree.eventstore.catalogue import SessionInfo, catalogue, most_recent
from sessiontree.eventstore.errors import AbortError, SessionFileError

SessionFile = Callable[..., Path]
Line = Callable[..., bytes]
OLD_NS = 1_000_000_000 * 10**9  # 2001


def at(minute: int) -> str:
    return f"2026-02-16T10:{minute:02}:00.000Z"


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


@pytest.fixture
def add(session_file: SessionFile, header_line: Line, entry_line: Line) -> Callable[..., Path]:
    """Writes a session whose messages have these times; its file is older than all of them."""

    def write(name: str, *times: object, header: dict[str, Any] | None = None, tail: tuple[bytes, ...] = ()) -> Path:
        lines = [entry_line(f"e{number}", timestamp=time) for number, time in enumerate(times)]
        path = session_file(
            *lines, *tail, name=f"sessions/{name}.jsonl", header=header_line(**{"id": name, **(header or {})})
        )
        os.utime(path, ns=(OLD_NS, OLD_NS))
        return path

    return write


Add = Callable[..., Path]


async def names(sessions: Path, **options: Any) -> list[str]:
    return [info.path.stem for info in await catalogue(sessions, **options)]


async def only(sessions: Path) -> SessionInfo:
    [info] = await catalogue(sessions)
    return info


# Order


async def test_the_newest_message_counts_not_the_file(sessions: Path, add: Add) -> None:
    """F-92 as settled, X-46: newest activity first, wherever in the file the newest message stands."""
    add("middle", at(10), at(30), at(20))
    add("newest", at(5), at(40))
    oldest = add("oldest", at(1))
    os.utime(oldest)
    assert await names(sessions) == ["newest", "middle", "oldest"]
    assert [info.modified.minute for info in await catalogue(sessions)] == [40, 30, 1]


async def test_only_messages_count(sessions: Path, add: Add, entry_line: Line) -> None:
    """F-92: a label of today is no activity."""
    add("a", at(10), tail=(entry_line("l", type="label", targetId="e0", timestamp=at(59)),))
    add("b", at(11))
    assert await names(sessions) == ["b", "a"]


async def test_unreadable_times_are_passed_over_and_the_files_time_is_the_last_resort(
    sessions: Path, add: Add, entry_line: Line
) -> None:
    """F-92, T-28: milliseconds and offsets are read too."""
    add("number", 1_771_240_000_000)
    add("offset", "2026-02-16T23:00:00+02:00")
    add("odd", at(10), "yesterday", None, True, "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", 1e300)
    add("none", "yesterday", None, "9999-12-31T23:59:59-14:00")
    add("no message", tail=(entry_line("l", type="custom", customType="x", timestamp=at(59)),))
    add("header only")
    infos = {info.path.stem: info.modified for info in await catalogue(sessions)}
    assert infos["number"] == datetime(2026, 2, 16, 11, 6, 40, tzinfo=UTC)
    assert infos["offset"] == datetime(2026, 2, 16, 21, tzinfo=UTC)
    assert infos["odd"] == datetime(2026, 2, 16, 10, 10, tzinfo=UTC)
    file_time = datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)
    assert {infos[name] for name in ("none", "no message", "header only")} == {file_time}


async def test_times_at_the_ends_of_the_calendar_are_shown(sessions: Path, add: Add) -> None:
    """F-92, T-28: no time of one file is the end of the list."""
    add("late", "9999-12-31T23:59:59.999999Z", 253_402_300_799_999)
    add("early", "0001-01-01T00:00:00Z", -62_135_596_800_000)
    assert await names(sessions) == ["late", "early"]


async def test_equal_times_are_in_the_order_of_their_paths(sessions: Path, add: Add) -> None:
    """F-92: the same every time, in whatever order they were made."""
    for name in ("d", "a", "c", "b"):
        add(name, at(10))
    assert await names(sessions) == ["a", "b", "c", "d"]


# How much of a file is read


@pytest.mark.parametrize("filler", [70_000, 1 << 20, 3 << 20])
@pytest.mark.parametrize("place", ["before", "after", "between"])
async def test_where_the_end_holds_no_message_the_whole_file_is_looked_at(
    sessions: Path, add: Add, entry_line: Line, json_line: Line, filler: int, place: str
) -> None:
    """F-92 as settled: also when one line is longer than any part that is read at once."""
    other = entry_line("big", type="custom", customType="x", data="y" * filler)
    message = entry_line("m", timestamp=at(33))
    large = entry_line("m2", text="z" * filler, timestamp=at(34))
    tails = {"before": (message, other), "after": (other, message), "between": (other, large, other, other)}
    add("a", tail=tails[place])
    assert (await only(sessions)).modified.minute == (34 if place == "between" else 33)


@pytest.mark.parametrize("size", [60_000, 65_535, 65_536, 65_537, 70_000, 200_000, 1_500_000, 5_000_000])
@pytest.mark.parametrize("newline", [b"\n", b""])
async def test_a_last_message_of_any_length_is_found(
    sessions: Path, add: Add, entry_line: Line, size: int, newline: bytes
) -> None:
    """F-92: an older message before it does not stand for it."""
    line = entry_line("big", timestamp=at(40))
    line = entry_line("big", timestamp=at(40), text="x" * (size - len(line) + 5))
    path = add("a", at(10), tail=(line,))
    path.write_bytes(path.read_bytes()[:-1] + newline)
    assert (await only(sessions)).modified.minute == 40


async def test_of_a_long_file_with_messages_at_its_end_only_the_end_is_read(
    sessions: Path, add: Add, entry_line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-92: a directory of 10,000 sessions is listed without reading them whole."""
    lines = [entry_line(str(number), text="x" * 2000, timestamp=at(number % 60)) for number in range(2000)]
    add("a", tail=tuple(lines))
    read = 0
    real_pread = os.pread

    def pread(fd: int, size: int, offset: int) -> bytes:
        nonlocal read
        data = real_pread(fd, size, offset)
        read += len(data)
        return data

    monkeypatch.setattr(os, "pread", pread)
    assert (await only(sessions)).modified.minute == 59
    assert read <= module._PREFIX + module._TAIL


@pytest.mark.parametrize("size", [20_000, 300_000, (1 << 20) - 1])
async def test_a_long_header_is_read_whole(sessions: Path, add: Add, header_line: Line, size: int) -> None:
    """F-92 as settled, F-02: up to 1 MiB."""
    bare = len(header_line(id="a", systemPrompt=""))
    add("a", at(10), header={"systemPrompt": "x" * (size - bare)})
    info = await only(sessions)
    assert (info.id, info.fault, info.modified.minute) == ("a", None, 10)


async def test_a_torn_or_damaged_end_hides_nothing(sessions: Path, add: Add) -> None:
    """F-81, F-92"""
    path = add("a", at(10), tail=(b"\x00" * 3000, b"{torn", b"null"))
    with path.open("ab") as file:
        file.write(b'{"type":"message","id":"torn","timestamp":"' + at(50).encode())
    assert (await only(sessions)).modified.minute == 10


@pytest.mark.parametrize("version", [None, 1, 2, 3, 4])
async def test_sessions_of_every_version_are_listed(sessions: Path, add: Add, version: int | None) -> None:
    """F-100, F-92"""
    add("a", at(10), at(12), header={"version": version})
    info = await only(sessions)
    assert (info.version, info.modified.minute, info.fault) == (version or 1, 12, None)


# What is shown


async def test_a_session_is_described_by_its_header(sessions: Path, add: Add) -> None:
    """F-10, F-91: the recorded cwd, whether it exists or not."""
    path = add("a", at(10), header={"parentSession": "p", "cwd": "/gone", "timestamp": at(1)})
    info = await only(sessions)
    assert (info.path, info.id, info.cwd, info.created, info.parent_session) == (path, "a", "/gone", at(1), "p")
    assert (info.size, info.is_link, info.name, info.message_count) == (path.stat().st_size, False, None, None)


async def test_a_link_to_a_session_is_marked(sessions: Path, add: Add, tmp_path: Path) -> None:
    """D7, D5: it is the same session under another name."""
    path = add("a", at(10))
    (sessions / "b.jsonl").symlink_to(path)
    (sessions / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    infos = await catalogue(sessions)
    assert [(info.path.stem, info.is_link, info.id) for info in infos] == [("a", False, "a"), ("b", True, "a")]


async def test_files_that_are_no_sessions_come_last_with_the_reason(
    sessions: Path, add: Add, header_line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-82, F-89, F-92: damaged files are marked, never fatal."""
    add("good", at(1))
    add("unreadable", at(50))
    contents = {
        "binary": b"\x00\xff" * 500,
        "empty": b"",
        "garbage": b"hello\n",
        "no header": b'{"type":"message","id":"a"}\n',
        "version": header_line(version=0) + b"\n",
        "huge version": header_line()[:-1] + b',"version":1e999}\n',
    }
    for name, content in contents.items():
        (sessions / f"{name}.jsonl").write_bytes(content)
    os.mkfifo(sessions / "pipe.jsonl")
    real_open = os.open

    def refuse(path: Any, *arguments: Any, **options: Any) -> int:
        if str(path).endswith("unreadable.jsonl"):
            raise PermissionError(13, "Permission denied", str(path))
        return real_open(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    infos = await catalogue(sessions)
    assert (infos[0].path.stem, infos[0].fault) == ("good", None)
    faults = {info.path.stem: info.fault for info in infos[1:]}
    assert set(faults) == {*contents, "pipe", "unreadable"}
    assert all(info.id is None for info in infos[1:])
    assert (faults["empty"], faults["unreadable"]) == ("empty file", "Permission denied")
    assert "line 1" in (faults["garbage"] or "")


async def test_a_file_that_vanishes_meanwhile_is_left_out(
    sessions: Path, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-92"""
    for name in "abc":
        add(name, at(10))
    stamp_of = module.stamp_of

    def stamp_and_remove(path: Path) -> object:
        stamp = stamp_of(path)
        path.unlink(missing_ok=True) if path.stem == "b" else None
        (sessions / "c.jsonl").unlink(missing_ok=True)
        return stamp

    monkeypatch.setattr(module, "stamp_of", stamp_and_remove)
    assert await names(sessions) == ["a"]


async def test_only_the_sessions_of_a_working_directory(sessions: Path, add: Add, tmp_path: Path) -> None:
    """F-33, F-92 as settled: by canonical path; one level below counts too."""
    (tmp_path / "work").mkdir()
    (tmp_path / "link").symlink_to("work")
    work, link = str(tmp_path / "work"), str(tmp_path / "link")
    add("direct", at(1), header={"cwd": work})
    add("by link", at(2), header={"cwd": link + "/."})
    add("other", at(3), header={"cwd": work + "-not"})
    add("inside", at(4), header={"cwd": work + "/sub"})
    add("none", at(5), header={"cwd": None})
    add("odd", at(6), header={"cwd": "/a\0b"})
    for cwd in (work, link, Path(work)):
        assert await names(sessions, cwd=cwd) == ["by link", "direct"]
    assert await names(sessions, cwd=tmp_path / "gone") == []


async def test_a_directory_that_cannot_be_listed_is_an_error_and_one_that_is_not_there_is_empty(
    tmp_path: Path,
) -> None:
    """D14, X-46"""
    (tmp_path / "file").touch()
    with pytest.raises(SessionFileError) as caught:
        await catalogue(tmp_path / "file")
    assert caught.value.path == tmp_path / "file"
    assert await catalogue(tmp_path / "none") == await catalogue() == []


async def test_progress_is_told_and_an_abort_ends_the_listing(sessions: Path, add: Add) -> None:
    """D8"""
    for number in range(70):
        add(f"{number:02}", at(1))
    told: list[tuple[int, int]] = []
    assert len(await catalogue(sessions, progress=lambda done, of: told.append((done, of)))) == 70
    assert told == [(32, 70), (64, 70), (70, 70)]
    controller = AbortController()
    with pytest.raises(AbortError):
        await catalogue(sessions, progress=lambda *_: controller.abort(), signal=controller.signal)


# The most recent


async def test_the_most_recent_session_of_a_working_directory(sessions: Path, add: Add) -> None:
    """F-92 as settled, X-46, X-49: newest activity, damaged files passed over, None where there is none."""
    add("old", at(1))
    newest = add("new", at(2))
    add("elsewhere", at(3), header={"cwd": "/other"})
    (sessions / "damaged.jsonl").write_bytes(b"garbage")
    (sessions / "newer.json").write_bytes(newest.read_bytes())
    assert await most_recent(sessions, "/proj/demo") == newest
    assert await most_recent(sessions, "/nowhere") is None
    assert await most_recent(sessions / "none", "/proj/demo") is None
