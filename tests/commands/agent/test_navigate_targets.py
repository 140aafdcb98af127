"""Where a navigation leads, and what it puts into the editor (N-20..N-25, N-31)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import AgentSession, NavigateResult, SessionManager

Say = Callable[..., Awaitable[None]]
WriteFile = Callable[..., Path]

IMAGE, OTHER_IMAGE = ({"type": "image", "data": data, "mimeType": "image/png"} for data in ("aaaa", "bbbb"))


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


async def test_a_root_user_message_leads_above_all_roots(session: SessionManager, say: Say) -> None:
    """X-97, N-21, N-31: its text is to be written anew, and the next append is a new root."""
    await say(session, "u1", "a1")
    assert await AgentSession(session).navigate_tree("u1") == NavigateResult("text of u1")
    assert session.leaf_id is None
    await say(session, "u2")
    assert session.root_ids == ["u1", "u2"]


async def test_a_user_message_leads_to_its_parent(session: SessionManager, say: Say) -> None:
    """N-21."""
    await say(session, "u1", "a1", "u2", "a2")
    assert await AgentSession(session).navigate_tree("u2") == NavigateResult("text of u2")
    assert session.leaf_id == "a1"


async def test_an_assistant_message_leads_to_itself(session: SessionManager, say: Say) -> None:
    """X-98, N-23: nothing is to be written anew."""
    await say(session, "u1", "a1", "u2", "a2")
    assert await AgentSession(session).navigate_tree("a1") == NavigateResult()
    assert session.leaf_id == "a1"


async def test_from_above_all_roots_there_is_a_way_back(session: SessionManager, say: Say) -> None:
    """N-01, N-31."""
    await say(session, "u1", "a1")
    session.reset_leaf()
    assert await AgentSession(session).navigate_tree("a1") == NavigateResult()
    assert session.leaf_id == "a1"


async def test_without_a_summary_nothing_is_written(make_file: Callable[..., Any], say: Say) -> None:
    """X-103, N-31."""
    session = await make_file()
    await say(session, "u1", "a1", "u2", "a2")
    path = Path(session.session_file)
    before = path.read_bytes(), path.stat().st_mtime_ns
    for target in ("u2", "u1", "a2", "a1"):
        await AgentSession(session).navigate_tree(target)
    await session.flush()
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


@pytest.mark.parametrize(
    ("content", "expected", "images"),
    [
        ("plain\n text ", "plain\n text ", None),
        ("", "", None),
        ([text("one"), text(" two")], "one two", None),
        ([IMAGE, text("see "), OTHER_IMAGE, text("both")], "see both", [IMAGE, OTHER_IMAGE]),
        ([IMAGE], "", [IMAGE]),
        ([], "", None),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text"}, {"type": "text", "text": 5}, "bare"], "", None),
    ],
)
@pytest.mark.parametrize("kind", ["user", "custom_message", "skill-prompt"])
async def test_what_a_person_or_an_extension_said_is_to_be_written_anew(
    write_file: WriteFile, kind: str, content: Any, expected: str, images: Any
) -> None:
    """N-21, N-22, N-24, X-107; X-108 as settled: custom messages without exception. Text joined, images in order."""
    said: dict[str, Any] = {"type": "custom_message", "customType": kind, "content": content, "display": True}
    if kind == "user":
        said = {"message": {"role": "user", "content": content}}
    path = write_file([{"id": "a"}, {"id": "x", "parentId": "a", **said}, {"id": "b", "parentId": "x"}])
    async with await SessionManager.open(path) as session:
        result = await AgentSession(session).navigate_tree("x")
        assert result == NavigateResult(expected, images)
        assert session.leaf_id == "a"


@pytest.mark.parametrize(
    "message", [{"role": "user"}, {"role": "user", "content": 5}, {"role": "user", "content": {}}]
)
async def test_a_user_message_without_content_is_written_anew_as_nothing(
    write_file: WriteFile, message: dict[str, Any]
) -> None:
    """N-24: an empty text all the same, not none."""
    path = write_file([{"id": "a"}, {"id": "x", "parentId": "a", "message": message}, {"id": "b", "parentId": "x"}])
    async with await SessionManager.open(path) as session:
        assert await AgentSession(session).navigate_tree("x") == NavigateResult("")
        assert session.leaf_id == "a"


@pytest.mark.parametrize(
    "body",
    [
        {"message": {"role": "assistant", "content": [text("r")]}},
        {"message": {"role": "toolResult", "toolCallId": "t", "toolName": "ask", "content": [text("r")]}},
        {"message": {"role": "bashExecution", "command": "ls", "output": ""}},
        {"message": {"role": "custom", "customType": "note", "content": "n", "display": True}},
        {"message": {"role": "developer", "content": "n"}},
        {"type": "compaction", "summary": "s", "firstKeptEntryId": "a", "tokensBefore": 1},
        {"type": "branch_summary", "summary": "s", "fromId": "a"},
        {"type": "label", "targetId": "a", "label": "l"},
        {"type": "model_change", "model": "p/m"},
        {"type": "thinking_level_change", "thinkingLevel": "low"},
        {"type": "custom", "customType": "c", "data": {"content": "n"}},
        {"type": "custom_message", "customType": "of the wrong kind", "content": 5},
        {"type": "from_the_future", "message": {"role": "user", "content": "n"}},
    ],
    ids=lambda body: body.get("type") or body["message"]["role"],
)
async def test_anything_else_leads_to_itself(write_file: WriteFile, body: dict[str, Any]) -> None:
    """N-23, X-98; X-109 and N-37 as settled: the result of an `ask` too."""
    path = write_file([{"id": "a"}, {"id": "x", "parentId": "a", **body}, {"id": "b", "parentId": "x"}])
    async with await SessionManager.open(path) as session:
        assert await AgentSession(session).navigate_tree("x") == NavigateResult()
        assert session.leaf_id == "x"


@pytest.mark.parametrize("parent", ["ghost", "x", "b", "", 5], ids=repr)
async def test_a_user_message_that_is_a_root_in_the_tree_leads_above_all_roots(
    write_file: WriteFile, parent: Any
) -> None:
    """N-25, N-21 as settled: whatever its line says: a parent that is missing, itself, below it, or no id."""
    path = write_file([{"id": "x", "parentId": parent}, {"id": "b", "parentId": "x"}])
    async with await SessionManager.open(path) as session:
        assert await AgentSession(session).navigate_tree("x") == NavigateResult("x")
        assert session.leaf_id is None


async def test_a_child_that_stands_before_its_parent_leads_to_it(write_file: WriteFile) -> None:
    """N-21, T-22: the parent in the tree counts."""
    path = write_file([{"id": "x", "parentId": "late"}, {"id": "late"}, {"id": "b", "parentId": "x"}])
    async with await SessionManager.open(path) as session:
        assert await AgentSession(session).navigate_tree("x") == NavigateResult("x")
        assert session.leaf_id == "late"
