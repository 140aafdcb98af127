"""Navigations that leave a summary of the abandoned branch behind (N-11..N-16, N-30..N-36)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import (
    AgentSession,
    AgentSettings,
    NavigateResult,
    Prompts,
    SessionManager,
    SummaryError,
    SummaryResult,
    Usage,
)

Say = Callable[..., Awaitable[None]]
MakeSummarizer = Callable[..., Any]

NO_FILES: dict[str, list[str]] = {"readFiles": [], "modifiedFiles": []}


@pytest.fixture
async def talk(session: SessionManager, say: Say) -> SessionManager:
    """u1, a1, u2, a2 in one line; the leaf is a2."""
    await say(session, "u1", "a1", "u2", "a2")
    return session


def told(request: Any) -> list[str]:
    """The entries whose text the summarizer is given."""
    texts = [
        message["content"] if isinstance(message["content"], str) else message["content"][0]["text"]
        for message in request.messages
    ]
    assert all(text in request.prompt for text in texts)
    return [text.removeprefix("text of ") for text in texts]


@pytest.mark.parametrize(
    ("target", "parent", "editor_text", "left"),
    [
        ("u1", None, "text of u1", ["a1", "u2", "a2"]),
        ("u2", "a1", "text of u2", ["a2"]),
        ("a1", "a1", None, ["u2", "a2"]),
    ],
)
async def test_a_summary_hangs_at_the_new_position(
    talk: SessionManager,
    recording: MakeSummarizer,
    target: str,
    parent: str | None,
    editor_text: str | None,
    left: list[str],
) -> None:
    """X-99, X-100, X-101, N-30, N-32: never at the tail that was left. N-44: what is written anew is not in it."""
    summarizer = recording(" tried, no luck\n")
    result = await AgentSession(talk, summarizer=summarizer).navigate_tree(target, summarize=True)
    entry: Any = result.summary_entry
    assert result == NavigateResult(editor_text, summary_entry=entry)
    assert (entry.type, entry.parent_id, entry.from_id) == ("branch_summary", parent, parent or "root")
    assert entry.summary.endswith("\n\ntried, no luck")
    assert talk.leaf_id == entry.id
    assert (talk.child_ids(parent)[-1] if parent else talk.root_ids[-1]) == entry.id
    assert talk.child_ids("a2") == []
    assert await talk.get_entry(entry.id) == entry
    assert [told(request) for request in summarizer.requests] == [left]


async def test_an_own_summary_says_so_in_the_file(
    make_file: Callable[..., Any], say: Say, recording: MakeSummarizer, records: Callable[..., list[dict[str, Any]]]
) -> None:
    """N-14, N-30, T-43, F-45: false in both spellings; lists of files, though they are empty."""
    session = await make_file()
    await say(session, "u1", "a1")
    await AgentSession(session, summarizer=recording()).navigate_tree("u1", summarize=True)
    line = records(session)[-1]
    assert (line["fromExtension"], line["fromHook"]) == (False, False)
    assert (line["details"], line["fromId"], line["parentId"]) == (NO_FILES, "root", None)


async def test_what_the_summarizer_tells_is_stored_with_the_files(
    session: SessionManager, say: Say, recording: MakeSummarizer
) -> None:
    """N-14, T-95: its details, and its usage, which counts."""
    await say(session, "u1")
    calls = [("r", "read", "a.py"), ("w", "write", "b.py"), ("e", "edit", "c.py")]
    blocks = [{"type": "toolCall", "id": key, "name": name, "arguments": {"path": path}} for key, name, path in calls]
    await session.append_message({"role": "assistant", "content": blocks})
    answer = SummaryResult("sum", usage=Usage(input=3, output=4), details={"model": "m"})
    result = await AgentSession(session, summarizer=recording(answer)).navigate_tree("u1", summarize=True)
    details = dict(result.summary_entry.details) if result.summary_entry is not None else {}
    usage = details.pop("usage")
    assert details == {"readFiles": ["a.py"], "modifiedFiles": ["b.py", "c.py"], "model": "m"}
    assert (usage["input"], usage["output"]) == (3, 4)
    assert (session.usage.input, session.usage.output) == (3, 4)


async def test_from_one_branch_to_a_message_of_another(
    talk: SessionManager, say: Say, recording: MakeSummarizer
) -> None:
    """X-106, N-41, N-30: left is what lies below where the two meet."""
    talk.branch("a1")
    await say(talk, "u3", "a3")
    summarizer = recording()
    result = await AgentSession(talk, summarizer=summarizer).navigate_tree("u2", summarize=True)
    assert result.summary_entry is not None
    assert (result.editor_text, result.summary_entry.parent_id) == ("text of u2", "a1")
    assert talk.child_ids("a1") == ["u2", "u3", result.summary_entry.id]
    assert [told(request) for request in summarizer.requests] == [["u3", "a3"]]


async def test_the_summary_is_part_of_the_context_at_the_new_position(
    talk: SessionManager, recording: MakeSummarizer
) -> None:
    """N-33, C-22: what was left is not."""
    agent = AgentSession(talk, summarizer=recording("tried"))
    await agent.navigate_tree("a1", summarize=True)
    messages = (await agent.get_context()).messages
    assert [message["role"] for message in messages] == ["user", "assistant", "branchSummary"]


@pytest.mark.parametrize("replace", [False, True])
async def test_custom_instructions_are_a_focus_or_all_that_is_asked(
    talk: SessionManager, recording: MakeSummarizer, replace: bool
) -> None:
    """X-105, N-6A as settled: added to the default prompt, or in its place."""
    summarizer = recording("short")
    agent = AgentSession(talk, summarizer=summarizer, settings=AgentSettings(prompts=Prompts(branch_summary="BRIEF")))
    result = await agent.navigate_tree(
        "a1", summarize=True, custom_instructions="one word", replace_instructions=replace
    )
    assert result.summary_entry is not None
    [request] = summarizer.requests
    assert request.purpose == "branch"
    assert request.prompt.endswith("one word")
    assert ("BRIEF" in request.prompt) is not replace


@pytest.mark.parametrize("target", ["a3", "u3"])
async def test_where_nothing_is_left_there_is_no_summary(
    talk: SessionManager, say: Say, recording: MakeSummarizer, target: str
) -> None:
    """N-12, N-15, N-45: forward on one path nobody is asked."""
    await say(talk, "u3", "a3")
    talk.branch("a2")
    summarizer = recording()
    result = await AgentSession(talk, summarizer=summarizer).navigate_tree(target, summarize=True)
    assert result == NavigateResult("text of u3" if target == "u3" else None)
    assert talk.leaf_id == ("a2" if target == "u3" else "a3")
    assert (talk.entry_count, summarizer.requests) == (6, [])


async def test_from_above_all_roots_nothing_is_left(talk: SessionManager, recording: MakeSummarizer) -> None:
    """N-40, N-15."""
    talk.reset_leaf()
    summarizer = recording()
    result = await AgentSession(talk, summarizer=summarizer).navigate_tree("a2", summarize=True)
    assert (result, talk.leaf_id, summarizer.requests) == (NavigateResult(), "a2", [])


async def test_a_branch_on_which_nobody_spoke_has_no_summary(talk: SessionManager, recording: MakeSummarizer) -> None:
    """N-66 as settled: settings, labels and data of extensions are nothing to summarize."""
    await talk.append_model_change("acme/m-2")
    await talk.append_label_change("u1", "start")
    await talk.append_custom_entry("note", {"x": 1})
    summarizer = recording()
    result = await AgentSession(talk, summarizer=summarizer).navigate_tree("a2", summarize=True)
    assert (result, talk.leaf_id, talk.entry_count, summarizer.requests) == (NavigateResult(), "a2", 7, [])


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (SummaryResult("the model is down", stop_reason="error"), "the model is down"),
        (SummaryResult("half a", stop_reason="length"), "cut"),
        (SummaryResult(" \n"), "empty"),
        (RuntimeError("connection lost"), "connection lost"),
    ],
    ids=["error", "length", "empty", "raises"],
)
async def test_a_failed_summary_leaves_everything_as_it_was(
    talk: SessionManager, recording: MakeSummarizer, answer: Any, error: str
) -> None:
    """N-13, N-6B as settled: raised, and the session can be navigated again."""
    agent = AgentSession(talk, summarizer=recording(answer, "now it works"))
    told: list[Any] = []
    agent.hooks.on("session_tree", told.append)
    with pytest.raises(SummaryError, match=error):
        await agent.navigate_tree("a1", summarize=True, label="here")
    assert (talk.leaf_id, talk.entry_count, talk.labels, told) == ("a2", 4, {}, [])
    assert (await agent.navigate_tree("a1", summarize=True)).summary_entry is not None


@pytest.mark.parametrize("target", ["a1", "u2", "u1"])
async def test_a_label_without_a_summary_is_set_on_the_target(talk: SessionManager, target: str) -> None:
    """N-36: its entry hangs at the new position, and is the leaf."""
    result = await AgentSession(talk).navigate_tree(target, label="here")
    assert result == NavigateResult(None if target == "a1" else f"text of {target}")
    assert talk.labels == {target: "here"}
    assert talk.leaf_id is not None
    shape = talk.shape(talk.leaf_id)
    assert (shape.type, shape.parent_id) == ("label", None if target == "u1" else "a1")


async def test_a_label_with_a_summary_is_set_on_the_summary(talk: SessionManager, recording: MakeSummarizer) -> None:
    """N-36: one chain at the new position."""
    result = await AgentSession(talk, summarizer=recording()).navigate_tree("u1", summarize=True, label="here")
    assert result.summary_entry is not None
    assert talk.labels == {result.summary_entry.id: "here"}
    assert talk.path_ids() == [result.summary_entry.id, talk.leaf_id]


@pytest.mark.parametrize("label", [None, ""])
async def test_an_empty_label_is_none(talk: SessionManager, label: str | None) -> None:
    """N-36."""
    await AgentSession(talk).navigate_tree("a1", label=label)
    assert (talk.leaf_id, talk.entry_count) == ("a1", 4)
