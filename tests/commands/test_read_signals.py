"""Reads that take `signal=` stop when it is aborted (D8)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import AbortController, AbortError, AbortSignal, SessionEntry, SessionManager

Make = Callable[..., Awaitable[SessionManager]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def chain(session: SessionManager, *ids: str) -> None:
    for entry_id in ids:
        await session.append_message(user(entry_id), entry_id=entry_id)


async def scanned(session: SessionManager, signal: AbortSignal) -> list[SessionEntry]:
    return [entry async for entry in session.scan_entries(signal=signal)]


@pytest.mark.parametrize(
    "method", ["get_entries", "scan_entries", "get_branch", "get_tree", "get_children", "get_entry", "context"]
)
async def test_what_loads_bodies_can_be_aborted(make_file: Make, method: str) -> None:
    """D8: with the reason that was given; the session is as good as before."""
    session = await make_file()
    await chain(session, "a", "b")
    await session.close()
    async with await SessionManager.open(str(session.session_file)) as again:
        calls: dict[str, Callable[..., Awaitable[object]]] = {
            "get_entries": again.get_entries,
            "scan_entries": lambda signal: scanned(again, signal),
            "get_branch": again.get_branch,
            "get_tree": again.get_tree,
            "get_children": lambda signal: again.get_children("a", signal=signal),
            "get_entry": lambda signal: again.get_entry("b", signal=signal),
            "context": again.build_session_context,
        }
        controller = AbortController()
        controller.abort("enough")
        with pytest.raises(AbortError) as caught:
            await calls[method](signal=controller.signal)
        assert caught.value.reason == "enough"
        assert await calls[method](signal=AbortController().signal)


async def test_a_long_read_stops_when_it_is_aborted_midway(make_file: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """D8: the next slice is not read."""
    session = await make_file(durability="os")
    await session.append_many([user("x")] * 1000)
    await session.close()
    async with await SessionManager.open(str(session.session_file)) as again:
        controller = AbortController()
        slices: list[int] = []
        store: Any = type(again._log.store)
        read_now = store.read_lines_now

        def read_and_abort(self: object, seqs: list[int]) -> object:
            slices.append(len(seqs))
            controller.abort()
            return read_now(self, seqs)

        monkeypatch.setattr(store, "read_lines_now", read_and_abort)
        with pytest.raises(AbortError):
            await again.get_entries(signal=controller.signal)
        assert len(slices) == 1
        assert slices[0] < 1000


async def test_opening_can_be_aborted(make_file: Make) -> None:
    session = await make_file()
    await chain(session, "a")
    controller = AbortController()
    controller.abort("enough")
    with pytest.raises(AbortError):
        await SessionManager.open(str(session.session_file), signal=controller.signal)
