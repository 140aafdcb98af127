"""`AgentSession.branch`: a new session that ends before a user message (N-70, N-73..N-80)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AgentSession,
    BranchResult,
    EntryNotFoundError,
    ExtensionCommandContext,
    Hooks,
    NotAUserMessageError,
    ReadOnlySessionError,
    SessionClosedError,
    SessionManager,
    SessionTreeError,
    UnsupportedVersionError,
    UserMessage,
)

Make = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]
Say = Callable[..., Awaitable[None]]
WriteFile = Callable[..., Path]

IMAGES = [{"type": "image", "data": data, "mimeType": "image/png"} for data in ("one", "two")]


def block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


async def texts(agent: AgentSession) -> list[str]:
    """The messages of the context."""
    contents = [message["content"] for message in (await agent.get_context()).messages]
    return [content if isinstance(content, str) else content[0]["text"] for content in contents]


async def test_a_branch_ends_before_the_message_that_is_written_anew(session: SessionManager, say: Say) -> None:
    """X-118, N-74, N-75, N-77, N-78: the text is returned, and what was said before it is the context."""
    await say(session, "u1", "a1", "u2", "a2", "u3", "a3")
    agent = AgentSession(session)
    old_id = session.session_id
    assert len((await agent.get_context()).messages) == 6
    assert await agent.branch("u2") == BranchResult("text of u2")
    assert session.session_id != old_id
    assert (session.entry_ids(), session.leaf_id) == (["u1", "a1"], "a1")
    assert await texts(agent) == ["text of u1", "text of a1"]


async def test_a_branch_at_a_root_message_is_an_empty_session(
    make_file: Make, say: Say, records: Records, tmp_path: Path
) -> None:
    """X-116, N-73, N-77, N-79: its file has a path at once, and appears with the first append."""
    session = await make_file()
    await say(session, "u1", "a1")
    old = Path(str(session.session_file))
    before = old.read_bytes()
    agent = AgentSession(session)
    assert await agent.get_user_messages_for_branching() == [UserMessage("u1", "text of u1")]
    assert await agent.branch("u1") == BranchResult("text of u1")
    new = Path(str(session.session_file))
    assert (new.parent, new == old, new.exists()) == (old.parent, False, False)
    assert (session.entry_count, session.leaf_id, await texts(agent)) == (0, None, [])
    await say(session, "u2")
    assert records(session)[0]["parentSession"] == str(old)
    assert old.read_bytes() == before


async def test_a_branch_in_memory_takes_the_place_of_the_entries(say: Say) -> None:
    """X-117, N-80: there is no file, before and after."""
    async with SessionManager.in_memory() as session:
        await say(session, "u1", "a1", "u2")
        agent = AgentSession(session)
        for entry_id, kept in (("u2", ["u1", "a1"]), ("u1", [])):
            assert await agent.branch(entry_id) == BranchResult(f"text of {entry_id}")
            assert (session.session_file, session.entry_ids()) == (None, kept)
            assert "parentSession" not in session.header.fields


async def test_the_source_of_a_branch_stays_as_it_is(make_file: Make, say: Say, records: Records) -> None:
    """X-120, T-69, N-74, N-78: byte for byte, and other programs may write it."""
    session = await make_file()
    await say(session, "u1", "a1", "u2", "a2")
    old = Path(str(session.session_file))
    before = old.read_bytes()
    await AgentSession(session).branch("u2")
    await say(session, "u3")
    assert old.read_bytes() == before
    assert [record.get("id") for record in records(session)[1:]] == ["u1", "a1", "u3"]
    assert records(session)[0]["parentSession"] == str(old)
    async with await SessionManager.open(old) as other:
        await say(other, "u4")


async def test_a_branch_can_be_made_from_another_branch(session: SessionManager, say: Say) -> None:
    """N-74, T-61, T-71: of the message's own path, wherever the leaf is; label entries stay behind."""
    await say(session, "u1", "a1")
    await session.append_label_change("a1", "mark", entry_id="l1")
    await say(session, "u2", "a2")
    session.branch("u1")
    await say(session, "a3")
    await AgentSession(session).branch("u2")
    assert session.path_ids("a1") == ["u1", "a1"]
    assert session.labels == {"a1": "mark"}
    assert not {"l1", "u2", "a2", "a3"} & set(session.entry_ids())


async def test_a_message_whose_parent_is_missing_is_a_root(write_file: WriteFile) -> None:
    """N-73 and "parent" as settled, T-27."""
    path = write_file([{"id": "u1"}, {"id": "u2", "parentId": "gone"}])
    async with await SessionManager.open(path) as session:
        await AgentSession(session).branch("u2")
        assert (session.entry_count, session.header.parent_session) == (0, str(path))


