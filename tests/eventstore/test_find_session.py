"""Finding a session by path, by id, or by the beginning of its id."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sessiontree.eventstore.catalogue import find_session
from sessiontree.eventstore.errors import AmbiguousSessionError, SessionNotFoundError

SessionFile = Callable[..., Path]
Line = Callable[..., bytes]


@pytest.fixture
def sessions(session_file: SessionFile, header_line: Line, tmp_path: Path) -> Path:
    """Two sessions that begin alike, one whose id begins another's, one below, and a damaged one."""
    for name in ("0199aaaa-1", "0199aaaa-2", "0199bbbb", "0199bbbb-longer"):
        session_file(name=f"sessions/{name}.jsonl", header=header_line(id=name))
    (tmp_path / "sessions" / "sub").mkdir()
    session_file(name="sessions/sub/below.jsonl", header=header_line(id="below"))
    (tmp_path / "sessions" / "damaged.jsonl").write_bytes(b"garbage")
    return tmp_path / "sessions"


@pytest.mark.parametrize(
    ("target", "file"),
    [
        ("0199aaaa-1", "0199aaaa-1.jsonl"),
        ("0199aaaa-2", "0199aaaa-2.jsonl"),
        ("0199bbbb-", "0199bbbb-longer.jsonl"),
        ("0199bbbb", "0199bbbb.jsonl"),
        ("b", "sub/below.jsonl"),
    ],
)
async def test_an_id_or_its_unique_beginning_names_a_session(sessions: Path, target: str, file: str) -> None:
    """F-20, F-24: a whole id counts before one that only begins so."""
    assert await find_session(target, sessions) == sessions / file


async def test_the_default_directory_is_searched_where_none_is_given(
    sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-33"""
    monkeypatch.setenv("SESSIONTREE_DIR", str(sessions))
    assert await find_session("below") == sessions / "sub" / "below.jsonl"


async def test_a_beginning_that_fits_several_is_ambiguous(sessions: Path) -> None:
    """D14: the error names them."""
    for target, count in (("0199aaaa", 2), ("0", 4)):
        with pytest.raises(AmbiguousSessionError, match="fits") as caught:
            await find_session(target, sessions)
        assert (caught.value.prefix, len(caught.value.paths)) == (target, count)
        assert min(caught.value.paths).name in str(caught.value)


@pytest.mark.parametrize(
    "target", ["", "nothing", "garbage", "damaged", "*", "0199aaaa-1 ", "x" * 5000, "a\0b", "\ud83d"]
)
async def test_what_begins_no_id_is_not_found(sessions: Path, target: str) -> None:
    """D14: an id that is no file name, too."""
    with pytest.raises(SessionNotFoundError) as caught:
        await find_session(target, sessions)
    assert caught.value.target == target
    assert isinstance(caught.value, FileNotFoundError)


async def test_a_path_is_taken_as_it_is(sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-33: whatever is in the file; relative paths too, and paths that are not strings."""
    path = sessions / "damaged.jsonl"
    assert await find_session(path) == await find_session(str(path)) == path
    monkeypatch.chdir(sessions)
    assert await find_session("damaged.jsonl", sessions / "sub") == Path("damaged.jsonl")
    assert await find_session("./0199bbbb.jsonl", sessions / "sub") == Path("0199bbbb.jsonl")
    assert await find_session("sub/below.jsonl", sessions / "sub") == Path("sub/below.jsonl")


@pytest.mark.parametrize(
    "target", ["none.jsonl", "no/such", "/no/such.jsonl", "sub/" + "x" * 300, "damaged.jsonl/below"]
)
async def test_a_path_that_does_not_exist_is_no_id(
    sessions: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """F-80 as settled: also one that no file can have."""
    monkeypatch.chdir(sessions)
    with pytest.raises(SessionNotFoundError) as caught:
        await find_session(target, sessions)
    assert caught.value.target == target


async def test_a_link_that_leads_nowhere_is_not_found(sessions: Path) -> None:
    """D14"""
    link = sessions / "dangling"
    link.symlink_to(sessions / "gone")
    with pytest.raises(SessionNotFoundError):
        await find_session(link, sessions)
