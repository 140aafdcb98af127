"""Which entries make the context of a leaf (C-01..C-05, C-18, C-30..C-37). A transcript mode (C-43) is not built."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from sessiontree import EntryNotFoundError, SessionManager, build_session_context
from sessiontree.eventstore.entries import decode_entry

Factory = Callable[..., Any]
Fields = dict[str, Any]


def said(text: str, role: str = "user") -> Fields:
    content = text if role == "user" else [{"type": "text", "text": text}]
    return {"type": "message", "message": {"role": role, "content": content}}


def compaction(first_kept: str | None, summary: str = "S", **more: Any) -> Fields:
    fields = {"summary": summary, "tokensBefore": 9, **more}
    return {"type": "compaction", **fields, **({} if first_kept is None else {"firstKeptEntryId": first_kept})}


RESET: Fields = {"type": "reset_boundary"}
LABEL: Fields = {"type": "label", "targetId": "e1", "label": "x"}


def texts(context: Any) -> list[str]:
    """The text of each message; `=` and the summary for a compaction's, `<` for a branch's."""
    found = []
    for message in context.messages:
        content = message.get("content")
        marks = {"compactionSummary": "=", "branchSummary": "<"}
        mark = marks.get(message["role"], "")
        found.append(
            mark + (message["summary"] if mark else content if isinstance(content, str) else content[0]["text"])
        )
    return found


@pytest.fixture
def spoken(fed_log: Factory, chain: Factory) -> Callable[..., list[str]]:
    """Returns the texts of the context at the end of a chain of these bodies."""

    def make(*bodies: Fields) -> list[str]:
        return texts(fed_log(chain(*bodies)).feed().context(f"e{len(bodies)}"))

    return make


@pytest.fixture
def entries_of(fed_log: Factory) -> Callable[..., Any]:
    """Decodes entries given as dicts."""
    return lambda fields: [decode_entry(line) for line in fed_log(fields).lines]


def check_empty(context: Any) -> None:
    """C-01."""
    assert (context.messages, context.open_tool_calls, context.models) == ([], [], {})
    assert (context.thinking_level, context.configured_thinking_level) == ("off", None)
    assert (context.mode, context.mode_data, context.service_tier, context.injected_ttsr_rules) == (
        "none",
        None,
        None,
        [],
    )


def test_no_entries_give_the_empty_context(fed_log: Factory) -> None:
    """C-01, C-03, X-68."""
    check_empty(build_session_context([]))
    check_empty(build_session_context([], "nowhere"))
    check_empty(build_session_context([], None))
    check_empty(fed_log([]).context(None))


def test_the_position_above_all_roots_has_the_empty_context(chain: Factory, entries_of: Factory) -> None:
    """C-01."""
    settings = {"type": "thinking_level_change", "thinkingLevel": "high"}
    check_empty(build_session_context(entries_of(chain(said("a"), settings)), None))


def test_a_leaf_selects_its_branch_and_an_unknown_or_missing_one_the_last_entry(
    chain: Factory, entries_of: Factory
) -> None:
    """C-02, C-03, X-78, X-81."""
    entries = entries_of([*chain(said("a"), said("b")), *chain(said("c"), first=3, parent="e1")])
    assert texts(build_session_context(entries, "e2")) == ["a", "b"]
    for context in (build_session_context(entries), build_session_context(entries, "nowhere")):
        assert texts(context) == ["a", "c"]
    assert texts(build_session_context(entries, "")) == ["a", "c"]


def test_of_entries_with_one_id_the_last_counts(chain: Factory, entries_of: Factory) -> None:
    """C-04, F-87."""
    entries = entries_of([*chain(said("a"), said("old"), said("c")), *chain(said("new"), first=2, parent="e1")])
    assert texts(build_session_context(entries, "e3")) == ["a", "new", "c"]


def test_the_path_ends_where_a_parent_is_missing(chain: Factory, entries_of: Factory) -> None:
    """C-05, X-82: an orphan has only the connected tail."""
    entries = entries_of([*chain(said("a")), *chain(said("b"), said("c"), first=2, parent="ghost")])
    assert texts(build_session_context(entries, "e2")) == ["b"]
    assert texts(build_session_context(entries, "e3")) == ["b", "c"]


def test_a_cycle_ends_at_its_first_entry_and_each_stands_once(chain: Factory, entries_of: Factory) -> None:
    """C-05, T-23, X-83 as settled: A (first in the file) is a root, B hangs on it."""
    entries = entries_of([*chain(said("a"), parent="e2"), *chain(said("b"), first=2, parent="e1")])
    assert texts(build_session_context(entries, "e1")) == ["a"]
    assert texts(build_session_context(entries, "e2")) == ["a", "b"]


async def test_a_sessions_method_takes_the_current_leaf_and_refuses_an_unknown_one() -> None:
    """C-01..C-03 as settled, X-17."""
    async with SessionManager.in_memory() as session:
        check_empty(await session.build_session_context())
        first, second = await session.append_many([said("a")["message"], said("b")["message"]])
        assert texts(await session.build_session_context()) == ["a", "b"]
        session.branch(first)
        await session.append_message(said("c")["message"])
        assert texts(await session.build_session_context()) == ["a", "c"]
        assert texts(await session.build_session_context(second)) == ["a", "b"]
        check_empty(await session.build_session_context(None))
        with pytest.raises(EntryNotFoundError):
            await session.build_session_context("nowhere")
        session.reset_leaf()
        check_empty(await session.build_session_context())


def test_without_a_compaction_all_of_the_path_speaks_in_order(spoken: Factory) -> None:
    """C-20, C-24, C-30, X-69, X-70: settings, labels and unknown types say nothing."""
    assert spoken(said("a")) == ["a"]
    level = {"type": "thinking_level_change", "thinkingLevel": "low"}
    assert spoken(said("a"), said("b", "assistant"), level, LABEL, {"type": "new"}, said("c")) == ["a", "b", "c"]


def test_a_compaction_gives_its_summary_then_what_was_kept_then_what_follows(spoken: Factory) -> None:
    """C-31, X-75, X-76."""
    talk = [said(text) for text in "abcd"]
    assert spoken(*talk, compaction("e3"), said("e"), said("f")) == ["=S", "c", "d", "e", "f"]
    assert spoken(*talk, compaction("e1"), said("e")) == ["=S", "a", "b", "c", "d", "e"]
    assert spoken(*talk, compaction("e4")) == ["=S", "d"]


def test_an_empty_summary_is_said_all_the_same(spoken: Factory) -> None:
    """C-31."""
    assert spoken(said("a"), compaction("e1", ""), said("b")) == ["=", "a", "b"]


@pytest.mark.parametrize("first_kept", ["ghost", "e3", "e5", "e6", "", None])
def test_a_first_kept_entry_that_is_not_above_keeps_nothing(fed_log: Factory, chain: Factory, first_kept: Any) -> None:
    """C-32: unknown, on another branch, the compaction itself, after it, absent; no error."""
    trunk = chain(said("a"), said("b"))
    entries = [*trunk, *chain(said("c"), first=3, parent="e1"), *chain(said("d"), first=4, parent="e2")]
    entries += chain(compaction(first_kept), said("f"), first=5, parent="e4")
    fed = fed_log(entries).feed()
    assert texts(fed.context("e6")) == ["=S", "f"]
    assert texts(fed.context("e5")) == ["=S"]


def test_any_entry_may_mark_where_keeping_starts(spoken: Factory) -> None:
    """C-33, case 39: a setting, a label, an earlier compaction."""
    assert spoken(said("a"), LABEL, said("b"), compaction("e2"), said("c")) == ["=S", "b", "c"]
    assert spoken(said("a"), compaction("e1", "old"), said("b"), compaction("e2"), said("c")) == ["=S", "b", "c"]


def test_of_several_compactions_on_the_path_the_last_counts(spoken: Factory) -> None:
    """C-18, C-33, X-77: an earlier one inside the kept range is not repeated."""
    first = [said("a"), said("b"), compaction("e2", "old"), said("c")]
    assert spoken(*first, compaction("e4", "new"), said("d")) == ["=new", "c", "d"]
    assert spoken(*first, compaction("e1", "new"), said("d")) == ["=new", "a", "b", "c", "d"]


def test_the_last_is_by_path_not_by_time(fed_log: Factory, chain: Factory) -> None:
    """C-18."""
    entries = [
        *chain(said("a")),
        *chain(compaction("e1", "one"), first=40, parent="e1"),
        *chain(compaction("e1", "two"), first=30, parent="e40"),
    ]
    assert texts(fed_log(entries).feed().context("e30")) == ["=two", "a"]


def test_only_what_follows_a_reset_boundary_speaks(spoken: Factory) -> None:
    """C-34: also after a compaction; one before the last compaction has no effect."""
    assert spoken(said("a"), RESET, said("b")) == ["b"]
    assert spoken(said("a"), RESET) == []
    assert spoken(said("a"), RESET, said("b"), RESET, said("c")) == ["c"]
    assert spoken(said("a"), compaction("e1"), said("b"), RESET, said("c")) == ["c"]
    assert spoken(said("a"), RESET, said("b"), compaction("e1"), said("c")) == ["=S", "a", "b", "c"]


def test_a_replacement_history_of_a_provider_is_not_interpreted(spoken: Factory) -> None:
    """C-35, X-89 as settled."""
    remote = {"openaiRemoteCompaction": {"provider": "openai", "replacementHistory": [{"type": "compaction"}]}}
    assert spoken(said("a"), said("b"), compaction("e2", preserveData=remote), said("c")) == ["=S", "b", "c"]


def test_a_compaction_counts_only_below_it(fed_log: Factory, chain: Factory) -> None:
    """C-36, X-52: before it all is there again; between two, the first one counts; its own data stays whole."""
    entries = chain(said("a"), said("b"), compaction("e2", "one"), said("c"), compaction("e4", "two"), said("d"))
    fed = fed_log([*entries, *chain(said("side"), first=7, parent="e2"), *chain(said("mid"), first=8, parent="e4")])
    fed.feed()
    assert texts(fed.context("e6")) == ["=two", "c", "d"]
    assert texts(fed.context("e7")) == ["a", "b", "side"]
    assert texts(fed.context("e8")) == ["=one", "b", "c", "mid"]
    assert texts(fed.context("e2")) == ["a", "b"]


def test_summaries_of_branches_and_custom_messages_stand_in_place_or_are_cut(spoken: Factory) -> None:
    """C-22, C-37, X-79."""
    left = {"type": "branch_summary", "fromId": "e1", "summary": "left"}
    note = {"type": "custom_message", "customType": "n", "content": "note", "display": False}
    assert spoken(said("a"), left, note, said("b")) == ["a", "<left", "note", "b"]
    assert spoken(said("a"), left, note, said("b"), compaction("e2"), note, left) == [
        "=S",
        "<left",
        "note",
        "b",
        "note",
        "<left",
    ]
    assert spoken(left, note, said("b"), compaction("e3"), said("c")) == ["=S", "b", "c"]


def test_a_tree_has_a_compacted_and_a_summarized_side(fed_log: Factory, chain: Factory) -> None:
    """C-36, X-80."""
    trunk = chain(said("a"), said("b"), said("c"), said("d"), compaction("e3"), said("f"))
    left = {"type": "branch_summary", "fromId": "e2", "summary": "tried"}
    fed = fed_log([*trunk, *chain(left, said("better"), first=7, parent="e2")]).feed()
    assert texts(fed.context("e6")) == ["=S", "c", "d", "f"]
    assert texts(fed.context("e8")) == ["a", "b", "<tried", "better"]


def test_what_a_compaction_keeps_may_stand_behind_it_in_the_file(fed_log: Factory, chain: Factory) -> None:
    """C-31, D3: only the path counts, in whatever order its lines stand."""
    for order in permutations(chain(said("a"), said("b"), said("c"), compaction("e2"), said("d"))):
        assert texts(fed_log(order).feed().context("e5")) == ["=S", "b", "c", "d"]
