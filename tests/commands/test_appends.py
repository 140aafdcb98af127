"""Appends: each makes one entry below the leaf and becomes the leaf (T-10..T-15), in a file and in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import Cursor, InvalidEntryError, SessionManager

Make = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "assistant", "content": content, "provider": "acme", "model": "m-1", "stopReason": "stop"}


async def append_any(cursor: Cursor, kind: str, target: str) -> str:
    """Append one entry of a kind; `target` is an entry for those that name one."""
    match kind:
        case "message":
            return await cursor.append_message(user("hello"))
        case "thinking_level_change":
            return await cursor.append_thinking_level_change("high")
        case "model_change":
            return await cursor.append_model_change("acme/m-1")
        case "mode_change":
            return await cursor.append_mode_change("plan", {"file": "plan.md"})
        case "ttsr_injection":
            return await cursor.append_ttsr_injection(["rule"])
        case "service_tier_change":
            return await cursor.append_service_tier_change({"openai": "flex"})
        case "custom":
            return await cursor.append_custom_entry("note", {"key": 1})
        case "custom_message":
            return await cursor.append_custom_message_entry("note", "text", True)
        case "compaction":
            return await cursor.append_compaction("so far", target, 1200)
        case "label":
            return await cursor.append_label_change(target, "mark")
        case "session_info":
            return await cursor.set_session_name("a name")
    raise AssertionError(kind)


KINDS = [
    "message",
    "thinking_level_change",
    "model_change",
    "mode_change",
    "ttsr_injection",
    "service_tier_change",
    "custom",
    "custom_message",
    "compaction",
    "label",
    "session_info",
]


async def test_messages_form_a_chain(session: SessionManager) -> None:
    """X-01, T-10: the first has no parent, each next one hangs on the one before."""
    ids = [await session.append_message(message) for message in (user("1"), assistant("2"), user("3"))]
    assert [session.shape(entry_id).parent_id for entry_id in ids] == [None, ids[0], ids[1]]
    assert [entry.parent_id for entry in await session.get_entries()] == [None, ids[0], ids[1]]


async def test_the_leaf_is_null_at_first_and_follows_each_append(session: SessionManager) -> None:
    """X-06, T-10, T-20."""
    assert session.leaf_id is None
    for number in range(3):
        new = await session.append_message(user(str(number)))
        assert session.leaf_id == new


@pytest.mark.parametrize("kind", KINDS)
async def test_each_kind_is_an_ordinary_link_of_the_chain(session: SessionManager, kind: str) -> None:
    """X-02..X-05, T-10, T-11, T-13: the next message hangs on it."""
    first = await session.append_message(user("before"))
    entry_id = await append_any(session, kind, first)
    after = await session.append_message(assistant("after"))
    assert session.shape(entry_id).type == kind
    assert (session.shape(entry_id).parent_id, session.shape(after).parent_id) == (first, entry_id)
    assert session.path_ids() == [first, entry_id, after]
    assert session.entry_count == 3


async def test_an_id_is_8_hex_characters_and_each_is_new(session: SessionManager) -> None:
    """F-21, T-10."""
    ids = [await session.append_message(user("same")) for _ in range(20)]
    assert len(set(ids)) == 20
    assert all(len(entry_id) == 8 and int(entry_id, 16) >= 0 for entry_id in ids)


async def test_a_settings_entry_keeps_its_values(session: SessionManager) -> None:
    """X-02..X-05, F-41, F-42, F-44, F-46."""
    first = await session.append_message(user("before"))
    thinking: Any = await session.get_entry(await session.append_thinking_level_change("high"))
    assert thinking.thinking_level == "high"
    model: Any = await session.get_entry(await session.append_model_change("acme/m-1"))
    assert (model.model, model.full_model) == ("acme/m-1", "acme/m-1")
    compaction: Any = await session.get_entry(await session.append_compaction("so far", first, 1200))
    assert (compaction.summary, compaction.first_kept_entry_id, compaction.tokens_before) == ("so far", first, 1200)
    custom: Any = await session.get_entry(await session.append_custom_entry("note", {"deep": [1]}))
    assert (custom.custom_type, custom.data) == ("note", {"deep": [1]})


async def test_a_custom_entry_is_on_the_path_and_not_in_the_context(session: SessionManager) -> None:
    """X-29, F-46, C-24."""
    first = await session.append_message(user("hello"))
    note = await session.append_custom_entry("note", {"key": 1})
    assert session.path_ids() == [first, note]
    assert [entry.id for entry in await session.get_entries()] == [first, note]
    assert (await session.build_session_context()).messages == [user("hello")]


async def test_a_message_keeps_what_only_its_provider_knows(session: SessionManager) -> None:
    """X-29, D1: unknown fields of every depth are carried through."""
    message = {**assistant("hi"), "providerPayload": {"type": "x", "items": [None, 1.5, "\u2028"]}}
    entry: Any = await session.get_entry(await session.append_message(message))
    assert entry.message == message


async def test_an_append_changes_no_other_entry(make_file: Make, tmp_path: Path) -> None:
    """T-12: nor does a move; the bytes before stay as they are."""
    session = await make_file()
    first = await session.append_message(user("1"))
    assert session.session_file is not None
    path = Path(session.session_file)
    for kind in KINDS:
        before = path.read_bytes()
        session.branch(first)
        await append_any(session, kind, first)
        await session.branch_with_summary(first, "left a branch")
        assert path.read_bytes().startswith(before)
    assert len(path.read_bytes().splitlines()) == 2 + 2 * len(KINDS)


async def test_what_is_appended_is_settled_at_the_call(session: SessionManager) -> None:
    """D4: who changes the message afterwards changes nothing."""
    message = user("as it was")
    append = asyncio.ensure_future(session.append_message(message))
    await asyncio.sleep(0)
    message["content"] = "changed"
    entry: Any = await session.get_entry(await append)
    assert entry.message == user("as it was")


@pytest.mark.parametrize("role", ["branchSummary", "compactionSummary"])
async def test_a_summary_is_no_message(session: SessionManager, role: str) -> None:
    """T-15, F-67: they have commands of their own; nothing is written."""
    with pytest.raises(InvalidEntryError, match=role):
        await session.append_message({"role": role, "summary": "so far"})
    assert (session.leaf_id, session.entry_count) == (None, 0)


async def test_what_cannot_be_written_leaves_everything_as_it_was(make: Make) -> None:
    session = await make()
    first = await session.append_message(user("1"))
    with pytest.raises(InvalidEntryError):
        await session.append_message({"role": "user", "content": object()})
    with pytest.raises(InvalidEntryError):
        await session.append_many([user("2"), {"content": "no role"}])
    with pytest.raises(InvalidEntryError):
        await session.append_custom_entry(None)  # type: ignore[arg-type]
    assert (session.leaf_id, session.entry_count) == (first, 1)


async def test_characters_that_json_libraries_stumble_over_survive(make_file: Make) -> None:
    """D15: lone surrogates, line separators and NUL; NaN becomes null as in JavaScript."""
    text = "\ud83d \u2028 \x00 \x85 é 😀"
    session = await make_file()
    entry_id = await session.append_message({**user(text), "odd": float("nan")})
    await session.close()
    assert session.session_file is not None
    async with await SessionManager.open(session.session_file) as again:
        entry: Any = await again.get_entry(entry_id)
        assert entry.message == {**user(text), "odd": None}
        assert (again.report.faults, again.leaf_id) == ([], entry_id)


async def test_many_messages_are_one_chain_in_their_order(make: Make) -> None:
    """The contract of `append_many`: ids in order, more than one write of the writer takes."""
    session = await make(durability="os")
    first = await session.append_message(user("first"))
    ids = await session.append_many([user(str(number)) for number in range(1500)])
    assert session.path_ids() == [first, *ids]
    assert (session.leaf_id, session.entry_count) == (ids[-1], 1501)
    context = await session.build_session_context()
    assert [message["content"] for message in context.messages] == ["first", *map(str, range(1500))]


async def test_no_messages_are_no_append(make_file: Make) -> None:
    session = await make_file()
    assert await session.append_many([]) == []
    assert session.leaf_id is None
    assert session.session_file is not None
    assert not Path(session.session_file).exists()


async def test_many_messages_take_an_expected_leaf_and_one_time(make_file: Make, records: Records) -> None:
    session = await make_file(clock=lambda: 1_770_000_000.25)
    ids = await session.append_many([user("1"), user("2")], expected_leaf=None)
    assert await session.append_many([user("3")], expected_leaf=ids[-1])
    assert {line["timestamp"] for line in records(session)} == {"2026-02-02T02:40:00.250Z"}
