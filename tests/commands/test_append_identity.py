"""Ids and times of entries: the caller's own, and who else makes them (F-20..F-23)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import EntryConflictError, InvalidEntryError, SessionManager

Make = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def test_the_same_id_with_the_same_content_is_answered_and_not_written_twice(session: SessionManager) -> None:
    """The contract of `entry_id`: a retry is safe, wherever the leaf has gone meanwhile."""
    assert await session.append_message(user("1"), entry_id="a") == "a"
    await session.append_message(user("2"), entry_id="b")
    assert await session.append_message(user("1"), entry_id="a") == "a"
    assert (session.leaf_id, session.entry_ids()) == ("b", ["a", "b"])


async def test_a_retry_is_answered_though_the_leaf_is_another(session: SessionManager) -> None:
    """The first call may have moved it: `expected_leaf` is for what is yet to be written."""
    await session.append_message(user("1"), entry_id="a", expected_leaf=None)
    assert await session.append_message(user("1"), entry_id="a", expected_leaf=None) == "a"
    assert session.entry_count == 1


async def test_the_same_id_with_other_content_is_refused(session: SessionManager) -> None:
    await session.append_message(user("1"), entry_id="a")
    calls: list[Awaitable[str]] = [
        session.append_message(user("2"), entry_id="a"),
        session.append_custom_entry("note", entry_id="a"),
        session.append_label_change("a", "x", entry_id="a"),
    ]
    for call in calls:
        with pytest.raises(EntryConflictError, match=r"^Entry a exists with other content$") as caught:
            await call
        assert caught.value.entry_id == "a"
    assert (session.leaf_id, session.entry_count) == ("a", 1)


async def test_every_append_takes_an_id(session: SessionManager) -> None:
    await session.append_message(user("1"), entry_id="a")

    async def append_all() -> list[str]:
        return [
            await session.append_thinking_level_change("high", entry_id="b"),
            await session.append_model_change("acme/m-1", entry_id="c"),
            await session.append_mode_change("plan", {"x": 1}, entry_id="d"),
            await session.append_ttsr_injection(["r"], entry_id="e"),
            await session.append_service_tier_change({"openai": "flex"}, entry_id="f"),
            await session.append_custom_entry("note", 1.5, entry_id="g"),
            await session.append_custom_message_entry("note", "x", True, entry_id="h"),
            await session.append_compaction("s", "a", 1, from_extension=False, entry_id="i"),
            await session.append_label_change("a", "x", entry_id="j"),
            await session.set_session_name("x", entry_id="k"),
        ]

    assert await append_all() == await append_all() == list("bcdefghijk")
    assert session.path_ids() == list("abcdefghijk")


async def test_a_retry_is_known_after_reopening(make_file: Make) -> None:
    session = await make_file()
    await session.append_custom_entry("note", {"odd": "\ud800", "not a number": float("nan")}, entry_id="a")
    await session.close()
    async with await SessionManager.open(str(session.session_file)) as again:
        data = {"odd": "\ud800", "not a number": float("nan")}
        assert await again.append_custom_entry("note", data, entry_id="a") == "a"
        assert again.entry_count == 1


async def test_a_retry_waits_for_the_first_call(make: Make) -> None:
    """Two calls at once with one id are one entry; with other content the second is refused."""
    session = await make()
    same, other = await asyncio.gather(
        asyncio.gather(*(session.append_message(user("1"), entry_id="a") for _ in range(3))),
        session.append_message(user("2"), entry_id="a"),
        return_exceptions=True,
    )
    assert same == ["a", "a", "a"]
    assert isinstance(other, EntryConflictError)
    assert session.entry_ids() == ["a"]


async def test_callers_of_one_id_write_it_once_though_the_first_gave_up(make_file: Make, records: Records) -> None:
    """D4: the withdrawn entry is the first caller's; of those who wait for it one writes."""
    holder = await make_file()
    await holder.append_message(user("holder"), entry_id="h")
    session = await SessionManager.open(str(holder.session_file), lock_timeout=30)
    first, second, third = (asyncio.ensure_future(session.append_message(user("1"), entry_id="a")) for _ in range(3))
    await asyncio.sleep(0.02)
    first.cancel()
    await asyncio.sleep(0)
    await holder.close()
    assert (await second, await third) == ("a", "a")
    assert first.cancelled()
    assert [line["id"] for line in records(session)[1:]] == ["h", "a"]
    await session.close()


@pytest.mark.parametrize("entry_id", ["", 5])
async def test_what_cannot_be_an_id_is_refused(session: SessionManager, entry_id: Any) -> None:
    """F-21: an empty one would read as no position (T-22)."""
    with pytest.raises(InvalidEntryError):
        await session.append_message(user("1"), entry_id=entry_id)
    assert session.entry_count == 0


async def test_ids_come_from_the_factory_that_was_given(make: Make) -> None:
    """The contract of `id_factory`: asked again for one that is taken, in a batch too."""
    ids = iter(["a", "a", "b", "b", "a", "c", "c", "d"])
    session = await make(id_factory=lambda: next(ids))
    assert await session.append_message(user("1")) == "a"
    assert await session.append_message(user("2")) == "b"
    assert await session.append_many([user("3"), user("4")]) == ["c", "d"]
    assert session.path_ids() == ["a", "b", "c", "d"]
    assert session.report.faults == []


async def test_a_factory_is_asked_for_entries_only(make: Make) -> None:
    """F-20: a session's id is its own affair."""
    session = await make(id_factory=iter(["a", "b"]).__next__)
    await session.append_message(user("1"))
    await session.new_session()
    assert await session.append_message(user("1")) == "b"


async def test_a_factory_that_only_repeats_itself_does_not_hang_the_loop(make: Make) -> None:
    """F-22: after a hundred tries a longer, unique id."""
    calls = 0

    def stuck() -> str:
        nonlocal calls
        calls += 1
        if calls > 10_000:
            raise AssertionError("asked without end")
        return "a"

    session = await make(id_factory=stuck)
    ids = [await session.append_message(user("1")), await session.append_message(user("2"))]
    assert ids[0] == "a"
    assert len(set(ids)) == 2


async def test_times_come_from_the_clock_that_was_given(make: Make) -> None:
    """F-23: UTC with milliseconds; of the header too."""
    moment = 0.0
    session = await make(clock=lambda: moment)
    assert session.header.timestamp == "1970-01-01T00:00:00.000Z"
    for at, stamp in ((1.0015, "1970-01-01T00:00:01.001Z"), (951_782_400.5, "2000-02-29T00:00:00.500Z")):
        moment = at
        entry = await session.get_entry(await session.append_message(user("1")))
        assert entry is not None
        assert entry.timestamp == stamp
        assert session.shape(entry.id).timestamp == stamp


async def test_a_fork_uses_clock_and_factory_too(make: Make) -> None:
    """T-63, T-65."""
    ids = iter("abcdefg")
    session = await make(clock=lambda: 1.0, id_factory=lambda: next(ids))
    await session.append_message(user("1"))
    await session.append_label_change("a", "x")
    await session.create_branched_session("a")
    assert session.entry_ids() == ["a", "c"]
    assert session.header.timestamp == "1970-01-01T00:00:01.000Z"
    assert session.shape("c").timestamp == "1970-01-01T00:00:01.000Z"
