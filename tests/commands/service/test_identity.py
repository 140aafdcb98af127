"""One live session for a file, however it is named (design D5)."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AmbiguousSessionError,
    ReadOnlySessionError,
    SessionLockedError,
    SessionManager,
    SessionNotFoundError,
    SessionService,
)

Store = Callable[..., Awaitable[Path]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def link(target: Path, name: str) -> Path:
    place = target.parent.parent / name
    place.symlink_to(target)
    return place


SPELLINGS: dict[str, Callable[[Path], str | Path]] = {
    "path": lambda path: path,
    "text": str,
    "relative": lambda path: os.path.relpath(path),
    "roundabout": lambda path: f"{path.parent}/../{path.parent.name}/./{path.name}",
    "link": lambda path: link(path, "link.jsonl"),
    "link to a link": lambda path: link(link(path, "link.jsonl"), "another.jsonl"),
    "link to the directory": lambda path: link(path.parent, "directory") / path.name,
    "id": lambda path: path.stem.partition("_")[2],
    "beginning of the id": lambda path: path.stem.partition("_")[2][:-3],
}


@pytest.mark.parametrize("name", SPELLINGS)
async def test_a_session_is_one_however_it_is_named(service: SessionService, path: Path, name: str) -> None:
    """D5, F-24: whichever name comes first."""
    spelling = SPELLINGS[name](path)
    session = await service.open(spelling)
    assert await service.open(path) is session
    assert await service.open(spelling) is session
    assert session.path_ids() == ["a"]


async def test_sessions_of_different_files_are_different(service: SessionService, store: Store) -> None:
    """D5: with the same entries too."""
    sessions = [await service.open(await store()) for _ in range(3)]
    assert len({id(session) for session in sessions}) == len({session.session_id for session in sessions}) == 3


async def test_a_beginning_that_fits_several_ids_is_refused(service: SessionService, store: Store) -> None:
    """F-24: live ones too."""
    paths = [await store(), await store()]
    sessions = [await service.open(path) for path in paths]
    with pytest.raises(AmbiguousSessionError) as caught:
        await service.open(sessions[0].session_id[:6])  # of the time, to an hour or so
    assert sorted(caught.value.paths) == sorted(paths)


async def test_a_hard_link_is_a_file_of_its_own_that_the_lock_guards(service: SessionService, path: Path) -> None:
    """D5: sessions are keyed by path, but locked by file."""
    other_name = path.with_name("hard.jsonl")
    os.link(path, other_name)
    session, other = await service.open(path), await service.open(other_name)
    assert other is not session
    await session.append_message(user("b"), entry_id="b")
    with pytest.raises(SessionLockedError):
        await other.append_message(user("c"))
    assert await other.refresh()
    assert other.entry_ids() == ["a", "b"]


async def test_a_session_without_a_file_yet_is_found_by_path_and_id(
    service: SessionService, sessions_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """F-110, T-80: before its first append, and after it."""
    monkeypatch.chdir(tmp_path)
    session = await service.create(cwd="/proj/demo")
    path = Path(str(session.session_file))
    assert (session.cwd, path.parent, path.exists()) == ("/proj/demo", sessions_dir, False)
    for _ in range(2):
        for name in (path, os.path.relpath(path), session.session_id):
            assert await service.open(name) is session
        await session.append_message(user("a"))
    assert path.exists()


async def test_each_created_session_is_new(service: SessionService) -> None:
    sessions = [await service.create(cwd="/proj/demo") for _ in range(3)]
    assert len({session.session_file for session in sessions}) == 3


async def test_the_most_recent_session_is_continued_live(service: SessionService, store: Store) -> None:
    """F-92: of that working directory, by activity, opened once."""
    older, newer, elsewhere = await store("a"), await store("a"), await store("a", cwd="/proj/other")
    session = await service.continue_recent("/proj/demo")
    assert session is await service.open(newer) is await service.continue_recent("/proj/demo")
    assert await service.continue_recent("/proj/other") is await service.open(elsewhere)
    older_session = await service.open(older)
    await older_session.append_message(user("b") | {"timestamp": 4_000_000_000_000})
    assert await service.continue_recent("/proj/demo") is older_session


async def test_without_a_session_to_continue_one_is_made(service: SessionService, path: Path) -> None:
    """F-92."""
    session = await service.continue_recent("/proj/new")
    assert (session.cwd, session.entry_count) == ("/proj/new", 0)
    await session.append_message(user("a"))
    assert await service.continue_recent("/proj/new") is session is not await service.open(path)


async def test_all_sessions_are_opened_by_the_options_of_the_service(sessions_dir: Path, path: Path) -> None:
    """Opened, continued and made ones."""
    async with SessionService(sessions_dir, read_only=True, id_factory=lambda: "x") as service:
        ways = (service.open(path), service.continue_recent("/proj/demo"), service.create(cwd="/proj/demo"))
        for session in [await way for way in ways]:
            with pytest.raises(ReadOnlySessionError):
                await session.append_message(user("b"))


async def test_the_default_directory_is_that_of_the_library(tmp_path: Path) -> None:
    """F-30: a session that another part of the program has made is found there by its id."""
    async with await SessionManager.create(cwd=tmp_path) as made:
        await made.append_message(user("a"))
    async with SessionService() as service:
        session = await service.open(made.session_id)
        assert session.session_file == made.session_file
        assert await service.continue_recent(tmp_path) is session
        assert (await service.create(cwd=tmp_path)).session_file != made.session_file


@pytest.mark.parametrize(
    "target",
    [
        "",
        "nothing-begins-so",
        "/no/such/file.jsonl",
        "a\0b",
    ],
)
async def test_what_names_no_session_is_not_found(service: SessionService, path: Path, target: str) -> None:
    """F-24, F-90: with other sessions live."""
    await service.open(path)
    with pytest.raises(SessionNotFoundError):
        await service.open(target)
