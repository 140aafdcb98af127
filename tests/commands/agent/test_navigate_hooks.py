"""What the hooks of a navigation are told, and what their answers do (N-07..N-16, N-34)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sessiontree import (
    AbortSignal,
    AgentSession,
    Hooks,
    NavigateResult,
    SessionBeforeTreeResult,
    SessionManager,
    SessionTreeEvent,
    SuppliedSummary,
    TreePreparation,
)

Say = Callable[..., Awaitable[None]]
MakeSummarizer = Callable[..., Any]


@pytest.fixture
async def talk(session: SessionManager, say: Say) -> SessionManager:
    """u1, a1, u2, a2 in one line; the leaf is a2."""
    await say(session, "u1", "a1", "u2", "a2")
    return session


@pytest.fixture
def told(hooks: Hooks) -> list[Any]:
    """The events `session_tree` that were told."""
    events: list[Any] = []
    hooks.on("session_tree", events.append)
    return events


@pytest.fixture
def hooks() -> Hooks:
    return Hooks()


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_before_the_leaf_moves_it_is_told_what_would_be_left(
    talk: SessionManager, say: Say, hooks: Hooks, asynchronous: bool
) -> None:
    """N-06, N-07, N-09: without a summary too; the leaf is still where it was."""
    talk.branch("a1")
    await say(talk, "u3", "a3")
    seen: list[Any] = []

    def look(event: Any) -> None:
        seen.append((event, talk.leaf_id))

    async def look_slowly(event: Any) -> None:
        look(event)

    hooks.on("session_before_tree", look_slowly if asynchronous else look)
    await AgentSession(talk, hooks=hooks).navigate_tree("u2")
    [(event, leaf_id)] = seen
    assert (event.type, leaf_id) == ("session_before_tree", "a3")
    assert isinstance(event.signal, AbortSignal)
    left = await talk.get_entries(["u3", "a3"])
    assert event.preparation == TreePreparation("u2", "a3", "a1", left, False)


async def test_what_is_wished_for_is_told(talk: SessionManager, recording: MakeSummarizer, hooks: Hooks) -> None:
    """N-07, with the further options of N-36 and N-6A."""
    seen: list[Any] = []
    hooks.on("session_before_tree", seen.append)
    await AgentSession(talk, hooks=hooks, summarizer=recording()).navigate_tree(
        "a1", summarize=True, custom_instructions="tests", replace_instructions=True, label="here"
    )
    left = await talk.get_entries(["u2", "a2"])
    assert seen[0].preparation == TreePreparation("a1", "a2", "a1", left, True, "tests", True, "here")


async def test_each_navigation_has_a_signal_of_its_own(talk: SessionManager, hooks: Hooks) -> None:
    """N-08: one that was aborted is no matter of the next."""
    signals: list[AbortSignal] = []
    hooks.on("session_before_tree", lambda event: signals.append(event.signal))
    agent = AgentSession(talk, hooks=hooks)
    hooks.on("session_before_tree", lambda event: agent.abort_branch_summary() if len(signals) == 1 else None)
    assert (await agent.navigate_tree("u1")).aborted
    assert (await agent.navigate_tree("u1")) == NavigateResult("text of u1")
    assert [signal.aborted for signal in signals] == [True, False]


async def test_one_signal_goes_to_hooks_and_summarizer(
    talk: SessionManager, recording: MakeSummarizer, hooks: Hooks
) -> None:
    """N-39."""
    signals: list[AbortSignal] = []
    hooks.on("session_before_tree", lambda event: signals.append(event.signal))
    summarizer = recording()
    await AgentSession(talk, hooks=hooks, summarizer=summarizer).navigate_tree("a1", summarize=True)
    assert [id(signal) for signal in signals] == [id(signal) for signal in summarizer.signals]


@pytest.mark.parametrize("summarize", [False, True])
@pytest.mark.parametrize(
    "answer", [{"cancel": True}, SessionBeforeTreeResult(cancel=True, summary=SuppliedSummary("s"))]
)
async def test_a_hook_cancels(
    talk: SessionManager,
    recording: MakeSummarizer,
    hooks: Hooks,
    told: list[Any],
    answer: Any,
    summarize: bool,
) -> None:
    """N-10: nobody is asked, told or moved, and it is no abort."""
    hooks.on("session_before_tree", lambda event: answer)
    summarizer = recording()
    agent = AgentSession(talk, hooks=hooks, summarizer=summarizer)
    result = await agent.navigate_tree("u1", summarize=summarize, label="here")
    assert result == NavigateResult(cancelled=True)
    assert (talk.leaf_id, talk.entry_count, summarizer.requests, told) == ("a2", 4, [], [])


@pytest.mark.parametrize("details", [None, {}, {"why": ["x", None, {"deep": 1.5}], "readFiles": "no list"}, "text", 0])
async def test_a_hook_supplies_the_summary(
    talk: SessionManager, recording: MakeSummarizer, hooks: Hooks, told: list[Any], details: Any
) -> None:
    """N-11, N-14: text and details are stored as they are, marked as an extension's, and nobody else is asked."""
    hooks.on("session_before_tree", lambda event: {"summary": {"summary": " as it is\n", "details": details}})
    summarizer = recording()
    result = await AgentSession(talk, hooks=hooks, summarizer=summarizer).navigate_tree("u2", summarize=True)
    entry: Any = result.summary_entry
    assert (entry.summary, entry.details, entry.from_extension) == (" as it is\n", details, True)
    assert (entry.parent_id, result.editor_text, talk.leaf_id) == ("a1", "text of u2", entry.id)
    assert summarizer.requests == []
    assert told == [SessionTreeEvent(entry.id, "a2", entry, True)]


