"""Several who open the same file at once: it is opened once, and what befalls one does not harm the others."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AbortController,
    AbortError,
    AbortSignal,
    NotASessionError,
    SessionManager,
    SessionNotFoundError,
    SessionOpened,
    SessionService,
    SessionTreeError,
)

Store = Callable[..., Awaitable[Path]]
Hold = Callable[..., Any]
Opening = asyncio.Future[SessionManager]


def start(service: SessionService, path: Path, count: int, signal: AbortSignal | None = None) -> list[Opening]:
    return [asyncio.ensure_future(service.open(path, signal=signal)) for _ in range(count)]


async def test_a_file_is_opened_once_however_many_ask_for_it(
    service: SessionService, path: Path, hold: Hold, heard: Any
) -> None:
    """D5: by any name, while it is being opened and after."""
    link = path.parent.parent / "link.jsonl"
    link.symlink_to(path)
    session_id = path.stem.partition("_")[2]
    opening = hold(SessionManager, "open")
    asked = [asyncio.ensure_future(service.open(name)) for name in [str(path), str(link), session_id] * 16]
    asked += [asyncio.ensure_future(service.continue_recent("/proj/demo")) for _ in range(2)]
    await opening.begun()
    opening.go_on.set()
    sessions = await asyncio.gather(*asked)
    assert ({id(session) for session in sessions}, opening.count) == ({id(sessions[0])}, 1)
    await service.close()
    assert [event.session_file for event in await heard.rest() if isinstance(event, SessionOpened)] == [str(path)]


async def test_different_files_are_opened_beside_each_other(service: SessionService, store: Store, hold: Hold) -> None:
    paths = [await store() for _ in range(5)]
    opening = hold(SessionManager, "open")
    asked = [asyncio.ensure_future(service.open(path)) for path in paths]
    await opening.begun(5)
    opening.go_on.set()
    assert [session.session_file for session in await asyncio.gather(*asked)] == [str(path) for path in paths]


@pytest.mark.parametrize("who", ["first", "later"])
@pytest.mark.parametrize("how", ["cancelled", "aborted"])
async def test_an_opener_that_goes_away_does_not_harm_the_others(
    service: SessionService, path: Path, hold: Hold, how: str, who: str
) -> None:
    """D8: whoever came first."""
    controller = AbortController()
    opening = hold(SessionManager, "open")
    leaving = start(service, path, 1, controller.signal) if who == "first" else []
    staying = start(service, path, 2)
    leaving += start(service, path, 1, controller.signal)
    await opening.begun()
    await asyncio.sleep(0)
    if how == "aborted":
        controller.abort()
    for gone in leaving:
        if how == "cancelled":
            gone.cancel()
        with pytest.raises(asyncio.CancelledError if how == "cancelled" else AbortError):
            await gone
    assert not any(one.done() for one in staying)
    opening.go_on.set()
    first, second = await asyncio.gather(*staying)
    assert first is second is await service.open(path)
    assert opening.count == 1


async def test_a_session_that_nobody_waits_for_any_more_is_there_for_the_next(
    service: SessionService, path: Path, hold: Hold, heard: Any
) -> None:
    """D8: the opening goes on, and is shared."""
    opening = hold(SessionManager, "open")
    [gone] = start(service, path, 1)
    await opening.begun()
    gone.cancel()
    await asyncio.wait([gone])
    [late] = start(service, path, 1)
    opening.go_on.set()
    session = await late
    assert (session.path_ids(), opening.count) == (["a"], 1)
    await service.close()
    assert len([event for event in await heard.rest() if isinstance(event, SessionOpened)]) == 1


WAYS: dict[str, Callable[[SessionService, Path, AbortSignal], Awaitable[SessionManager]]] = {
    "path": lambda service, path, signal: service.open(path, signal=signal),
    "id": lambda service, path, signal: service.open(path.stem.partition("_")[2], signal=signal),
    "unknown id": lambda service, _, signal: service.open("nothing", signal=signal),
    "recent": lambda service, _, signal: service.continue_recent("/proj/demo", signal=signal),
    "new": lambda service, _, signal: service.continue_recent("/proj/new", signal=signal),
}


@pytest.mark.parametrize("way", WAYS)
async def test_an_aborted_signal_opens_nothing_for_its_owner(service: SessionService, path: Path, way: str) -> None:
    """D8: another can open it all the same."""
    controller = AbortController()
    controller.abort("not wanted")
    with pytest.raises(AbortError, match="not wanted"):
        await WAYS[way](service, path, controller.signal)
    assert (await service.open(path)).path_ids() == ["a"]


async def test_a_signal_that_is_not_aborted_changes_nothing(service: SessionService, path: Path) -> None:
    signal = AbortController().signal
    session = await service.open(path, signal=signal)
    assert session is await service.open(path.stem.partition("_")[2], signal=signal)
    assert session is await service.continue_recent("/proj/demo", signal=signal)


@pytest.mark.parametrize(
    ("content", "error"), [(None, SessionNotFoundError), (b'{"type":"other"}\n', NotASessionError)]
)
async def test_a_failed_open_fails_for_all_who_asked_and_can_be_tried_again(
    service: SessionService, store: Store, path: Path, content: bytes | None, error: type[SessionTreeError]
) -> None:
    """F-89, F-90: as `SessionManager.open` fails; nothing stays behind."""
    right = path.read_bytes()
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    for _ in range(2):
        results = await asyncio.gather(*start(service, path, 50), return_exceptions=True)
        assert [type(result) for result in results] == [error] * 50
    path.write_bytes(right)
    session = await service.open(path)
    assert (session.path_ids(), await service.open(path)) == (["a"], session)


async def test_an_opening_that_fails_when_nobody_waits_any_more_troubles_nobody(
    service: SessionService, path: Path, hold: Hold
) -> None:
    """D8: not even the event loop, with an exception that was never retrieved."""
    unheard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context))
    opening = hold(SessionManager, "open")
    [gone] = start(service, path, 1)
    await opening.begun()
    gone.cancel()
    await asyncio.wait([gone])
    path.write_bytes(b"no session")
    opening.go_on.set()
    with pytest.raises(NotASessionError):
        await service.open(path)
    del gone
    gc.collect()
    assert unheard == []


async def test_an_event_loop_that_ends_during_an_opening_ends_quietly(
    sessions_dir: Path, path: Path, hold: Hold
) -> None:
    """D8: the opening is cancelled with everything else."""
    unheard: list[dict[str, Any]] = []
    opening = hold(SessionManager, "open")

    async def leave() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context))
        asker = start(SessionService(sessions_dir), path, 1)
        await opening.begun()
        assert not asker[0].done()

    await asyncio.to_thread(asyncio.run, leave())
    gc.collect()
    assert unheard == []
