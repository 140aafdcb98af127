"""`AgentSession.compact`: what is appended, and what the context is from then on (K-60..K-69, K-80, K-81)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AgentSession,
    AgentSettings,
    CompactionSettings,
    Hooks,
    NoSummarizerError,
    NothingToCompactError,
    ReadOnlySessionError,
    SessionClosedError,
    SessionManager,
    SessionTreeError,
    SummaryResult,
    UnsupportedVersionError,
    Usage,
)

MakeFile = Callable[..., Awaitable[SessionManager]]
Recording = Callable[..., Any]
Records = Callable[[SessionManager], list[dict[str, Any]]]
Say = Callable[..., Awaitable[None]]
WriteFile = Callable[..., Path]


def keeping(messages: int) -> AgentSettings:
    """Each message counts as one token, and so many are kept."""
    return AgentSettings(
        compaction=CompactionSettings(keep_recent_tokens=messages), estimate_tokens=lambda _message: 1
    )


def texts(messages: list[dict[str, Any]]) -> list[str]:
    """The first text of each message."""
    contents: list[Any] = [message.get("summary", message.get("content")) for message in messages]
    return [content if isinstance(content, str) else content[0]["text"] for content in contents]


async def test_a_compaction_stands_for_the_older_part_of_the_context(
    session: SessionManager, say: Say, recording: Recording
) -> None:
    """X-137, K-62, K-65, K-67, K-69, K-81: the result is what was appended at the leaf."""
    await say(session, "u1", "a1", "u2", "a2")
    summarizer = recording("so far")
    agent = AgentSession(session, summarizer=summarizer, settings=keeping(2))
    result = await agent.compact()
    assert (result.summary, result.first_kept_entry_id, result.tokens_before) == ("so far", "u2", 4)
    assert (result.details, result.from_extension) == ({"readFiles": [], "modifiedFiles": []}, False)
    assert (result.short_summary, result.preserve_data) == (None, None)
    assert session.leaf_id == result.entry_id
    assert session.path_ids() == ["u1", "a1", "u2", "a2", result.entry_id]
    messages = (await agent.get_context()).messages
    assert [message["role"] for message in messages] == ["compactionSummary", "user", "assistant"]
    assert texts(messages) == ["so far", "text of u2", "text of a2"]
    [request] = summarizer.requests
    assert request.purpose == "history"
    assert texts(request.messages) == ["text of u1", "text of a1"]
    assert session.report.faults == []


async def test_a_compaction_is_in_the_file_as_both_homes_write_it(
    make_file: MakeFile, say: Say, recording: Recording, records: Records
) -> None:
    """X-137, K-67, F-44: made by ourselves is said, and after a reload the context is the same."""
    session = await make_file()
    await say(session, "u1", "a1", "u2", "a2")
    agent = AgentSession(session, summarizer=recording("so far"), settings=keeping(2))
    result = await agent.compact()
    line = records(session)[-1]
    assert {
        name: line[name] for name in ("type", "id", "parentId", "summary", "firstKeptEntryId", "tokensBefore")
    } == {
        "type": "compaction",
        "id": result.entry_id,
        "parentId": "a2",
        "summary": "so far",
        "firstKeptEntryId": "u2",
        "tokensBefore": 4,
    }
    assert (line["fromExtension"], line["fromHook"]) == (False, False)
    assert not {"shortSummary", "preserveData"} & line.keys()
    assert session.session_file is not None
    async with await SessionManager.open(session.session_file, read_only=True) as again:
        assert await again.build_session_context() == await agent.get_context()


async def test_custom_instructions_are_a_further_focus(
    session: SessionManager, say: Say, recording: Recording
) -> None:
    """K-51, K-60: beside our own instructions."""
    await say(session, "u1", "a1", "u2", "a2")
    summarizer = recording()
    await AgentSession(session, summarizer=summarizer, settings=keeping(2)).compact("the database")
    [request] = summarizer.requests
    assert "## Goal" in request.prompt
    assert request.prompt.endswith("Additional focus: the database")


async def test_a_second_compaction_takes_in_what_the_first_one_kept(
    session: SessionManager, say: Say, recording: Recording
) -> None:
    """K-42 as settled, K-48: nothing disappears without having been in a summary."""
    await say(session, "u1", "a1", "u2", "a2")
    summarizer = recording("first", "second")
    agent = AgentSession(session, summarizer=summarizer, settings=keeping(2))
    await agent.compact()
    await say(session, "u3", "a3")
    result = await agent.compact()
    assert texts(summarizer.requests[1].messages) == ["text of u2", "text of a2"]
    assert summarizer.requests[1].previous_summary == "first"
    assert result.first_kept_entry_id == "u3"
    assert texts((await agent.get_context()).messages) == ["second", "text of u3", "text of a3"]


async def test_only_the_current_path_is_summarized(session: SessionManager, say: Say, recording: Recording) -> None:
    """K-62: what was said on other branches stays there."""
    await say(session, "u1", "a1", "u-dead-end", "a-dead-end")
    session.branch("a1")
    await say(session, "u2", "a2")
    summarizer = recording()
    await AgentSession(session, summarizer=summarizer, settings=keeping(1)).compact()
    assert [request.purpose for request in summarizer.requests] == ["history", "turn_prefix"]
    assert "dead-end" not in str(summarizer.requests)


async def test_equal_summaries_are_two_compactions(session: SessionManager, say: Say, recording: Recording) -> None:
    """K-68 as recommended: each is told by its id, whatever its text."""
    told: list[tuple[str, str]] = []
    hooks = Hooks()
    hooks.on("session_compact", lambda event: told.append((event.compaction_entry.id, event.compaction_entry.summary)))
    agent = AgentSession(session, summarizer=recording("the same"), hooks=hooks, settings=keeping(2))
    await say(session, "u1", "a1", "u2", "a2")
    first = await agent.compact()
    await say(session, "u3", "a3")
    second = await agent.compact()
    assert first.entry_id != second.entry_id
    assert told == [(first.entry_id, "the same"), (second.entry_id, "the same")]


async def test_a_move_before_a_compaction_restores_the_full_history(
    session: SessionManager, say: Say, recording: Recording
) -> None:
    """K-80: other branches, and labels, know nothing of it."""
    await say(session, "u1", "a1", "u2", "a2")
    await session.append_label_change("u1", "start")
    agent = AgentSession(session, summarizer=recording(), settings=keeping(2))
    before = await agent.get_context()
    result = await agent.compact()
    assert session.labels == {"u1": "start"}
    await agent.navigate_tree("a2")
    assert texts((await agent.get_context()).messages) == texts(before.messages)
    await agent.navigate_tree(result.entry_id)
    assert len((await agent.get_context()).messages) == 3


async def test_a_context_is_built_anew_only_after_something_moved(
    session: SessionManager, say: Say, recording: Recording
) -> None:
    """N-33, K-67."""
    await say(session, "u1", "a1", "u2", "a2")
    agent = AgentSession(session, summarizer=recording(), settings=keeping(2))
    context = await agent.get_context()
    assert await agent.get_context() is context
    await agent.compact()
    compacted = await agent.get_context()
    assert await agent.get_context() is compacted
    assert compacted is not context
    await say(session, "u3")
    assert texts((await agent.get_context()).messages)[-1] == "text of u3"
    session.branch("u1")
    assert texts((await agent.get_context()).messages) == ["text of u1"]


@pytest.mark.parametrize("ids", [(), ("u1",), ("u1", "a1")])
async def test_a_small_session_is_not_compacted(
    ids: tuple[str, ...], session: SessionManager, say: Say, recording: Recording
) -> None:
    """K-62, K-40, K-47: there is no summary without anything in it."""
    await say(session, *ids)
    summarizer = recording()
    agent = AgentSession(session, summarizer=summarizer, settings=keeping(2))
    with pytest.raises(NothingToCompactError, match="too small"):
        await agent.compact()
    assert (session.entry_ids(), summarizer.requests) == (list(ids), [])


async def test_a_compaction_is_not_compacted_again(session: SessionManager, say: Say, recording: Recording) -> None:
    """K-62, K-40."""
    await say(session, "u1", "a1", "u2", "a2")
    summarizer = recording()
    agent = AgentSession(session, summarizer=summarizer, settings=keeping(1))
    result = await agent.compact()
    asked = len(summarizer.requests)
    with pytest.raises(NothingToCompactError, match="already compacted"):
        await agent.compact()
    assert (session.leaf_id, len(summarizer.requests)) == (result.entry_id, asked)


async def test_without_a_summarizer_nothing_is_compacted(session: SessionManager, say: Say) -> None:
    """K-61: not even where a hook would supply the summary, and nobody is asked."""
    asked: list[object] = []
    hooks = Hooks()
    hooks.on("session_before_compact", asked.append)
    await say(session, "u1", "a1", "u2", "a2")
    with pytest.raises(NoSummarizerError):
        await AgentSession(session, hooks=hooks, settings=keeping(2)).compact()
    assert (session.leaf_id, asked) == ("a2", [])


@pytest.mark.parametrize(
    ("header", "options", "error"),
    [
        ({}, {"read_only": True}, ReadOnlySessionError),
        ({"version": 4}, {}, UnsupportedVersionError),
    ],
)
async def test_what_cannot_be_written_is_not_summarized(
    header: dict[str, Any],
    options: dict[str, Any],
    error: type[SessionTreeError],
    write_file: WriteFile,
    recording: Recording,
) -> None:
    """K-67, F-100: it is said before anybody is asked."""
    path = write_file([{"id": "u1"}, {"id": "u2", "parentId": "u1"}], **header)
    summarizer = recording()
    async with await SessionManager.open(path, **options) as session:
        with pytest.raises(error):
            await AgentSession(session, summarizer=summarizer, settings=keeping(1)).compact()
    assert summarizer.requests == []


async def test_a_closed_session_is_not_compacted(session: SessionManager, say: Say, recording: Recording) -> None:
    """F-115."""
    await say(session, "u1", "u2")
    summarizer = recording()
    await session.close()
    with pytest.raises(SessionClosedError):
        await AgentSession(session, summarizer=summarizer, settings=keeping(1)).compact()
    assert summarizer.requests == []


@pytest.mark.parametrize(
    "usage", [Usage(input=30, output=5, cost=0.25), {"input": 30, "output": 5, "cost": {"total": 0.25}}]
)
async def test_the_calls_of_a_compaction_are_counted(
    usage: Usage | dict[str, Any], session: SessionManager, say: Say, recording: Recording
) -> None:
    """T-95 as settled: all of them, in whichever form the summarizer tells it."""
    await say(session, "u1", "a1", "u2", "a2")
    agent = AgentSession(session, summarizer=recording(SummaryResult("so far", usage=usage)), settings=keeping(1))
    result = await agent.compact()
    assert "Turn Context" in result.summary
    assert (session.usage.input, session.usage.output, session.usage.cost) == (60, 10, 0.5)


@pytest.mark.parametrize(
    ("usages", "tokens"),
    [
        ({}, 6),
        ({"a1": 500}, 504),
        ({"a1": 500, "a3": 900}, 900),
        ({"a2": 700}, 702),
    ],
)
async def test_the_size_before_is_what_the_provider_said_and_an_estimate_of_the_rest(
    usages: dict[str, int], tokens: int, session: SessionManager, recording: Recording
) -> None:
    """K-43, K-20 as settled: without a word of the provider all of it is estimated."""
    for entry_id in ("u1", "a1", "u2", "a2", "u3", "a3"):
        message = {"role": "assistant" if entry_id.startswith("a") else "user", "content": entry_id}
        usage = {"usage": {"totalTokens": usages[entry_id]}} if entry_id in usages else {}
        await session.append_message({**message, **usage}, entry_id=entry_id)
    agent = AgentSession(session, summarizer=recording(), settings=keeping(2))
    assert (await agent.compact()).tokens_before == tokens
    # What was said before a compaction holds no more.
    await session.append_message({"role": "user", "content": "u4"})
    await session.append_message({"role": "user", "content": "u5"})
    assert (await agent.compact()).tokens_before == 1 + 2 + 2
