"""A session that was closed behind the service's back, or whose file another program took away: opened anew."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AppendError,
    NotASessionError,
    SessionManager,
    SessionNotFoundError,
    SessionRewrittenError,
    SessionService,
    SessionTreeError,
)
from sessiontree.eventstore.jsonl_store import JsonlEventStore

Store = Callable[..., Awaitable[Path]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def append(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


async def test_after_a_session_was_closed_its_file_is_opened_anew(service: SessionService, path: Path) -> None:
    """By any name, as often as it is closed."""
    sessions: list[SessionManager] = []
    for name in (path, path.stem.partition("_")[2], path):
        async with await service.open(name) as session:
            assert session not in sessions
            await append(session, f"b{len(sessions)}")
        sessions.append(session)
    assert (await service.open(path)).path_ids() == ["a", "b0", "b1", "b2"]


async def test_a_closed_session_that_was_never_written_is_gone(service: SessionService) -> None:
    """F-110."""
    session = await service.create()
    await session.close()
    for name in (str(session.session_file), session.session_id):
        with pytest.raises(SessionNotFoundError):
            await service.open(name)


async def test_who_opens_a_session_that_its_user_is_closing_gets_a_new_one(
    service: SessionService, path: Path, hold: Callable[..., Any]
) -> None:
    """D5: as while it is closed for being idle."""
    session = await service.open(path)
    await append(session, "b")
    gate = hold(JsonlEventStore, "close")
    closing = asyncio.ensure_future(session.close())
    await gate.begun()
    opening = asyncio.ensure_future(service.open(path))
    for _ in range(10):
        await asyncio.sleep(0)
    gate.go_on.set()
    await closing
    again = await opening
    assert again is not session
    await append(again, "c")


@pytest.fixture
async def lazy_service(sessions_dir: Path) -> AsyncIterator[SessionService]:
    """A service that syncs when a session is closed, which may fail."""
    service = SessionService(sessions_dir, durability="os")
    yield service
    try:
        await service.close()
    except AppendError:
        return


async def test_after_a_session_was_closed_with_an_error_its_file_is_opened_anew(
    lazy_service: SessionService, path: Path, disk: Any
) -> None:
    """D4: after a failed sync a session must be opened again."""
    session = await lazy_service.open(path)
    await append(session, "b")
    disk.sync_error = OSError(errno.EIO, "Input/output error")
    with pytest.raises(AppendError):
        await session.close()
    disk.sync_error = None
    again = await lazy_service.open(path)
    assert again is not session
    await append(again, "c")
    assert again.path_ids() == ["a", "b", "c"]


async def test_after_a_failed_sync_the_session_is_closed_and_opened_again(
    service: SessionService, path: Path, disk: Any
) -> None:
    """D4: what the error asks for can be done; the service does not do it by itself."""
    session = await service.open(path)
    disk.sync_error = OSError(errno.EIO, "Input/output error")
    with pytest.raises(AppendError):
        await append(session, "b")
    disk.sync_error = None
    with pytest.raises(AppendError):
        await append(await service.open(path), "c")
    await session.close()
    again = await service.open(path)
    await append(again, "d")
    assert again.path_ids() == ["a", "b", "d"]


@pytest.mark.parametrize("change", ["rewritten", "replaced"])
async def test_after_a_file_was_rewritten_the_session_is_closed_and_opened_again(
    service: SessionService, path: Path, change: str
) -> None:
    """D5: a writer is told, with nothing written; the service does not drop a session that somebody uses."""
    session = await service.open(path)
    await append(session, "b")
    lines = path.read_bytes().splitlines(keepends=True)
    if change == "replaced":
        path.unlink()
    path.write_bytes(lines[0] + lines[1].replace(b'"a"', b'"z"'))
    with pytest.raises(SessionRewrittenError):
        await append(session, "c")
    assert await service.open(path) is session
    await session.close()
    again = await service.open(path)
    await append(again, "d")
    assert again.entry_ids() == ["z", "d"]


@pytest.mark.parametrize(("content", "error"), [(None, SessionNotFoundError), (b"{}\n", NotASessionError)])
async def test_a_file_that_is_gone_is_no_session_any_more_once_it_was_closed(
    service: SessionService, path: Path, content: bytes | None, error: type[SessionTreeError]
) -> None:
    """F-89, F-90."""
    session = await service.open(path)
    await append(session, "b")
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SessionRewrittenError):
        await append(session, "c")
    await session.close()
    with pytest.raises(error):
        await service.open(path)
    assert (path.read_bytes() if path.exists() else None) == content


async def test_the_other_sessions_do_not_mind(service: SessionService, store: Store, path: Path) -> None:
    """D7: what happens to one file."""
    other = await service.open(await store())
    await append(await service.open(path), "b")
    path.unlink()
    await append(other, "b")
    await service.close()
    assert not path.exists()


@pytest.mark.parametrize("change", ["removed", "turned elsewhere"])
async def test_a_session_that_was_opened_by_a_link_is_forgotten_whatever_becomes_of_the_link(
    service: SessionService, store: Store, path: Path, change: str
) -> None:
    """D5: it is keyed by the file that it is in; closed, it is not handed out again."""
    link = path.parent.parent / "link.jsonl"
    link.symlink_to(path)
    session = await service.open(link)
    other = await store()
    link.unlink()
    if change == "turned elsewhere":
        link.symlink_to(other)
        assert (await service.open(link)).session_id != session.session_id
    await session.close()
    again = await service.open(path)
    assert again is not session
    await append(again, "b")


async def test_a_link_that_was_turned_elsewhere_opens_what_it_leads_to(
    service: SessionService, store: Store, path: Path
) -> None:
    """D5: the resolved path counts, at the time of the call."""
    link = path.parent.parent / "link.jsonl"
    link.symlink_to(path)
    session, other = await service.open(link), await service.open(await store())
    os.replace(path, path.with_name("moved.jsonl"))
    link.unlink()
    link.symlink_to(str(other.session_file))
    assert await service.open(link) is other is not session
