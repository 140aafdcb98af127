"""Random odd logs in random batches, asked in between: always what the naive model says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sessiontree.eventstore.entries import decode_entry
from sessiontree.projections.context import SessionContext, build_session_context, context_window
from sessiontree.projections.tree import ROOT

Factory = Callable[..., Any]


def check_tree(fed: Any, model: Any) -> None:
    tree = fed.projector.tree
    assert fed.ids(tree.live()) == list(model.live)
    assert tree.entry_count == len(model.live)
    assert fed.ids(tree.children(ROOT)) == fed.ids(tree.ordered_children(ROOT)) == model.children(None)
    for entry_id, parent in model.parents.items():
        seq = tree.find(entry_id)
        assert fed.ids([tree.parents[seq]]) == [parent or ""]
        assert fed.ids(tree.children(seq)) == model.children(entry_id)
        assert fed.ids(tree.ordered_children(seq)) == model.ordered_children(entry_id)
        assert fed.ids(tree.path(seq)) == fed.ids(tree.ancestors(seq))[::-1] == model.path(entry_id)
        assert tree.kind(seq).type == model.live[entry_id]["type"]


def check_report(fed: Any, model: Any) -> None:
    faults = fed.projector.report().faults
    assert [fault.line for fault in faults] == sorted(fault.line for fault in faults)
    assert sorted((fault.line - 2, fault.kind, fault.id) for fault in faults) == model.faults()


def check_sums(fed: Any, model: Any) -> None:
    projector = fed.projector
    assert list(projector.labels.by_target.items()) == list(model.labels().items())
    assert projector.name.name == model.name()
    total = projector.usage.total
    sums = [getattr(total, field) for field in total.__struct_fields__]
    assert [(type(value), value) for value in sums] == [(type(value), value) for value in model.usage()]


def state_of(context: SessionContext) -> dict[str, Any]:
    left_out = ("messages", "open_tool_calls")
    return {name: getattr(context, name) for name in context.__struct_fields__ if name not in left_out}


def check_states(fed: Any, model: Any) -> None:
    for leaf in [None, *model.live]:
        record = fed.projector.states.at(fed.seq(leaf))
        found = {name: getattr(record, name) for name in record.__struct_fields__}
        expected = model.state(leaf)
        assert record.injected_rules() == expected.pop("injected_ttsr_rules")
        assert {name: found[name] for name in expected} == expected
        assert fed.projector.states.last_model_change_role(fed.seq(leaf)) == model.last_model_change_role(leaf)


def check_contexts(fed: Any, model: Any) -> None:
    for leaf in [None, *model.live]:
        compaction, ids = model.window(leaf)
        window = context_window(fed.projector.tree, fed.projector.states, fed.seq(leaf))
        speaking = ("message", "custom_message", "branch_summary")
        assert fed.ids(window.speaking) == [one for one in ids if model.live[one]["type"] in speaking]
        assert fed.ids([window.compaction]) == [compaction or ""]
        for keep in (False, True):
            context = fed.context(leaf, keep_failed_turns=keep)
            assert (context.messages, context.open_tool_calls) == model.messages(leaf, keep_failed_turns=keep)
            assert state_of(context) == model.state(leaf)


CHECKS = [check_tree, check_report, check_sums, check_states, check_contexts]


@settings(max_examples=3000, deadline=None)
@given(data=st.data())
def test_batches_and_questions_in_between_change_no_answer(
    data: st.DataObject, odd_logs: st.SearchStrategy[Any], fed_log: Factory, naive_log: Factory
) -> None:
    """T-20..T-33, T-50, T-95, C-01..C-41, D3: each answer is the one that the log so far gives."""
    entries = data.draw(odd_logs)
    fed = fed_log(entries, title=" first ")
    position = 0
    while position < len(entries):
        count = data.draw(st.integers(1, len(entries) - position))
        fed.feed(count)
        position += count
        for check in data.draw(st.lists(st.sampled_from(CHECKS), max_size=2)):
            check(fed, naive_log(entries[:position], title="first"))
    for check in data.draw(st.permutations(CHECKS)):
        check(fed, naive_log(entries, title="first"))


@settings(max_examples=3000, deadline=None)
@given(data=st.data())
def test_one_by_one_and_at_once_give_the_same(
    data: st.DataObject, odd_logs: st.SearchStrategy[Any], fed_log: Factory, naive_log: Factory
) -> None:
    """D1, D3: `apply_batch` of all is `apply` of each, asked after every entry or never."""
    entries = data.draw(odd_logs)
    asked, unasked, at_once = fed_log(entries), fed_log(entries), fed_log(entries)
    at_once.feed()
    for position in range(len(entries)):
        unasked.feed(1)
        asked.feed(1)
        for check in CHECKS:
            check(asked, naive_log(entries[: position + 1]))
    for fed in (unasked, at_once):
        for check in CHECKS:
            check(fed, naive_log(entries))
    assert unasked.projector.report() == at_once.projector.report() == asked.projector.report()


@settings(max_examples=3000, deadline=None)
@given(data=st.data())
def test_the_pure_function_gives_the_context_of_any_leaf(
    data: st.DataObject, odd_logs: st.SearchStrategy[Any], fed_log: Factory, naive_log: Factory
) -> None:
    """C-01..C-05: a leaf that is not known or not given is the last entry, None is the empty position."""
    log = data.draw(odd_logs)
    model = naive_log(log)
    entries = [decode_entry(line) for line in fed_log(log).lines]
    last = list(model.live)[-1] if model.live else None
    expected = {**{leaf: leaf for leaf in model.live}, None: None, "nowhere": last, "": last}
    for given_leaf, leaf in expected.items():
        for keep in (False, True):
            context = build_session_context(entries, given_leaf, keep_failed_turns=keep)
            assert (context.messages, context.open_tool_calls) == model.messages(leaf, keep_failed_turns=keep)
            assert state_of(context) == model.state(leaf)
    assert build_session_context(entries) == build_session_context(entries, last)
