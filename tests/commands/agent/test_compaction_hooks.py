"""The hooks around a compaction: asked before it, asked before the summarizer is, told after it (K-63, K-64, K-68)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import (
    AgentSession,
    AgentSettings,
    CompactionCancelledError,
    CompactionContent,
    CompactionSettings,
    HookFault,
    Hooks,
    SessionBeforeCompactResult,
    SessionCompactingResult,
    SessionManager,
)

MakeFile = Callable[..., Awaitable[SessionManager]]
Recording = Callable[..., Any]
Records = Callable[[SessionManager], list[dict[str, Any]]]
Say = Callable[..., Awaitable[None]]

SETTINGS = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=2), estimate_tokens=lambda _message: 1)
SUPPLIED: dict[str, Any] = {
    "summary": "by the hook",
    "first_kept_entry_id": "a1",
    "tokens_before": 4321,
    "details": {"mine": [1, None]},
    "short_summary": "short",
    "preserve_data": {"state": 7},
}


@pytest.fixture
async def spoken(session: SessionManager, say: Say) -> SessionManager:
    """A session of two turns."""
    await say(session, "u1", "a1", "u2", "a2")
    return session


async def test_each_event_comes_once_and_says_what_happens(spoken: SessionManager, recording: Recording) -> None:
    """X-131, K-63, K-68, K-49: the path, and what is made of it."""
    events: list[Any] = []
    hooks = Hooks()
    for name in ("session_before_compact", "session.compacting", "session_compact"):
        hooks.on(name, events.append)
    result = await AgentSession(spoken, summarizer=recording(), hooks=hooks, settings=SETTINGS).compact("in short")
    before, compacting, after = events
    assert [entry.id for entry in before.branch_entries] == ["u1", "a1", "u2", "a2"]
    assert before.custom_instructions == "in short"
    assert not before.signal.aborted
    preparation = before.preparation
    assert (preparation.first_kept_entry_id, preparation.tokens_before) == ("u2", 4)
    assert (preparation.is_split_turn, preparation.previous_summary) == (False, None)
    assert preparation.settings is SETTINGS.compaction
    assert len(preparation.messages_to_summarize) == len(preparation.recent_messages) == 2
    assert compacting.session_id == spoken.session_id
    assert compacting.messages == preparation.messages_to_summarize
    assert after.compaction_entry == await spoken.get_entry(result.entry_id)
    assert after.from_extension is False


async def test_the_branch_of_an_event_is_the_whole_path(
    spoken: SessionManager, say: Say, recording: Recording
) -> None:
    """K-63, K-64: with what an earlier compaction replaced; a split turn is among what is summarized."""
    events: list[Any] = []
    hooks = Hooks()
    agent = AgentSession(spoken, summarizer=recording(), hooks=hooks, settings=SETTINGS)
    first = await agent.compact()
    await say(spoken, "u3", "a3", "a4")
    hooks.on("session_before_compact", events.append)
    hooks.on("session.compacting", events.append)
    await agent.compact()
    before, compacting = events
    path = ["u1", "a1", "u2", "a2", first.entry_id, "u3", "a3", "a4"]
    assert [entry.id for entry in before.branch_entries] == path
    assert before.custom_instructions is None
    assert before.preparation.is_split_turn
    assert [message["role"] for message in compacting.messages] == ["user", "assistant", "user"]


@pytest.mark.parametrize("answer", [{"cancel": True}, SessionBeforeCompactResult(cancel=True)])
async def test_a_hook_can_cancel(answer: object, spoken: SessionManager, recording: Recording) -> None:
    """X-132, K-63: nothing is written, and nobody is told of a compaction."""
    told: list[object] = []
    summarizer = recording()
    hooks = Hooks()
    hooks.on("session_before_compact", lambda _event: answer)
    hooks.on("session.compacting", told.append)
    hooks.on("session_compact", told.append)
    with pytest.raises(CompactionCancelledError) as caught:
        await AgentSession(spoken, summarizer=summarizer, hooks=hooks, settings=SETTINGS).compact()
    assert (str(caught.value), caught.value.aborted) == ("Compaction cancelled", False)
    assert (spoken.leaf_id, spoken.entry_count, told, summarizer.requests) == ("a2", 4, [], [])


@pytest.mark.parametrize(
    "answer", [{"compaction": SUPPLIED}, SessionBeforeCompactResult(compaction=CompactionContent(**SUPPLIED))]
)
async def test_a_compaction_of_a_hook_is_taken_as_it_is(
    answer: object, spoken: SessionManager, recording: Recording
) -> None:
    """X-133, K-63, K-64: nobody else is asked for a summary."""
    told: list[Any] = []
    summarizer = recording()
    hooks = Hooks()
    hooks.on("session_before_compact", lambda _event: answer)
    hooks.on("session.compacting", lambda event: pytest.fail(f"asked for {event}"))
    hooks.on("session_compact", told.append)
    result = await AgentSession(spoken, summarizer=summarizer, hooks=hooks, settings=SETTINGS).compact()
    assert {name: getattr(result, name) for name in SUPPLIED} == SUPPLIED
    assert result.from_extension is True
    entry: Any = await spoken.get_entry(result.entry_id)
    assert {name: getattr(entry, name) for name in SUPPLIED} == SUPPLIED
    assert (entry.from_extension, entry.parent_id) == (True, "a2")
    assert [(event.compaction_entry, event.from_extension) for event in told] == [(entry, True)]
    assert summarizer.requests == []


async def test_who_made_a_compaction_is_in_the_file_in_both_spellings(
    make_file: MakeFile, say: Say, recording: Recording, records: Records
) -> None:
    """K-67, F-44."""
    session = await make_file()
    await say(session, "u1", "a1", "u2", "a2")
    hooks = Hooks()
    hooks.on("session_before_compact", lambda _event: {"compaction": SUPPLIED})
    await AgentSession(session, summarizer=recording(), hooks=hooks, settings=SETTINGS).compact()
    line = records(session)[-1]
    assert (line["fromExtension"], line["fromHook"]) == (True, True)
    assert (line["preserveData"], line["shortSummary"]) == ({"state": 7}, "short")


async def test_the_entry_is_there_when_the_hooks_are_told(make_file: MakeFile, say: Say, recording: Recording) -> None:
    """X-134, K-67: in the session, as its leaf, and in the file."""
    seen: list[bool] = []
    session = await make_file()
    await say(session, "u1", "a1", "u2", "a2")
    hooks = Hooks()

    @hooks.on("session_compact")
    def look(event: Any) -> None:
        entry_id = event.compaction_entry.id
        seen.append(session.leaf_id == entry_id and session.has_entry(entry_id))
        seen.append(entry_id in Path(str(session.session_file)).read_text("utf-8").splitlines()[-1])

    await AgentSession(session, summarizer=recording(), hooks=hooks, settings=SETTINGS).compact()
    assert seen == [True, True]


def fail(_event: object) -> None:
    raise RuntimeError("broken")


async def hang(_event: object) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("event", ["session_before_compact", "session.compacting", "session_compact"])
@pytest.mark.parametrize("handler", [fail, hang])
async def test_a_hook_that_fails_is_reported_and_changes_nothing(
    event: str, handler: Callable[[object], Any], spoken: SessionManager, recording: Recording
) -> None:
    """X-135, N-53, N-54."""
    faults: list[HookFault] = []
    hooks = Hooks(handler_seconds=0.01 if handler is hang else 30)
    hooks.on_error(faults.append)
    hooks.on(event, handler)
    result = await AgentSession(spoken, summarizer=recording("so far"), hooks=hooks, settings=SETTINGS).compact()
    assert (result.summary, result.from_extension, spoken.leaf_id) == ("so far", False, result.entry_id)
    assert [(fault.event, fault.handler) for fault in faults] == [(event, handler.__name__)]


@pytest.mark.parametrize(
    ("answer", "reported"),
    [
        ("yes", True),
        ({"compaction": "a summary"}, True),
        ({"compaction": {**SUPPLIED, "tokens_before": "many"}}, True),
        ({"compaction": {**SUPPLIED, "details": object()}}, True),
        ({"compaction": {**SUPPLIED, "summary": " \n"}}, False),
        ({"compaction": None}, False),
        ({}, False),
    ],
)
async def test_what_is_no_compaction_is_none(
    answer: object, reported: bool, spoken: SessionManager, recording: Recording
) -> None:
    """N-53, N-16 as settled: of the wrong kind or empty, and our own summary is made."""
    faults: list[HookFault] = []
    hooks = Hooks()
    hooks.on_error(faults.append)
    hooks.on("session_before_compact", lambda _event: answer)
    result = await AgentSession(spoken, summarizer=recording("so far"), hooks=hooks, settings=SETTINGS).compact()
    assert (result.summary, result.from_extension, result.first_kept_entry_id) == ("so far", False, "u2")
    assert bool(faults) is reported


async def test_hooks_are_called_in_order(spoken: SessionManager, recording: Recording) -> None:
    """X-136, N-50, N-51: all before, then all after; of the compactions that they make the last one counts."""
    called: list[str] = []
    hooks = Hooks()

    def before(number: int) -> Callable[[object], dict[str, Any]]:
        def handler(_event: object) -> dict[str, Any]:
            called.append(f"before {number}")
            return {"compaction": {**SUPPLIED, "summary": f"of hook {number}"}}

        return handler

    def after(number: int) -> Callable[[object], None]:
        return lambda _event: called.append(f"after {number}")

    for number in (1, 2):
        hooks.on("session_before_compact", before(number))
        hooks.on("session_compact", after(number))
    result = await AgentSession(spoken, summarizer=recording(), hooks=hooks, settings=SETTINGS).compact()
    assert called == ["before 1", "before 2", "after 1", "after 2"]
    assert result.summary == "of hook 2"


@pytest.mark.parametrize("first_kept", ["no-such-entry", "elsewhere", ""])
async def test_a_first_kept_entry_off_the_path_is_stored_and_reported(
    first_kept: str, spoken: SessionManager, say: Say, recording: Recording
) -> None:
    """K-63 as settled, K-81, C-32: then nothing of before is kept."""
    await say(spoken, "elsewhere")
    spoken.branch("a2")
    faults: list[HookFault] = []
    hooks = Hooks()
    hooks.on_error(faults.append)
    hooks.on("session_before_compact", lambda _: {"compaction": {**SUPPLIED, "first_kept_entry_id": first_kept}})
    agent = AgentSession(spoken, summarizer=recording(), hooks=hooks, settings=SETTINGS)
    result = await agent.compact()
    assert result.first_kept_entry_id == first_kept
    assert [message["role"] for message in (await agent.get_context()).messages] == ["compactionSummary"]
    [fault] = faults
    assert fault.event == "session_before_compact"
    assert f"{first_kept} is not on the path" in fault.message


async def test_a_hook_may_use_up_the_list_that_it_was_given(spoken: SessionManager, recording: Recording) -> None:
    """K-63: what it makes of the path is no fault."""
    faults: list[HookFault] = []
    hooks = Hooks()
    hooks.on_error(faults.append)

    def use_up(event: Any) -> dict[str, Any]:
        event.branch_entries.clear()
        return {"compaction": SUPPLIED}

    hooks.on("session_before_compact", use_up)
    await AgentSession(spoken, summarizer=recording(), hooks=hooks, settings=SETTINGS).compact()
    assert faults == []


async def test_a_hook_adds_to_what_is_asked_and_to_what_is_stored(
    spoken: SessionManager, recording: Recording
) -> None:
    """K-64, K-50: lines of context, and data that is kept with the entry."""
    summarizer = recording("so far")
    hooks = Hooks()
    hooks.on("session.compacting", lambda _event: {"context": ["one thing", "another"], "preserve_data": {"at": 3}})
    result = await AgentSession(spoken, summarizer=summarizer, hooks=hooks, settings=SETTINGS).compact()
    [request] = summarizer.requests
    assert "<additional-context>\n- one thing\n- another\n</additional-context>" in request.prompt
    assert "## Goal" in request.prompt
    assert (result.summary, result.preserve_data, result.from_extension) == ("so far", {"at": 3}, False)
    entry: Any = await spoken.get_entry(result.entry_id)
    assert entry.preserve_data == {"at": 3}


async def test_a_hook_replaces_the_instructions(spoken: SessionManager, recording: Recording) -> None:
    """K-64, K-51, N-52: the last answer counts, and custom instructions stand below it."""
    summarizer = recording()
    hooks = Hooks()
    hooks.on("session.compacting", lambda _event: {"context": ["forgotten"], "prompt": "In one word."})
    hooks.on("session.compacting", lambda _event: SessionCompactingResult(prompt="In one line."))
    await AgentSession(spoken, summarizer=summarizer, hooks=hooks, settings=SETTINGS).compact("names")
    [request] = summarizer.requests
    assert request.prompt.endswith("</conversation>\n\nIn one line.\n\nAdditional focus: names")
    assert "forgotten" not in request.prompt