@pytest.mark.parametrize(
    ("content", "result"),
    [
        ("plain", BranchResult("plain")),
        ([block("one "), IMAGES[0], block("and two"), IMAGES[1]], BranchResult("one and two", IMAGES)),
        ([IMAGES[0]], BranchResult("", IMAGES[:1])),
        ([], BranchResult("")),
        (None, BranchResult("")),
    ],
)
async def test_text_and_images_are_returned(content: Any, result: BranchResult, write_file: WriteFile) -> None:
    """X-107, N-24, N-71: images in order, and none where there are none."""
    path = write_file([{"id": "u1", "message": {"role": "user", "content": content}}])
    async with await SessionManager.open(path) as session:
        assert await AgentSession(session).branch("u1") == result


@pytest.mark.parametrize(
    ("entry_id", "error"),
    [
        ("nobody", EntryNotFoundError),
        ("a1", NotAUserMessageError),
        ("custom", NotAUserMessageError),
        ("label", NotAUserMessageError),
    ],
)
async def test_only_user_messages_can_be_branched_at(
    entry_id: str, error: type[SessionTreeError], session: SessionManager, say: Say
) -> None:
    """N-70: nothing changes, and no hook is asked."""
    await say(session, "u1", "a1")
    await session.append_custom_message_entry("note", "text", True, entry_id="custom")
    await session.append_label_change("u1", "mark", entry_id="label")
    asked: list[object] = []
    hooks = Hooks()
    hooks.on("session_before_branch", asked.append)
    before = (session.session_id, session.session_file, session.leaf_id)
    with pytest.raises(error) as caught:
        await AgentSession(session, hooks=hooks).branch(entry_id)
    assert caught.value.entry_id == entry_id  # type: ignore[attr-defined] # both have it
    assert ((session.session_id, session.session_file, session.leaf_id), asked) == (before, [])


@pytest.mark.parametrize(
    ("header", "options", "error"),
    [({}, {"read_only": True}, ReadOnlySessionError), ({"version": 4}, {}, UnsupportedVersionError)],
)
@pytest.mark.parametrize("entry_id", ["u1", "u2"])
async def test_what_cannot_be_written_is_not_branched(
    entry_id: str,
    header: dict[str, Any],
    options: dict[str, Any],
    error: type[SessionTreeError],
    write_file: WriteFile,
) -> None:
    """N-70, F-100: at a root message neither."""
    path = write_file([{"id": "u1"}, {"id": "u2", "parentId": "u1"}], **header)
    async with await SessionManager.open(path, **options) as session:
        with pytest.raises(error):
            await AgentSession(session).branch(entry_id)
        assert (session.session_file, list(path.parent.iterdir())) == (str(path), [path])


async def test_a_closed_session_is_not_branched(session: SessionManager, say: Say) -> None:
    """F-115."""
    await say(session, "u1")
    await session.close()
    with pytest.raises(SessionClosedError):
        await AgentSession(session).branch("u1")


async def test_a_message_on_its_way_can_be_branched_at(make_file: Make, say: Say) -> None:
    """N-72: what was handed over is recorded first, in the file that it was meant for."""
    session = await make_file()
    await say(session, "u1", "a1")
    old = str(session.session_file)
    saying = asyncio.ensure_future(say(session, "u2"))
    await asyncio.sleep(0)
    assert not session.has_entry("u2")
    assert await AgentSession(session).branch("u2") == BranchResult("text of u2")
    await saying
    assert session.entry_ids() == ["u1", "a1"]
    async with await SessionManager.open(old) as again:
        assert again.entry_ids() == ["u1", "a1", "u2"]


async def test_the_user_messages_of_all_branches_are_listed(session: SessionManager) -> None:
    """N-79: in file order; those without text, and what others said, are not among them."""
    contents: dict[str, Any] = {
        "plain": "first",
        "blocks": [block("second "), IMAGES[0], block("half")],
        "image": [IMAGES[0]],
        "empty": "",
    }
    for entry_id, content in contents.items():
        await session.append_message({"role": "user", "content": content}, entry_id=entry_id)
    await session.append_message({"role": "assistant", "content": [block("answer")]})
    await session.append_custom_message_entry("note", "a note", True)
    session.branch("plain")
    await session.append_message({"role": "user", "content": "on another branch"}, entry_id="other")
    session.reset_leaf()
    assert await AgentSession(session).get_user_messages_for_branching() == [
        UserMessage("plain", "first"),
        UserMessage("blocks", "second half"),
        UserMessage("other", "on another branch"),
    ]


async def test_a_command_of_an_extension_hears_only_whether_it_was_cancelled(
    session: SessionManager, say: Say
) -> None:
    """N-81."""
    await say(session, "u1", "a1", "u2")
    hooks = Hooks()
    context = ExtensionCommandContext(AgentSession(session, hooks=hooks))
    remove = hooks.on("session_before_branch", lambda _event: {"cancel": True})
    assert (await context.branch("u2")).cancelled is True
    remove()
    assert (await context.branch("u2")).cancelled is False
    assert session.entry_ids() == ["u1", "a1"]