async def test_a_supplied_summary_counts_only_where_one_is_wanted(
    talk: SessionManager, hooks: Hooks, told: list[Any]
) -> None:
    """N-11."""
    hooks.on("session_before_tree", lambda event: SessionBeforeTreeResult(summary=SuppliedSummary("unasked")))
    assert await AgentSession(talk, hooks=hooks).navigate_tree("a1") == NavigateResult()
    assert (talk.leaf_id, talk.entry_count) == ("a1", 4)
    assert told == [SessionTreeEvent("a1", "a2")]


async def test_a_supplied_summary_counts_where_nothing_is_left(
    talk: SessionManager, recording: MakeSummarizer, hooks: Hooks
) -> None:
    """N-15."""
    talk.branch("u1")
    hooks.on("session_before_tree", lambda event: {"summary": {"summary": "ahead"}})
    result = await AgentSession(talk, hooks=hooks, summarizer=recording()).navigate_tree("a2", summarize=True)
    assert result.summary_entry is not None
    assert (result.summary_entry.summary, result.summary_entry.parent_id) == ("ahead", "a2")


@pytest.mark.parametrize("text", ["", " \n\t"])
async def test_an_empty_supplied_summary_is_none(
    talk: SessionManager, recording: MakeSummarizer, hooks: Hooks, told: list[Any], text: str
) -> None:
    """N-16, N-34: no entry, no word of an extension, and nobody else is asked."""
    hooks.on("session_before_tree", lambda event: {"summary": {"summary": text, "details": {"x": 1}}})
    summarizer = recording()
    result = await AgentSession(talk, hooks=hooks, summarizer=summarizer).navigate_tree("a1", summarize=True)
    assert (result, talk.leaf_id, talk.entry_count, summarizer.requests) == (NavigateResult(), "a1", 4, [])
    assert told == [SessionTreeEvent("a1", "a2")]


@pytest.mark.parametrize("answer", [None, {}, SessionBeforeTreeResult(), {"cancel": False, "summary": None}])
async def test_an_answer_that_says_nothing_changes_nothing(
    talk: SessionManager, recording: MakeSummarizer, hooks: Hooks, told: list[Any], answer: Any
) -> None:
    """N-12, N-34: our own summary is made, and the event says that it is no extension's."""
    hooks.on("session_before_tree", lambda event: answer)
    result = await AgentSession(talk, hooks=hooks, summarizer=recording()).navigate_tree("a1", summarize=True)
    assert result.summary_entry is not None
    assert told == [SessionTreeEvent(talk.leaf_id, "a2", result.summary_entry, False)]


async def test_a_failing_hook_has_no_say(
    talk: SessionManager, recording: MakeSummarizer, hooks: Hooks, told: list[Any]
) -> None:
    """N-53: neither before nor after; the navigation goes on."""

    def fail(event: Any) -> Any:
        raise RuntimeError("broken")

    faults: list[Any] = []
    hooks.on_error(faults.append)
    hooks.on("session_before_tree", fail)
    hooks.on("session_tree", fail)
    result = await AgentSession(talk, hooks=hooks, summarizer=recording()).navigate_tree("a1", summarize=True)
    assert result.summary_entry is not None
    assert [fault.event for fault in faults] == ["session_before_tree", "session_tree"]
    assert len(told) == 1


@pytest.mark.parametrize(("target", "new_leaf_id"), [("u1", None), ("a1", "a1"), ("u2", "a1")])
async def test_after_the_leaf_has_moved_it_is_told_from_where_to_where(
    talk: SessionManager, hooks: Hooks, told: list[Any], target: str, new_leaf_id: str | None
) -> None:
    """N-34: null above all roots; of a summary nothing is said."""
    leaves: list[str | None] = []
    hooks.on("session_tree", lambda event: leaves.append(talk.leaf_id))
    await AgentSession(talk, hooks=hooks).navigate_tree(target)
    assert told == [SessionTreeEvent(new_leaf_id, "a2", None, None)]
    assert leaves == [new_leaf_id]


async def test_from_above_all_roots_the_old_leaf_is_none(talk: SessionManager, hooks: Hooks, told: list[Any]) -> None:
    """N-34."""
    talk.reset_leaf()
    await AgentSession(talk, hooks=hooks).navigate_tree("a1")
    assert told == [SessionTreeEvent("a1", None)]


@pytest.mark.parametrize("summarize", [False, True])
async def test_the_new_leaf_is_the_current_one(
    talk: SessionManager, recording: MakeSummarizer, hooks: Hooks, told: list[Any], summarize: bool
) -> None:
    """N-34, N-36: a label's entry where there is one, recorded already."""
    hooks.on("session_tree", lambda event: told.append(talk.has_entry(event.new_leaf_id)))
    agent = AgentSession(talk, hooks=hooks, summarizer=recording())
    result = await agent.navigate_tree("a1", summarize=summarize, label="here")
    flag = False if summarize else None
    assert told == [SessionTreeEvent(talk.leaf_id, "a2", result.summary_entry, flag), True]
    assert talk.leaf_id is not None
    assert talk.shape(talk.leaf_id).type == "label"


async def test_what_a_hook_appends_afterwards_is_at_the_new_position(talk: SessionManager, hooks: Hooks) -> None:
    """N-34: and in the context that is built next."""

    @hooks.on("session_tree")
    async def note(event: Any) -> None:
        await talk.append_custom_message_entry("note", "came back", True)

    agent = AgentSession(talk, hooks=hooks)
    await agent.navigate_tree("a1")
    assert talk.path_ids()[:-1] == ["u1", "a1"]
    assert (await agent.get_context()).messages[-1]["content"] == "came back"
