"""Settings along a path: the last one wins, each path has its own (C-10..C-18, C-34)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sessiontree.projections.path_records import PathRecord
from sessiontree.projections.tree import ROOT

Factory = Callable[..., Any]
Fields = dict[str, Any]

USER: Fields = {"type": "message", "message": {"role": "user", "content": "q"}}
COMPACTION: Fields = {"type": "compaction", "summary": "s", "firstKeptEntryId": "e1", "tokensBefore": 1}
RESET: Fields = {"type": "reset_boundary"}


def thinking(**fields: Any) -> Fields:
    return {"type": "thinking_level_change", **fields}


def model(**fields: Any) -> Fields:
    return {"type": "model_change", **fields}


def answer(provider: Any = "a", name: Any = "m") -> Fields:
    return {"type": "message", "message": {"role": "assistant", "content": [], "provider": provider, "model": name}}


@pytest.fixture
def records(fed_log: Factory, chain: Factory) -> Callable[..., list[PathRecord]]:
    """Returns what holds at each entry of a chain of these bodies."""

    def make(*bodies: Fields) -> list[PathRecord]:
        fed = fed_log(chain(*bodies)).feed()
        return [fed.projector.states.at(seq) for seq in range(1, len(bodies) + 1)]

    return make


def test_before_anything_thinking_is_off_and_nothing_is_set(fed_log: Factory) -> None:
    """C-01, C-10, C-11, C-15, C-16."""
    record = fed_log([]).projector.states.at(ROOT)
    assert (record.thinking_level, record.configured_thinking_level, dict(record.models)) == ("off", None, {})
    assert (record.mode, record.mode_data, record.service_tier, record.injected_rules()) == ("none", None, None, [])


def test_the_last_thinking_level_counts_and_none_is_off(records: Callable[..., list[PathRecord]]) -> None:
    """C-10, C-11, X-70: configured, else the level, else none; null or absent reads as off."""
    found = records(
        thinking(thinkingLevel="low"),
        thinking(thinkingLevel="high", configured="auto"),
        USER,
        thinking(thinkingLevel=None, configured="auto"),
        thinking(thinkingLevel=None),
        thinking(),
    )
    assert [(one.thinking_level, one.configured_thinking_level) for one in found] == [
        ("low", "low"),
        ("high", "auto"),
        ("high", "auto"),
        ("off", "auto"),
        ("off", None),
        ("off", None),
    ]


def test_settings_before_a_cut_hold_behind_it(records: Callable[..., list[PathRecord]]) -> None:
    """C-10, C-17, X-91: the whole path is tracked, whatever a compaction or a reset cuts off."""
    rules = {"type": "ttsr_injection", "injectedRules": ["r"]}
    found = records(thinking(thinkingLevel="low"), model(model="p/m"), rules, COMPACTION, RESET, USER)
    assert found[-1].cut == 5
    assert (found[-1].thinking_level, dict(found[-1].models)) == ("low", {"default": "p/m"})
    assert found[-1].injected_rules() == ["r"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"model": "p/m"}, {"default": "p/m"}),
        ({"model": "p/m", "role": None}, {"default": "p/m"}),
        ({"model": "p/m", "role": "default"}, {"default": "p/m"}),
        ({"model": "p/m", "role": "smol"}, {"smol": "p/m"}),
        ({"provider": "p", "modelId": "m"}, {"default": "p/m"}),
        ({"provider": "p", "modelId": "m", "model": "q/n"}, {"default": "q/n"}),
        ({"provider": "p"}, {}),
        ({"model": ""}, {}),
        ({}, {}),
    ],
)
def test_a_model_change_sets_the_model_of_its_role(
    records: Callable[..., list[PathRecord]], fields: Fields, expected: dict[str, str]
) -> None:
    """C-12, C-14, F-42: both spellings, `model` wins; an empty or missing model is ignored."""
    [record] = records(model(**fields))
    assert dict(record.models) == expected


def test_roles_have_models_of_their_own(records: Callable[..., list[PathRecord]]) -> None:
    """C-12."""
    found = records(model(model="a/b"), model(model="c/d", role="slow"), model(model="e/f"), model(model=""))
    assert dict(found[-1].models) == {"default": "e/f", "slow": "c/d"}
    assert dict(found[0].models) == {"default": "a/b"}


def test_the_default_model_is_the_assistants_until_one_is_chosen(records: Callable[..., list[PathRecord]]) -> None:
    """C-13, X-71, X-72 as settled: an explicit default stays; a model for another role is no such choice."""
    found = records(
        answer("a", "one"),
        answer("a", "two"),
        model(model="s/s", role="smol"),
        model(model=""),
        answer("b", "two"),
        model(model="p/m"),
        answer("a", "one"),
    )
    defaults = [record.models["default"] for record in found]
    assert defaults == ["a/one", "a/two", "a/two", "a/two", "b/two", "p/m", "p/m"]


@pytest.mark.parametrize(
    "other",
    [
        answer(None, "m"),
        answer("a", None),
        answer("", "m"),
        answer("a", ""),
        answer(1, 2),
        {"type": "message", "message": {"role": "user", "content": "q", "provider": "x", "model": "y"}},
        {"type": "custom", "customType": "c", "message": answer("x", "y")["message"]},
    ],
)
def test_only_an_assistant_with_provider_and_model_says_the_model(
    records: Callable[..., list[PathRecord]], other: Fields
) -> None:
    """C-13."""
    found = records(answer("a", "one"), other, answer("a", "one"))
    assert [dict(record.models) for record in found] == [{"default": "a/one"}] * 3
    assert dict(records(other)[0].models) == {}


def test_the_mode_comes_with_its_data(records: Callable[..., list[PathRecord]]) -> None:
    """C-15: each change sets both."""
    data = {"plan": ["one"], "nested": {"k": None}}
    found = records(
        {"type": "mode_change", "mode": "plan", "data": data},
        USER,
        {"type": "mode_change", "mode": "review"},
        {"type": "mode_change", "mode": "none", "data": {}},
    )
    assert [(record.mode, record.mode_data) for record in found] == [
        ("plan", data),
        ("plan", data),
        ("review", None),
        ("none", {}),
    ]


ALL = {"openai": "priority", "anthropic": "priority", "google": "priority"}


@pytest.mark.parametrize(
    ("stored", "tier"),
    [
        (None, None),
        ({}, None),
        ({"openai": "flex", "anthropic": "scale", "google": "auto"}, "same"),
        ({"openai": "default", "mistral": "flex", "google": "fastest", "anthropic": None}, {"openai": "default"}),
        ({"google": ["auto"]}, None),
        ("priority", ALL),
        ("openai-only", {"openai": "priority"}),
        ("claude-only", {"anthropic": "priority"}),
        *((name, {"openai": name}) for name in ("auto", "default", "flex", "scale")),
        ("unheard-of", None),
        ("", None),
    ],
)
def test_the_last_service_tier_counts_in_every_spelling(
    records: Callable[..., list[PathRecord]], stored: Any, tier: Any
) -> None:
    """C-16, F-43: a map of valid families and tiers, or a legacy string; anything else is none."""
    before = {"type": "service_tier_change", "serviceTier": "priority"}
    found = records(before, {"type": "service_tier_change", "serviceTier": stored}, USER)
    assert found[0].service_tier == ALL
    assert found[1].service_tier == found[2].service_tier == (stored if tier == "same" else tier)


def test_the_cut_is_the_last_compaction_or_reset_on_the_path(records: Callable[..., list[PathRecord]]) -> None:
    """C-18, C-34: by path, not by time."""
    assert [one.cut for one in records(USER, COMPACTION, USER, RESET, USER, COMPACTION)] == [0, 2, 2, 4, 4, 6]


def test_branches_do_not_see_each_others_settings(fed_log: Factory, chain: Factory) -> None:
    """C-05, C-18."""
    side = chain(thinking(thinkingLevel="high"), COMPACTION, first=3, parent="e1")
    fed = fed_log([*chain(thinking(thinkingLevel="low"), USER), *side, *chain(USER, first=5, parent="e2")]).feed()
    found = [fed.projector.states.at(seq) for seq in range(1, 6)]
    assert [record.thinking_level for record in found] == ["low", "low", "high", "high", "low"]
    assert [record.cut for record in found] == [0, 0, 0, 4, 0]


@pytest.mark.parametrize(
    "bad",
    [
        thinking(thinkingLevel=1),
        model(model="x/y", role=1),
        {"type": "mode_change", "mode": 1},
        {"type": "mode_change"},
        {"type": "service_tier_change", "serviceTier": 1},
        {"type": "ttsr_injection", "injectedRules": [1]},
        {"type": "compaction", "summary": None},
    ],
)
def test_an_entry_with_fields_of_the_wrong_kind_changes_nothing(
    records: Callable[..., list[PathRecord]], bad: Fields
) -> None:
    """F-40..F-56 as settled."""
    before, after = records(model(model="p/m"), bad)
    assert before == after


def test_a_settled_log_shares_its_records(fed_log: Factory, chain: Factory) -> None:
    """D3: an entry that changes nothing has the very record of the one above it."""
    fed = fed_log(chain(model(model="p/m"), USER, answer("a", "b"), answer("c", "d"), USER)).feed()
    first = fed.projector.states.at(1)
    assert all(fed.projector.states.at(seq) is first for seq in range(2, 6))


def test_an_overtaken_run_of_settling_is_dropped(fed_log: Factory, chain: Factory) -> None:
    """D3, D6: who asked meanwhile has the newer answer, and the older run ends without one."""
    size = 5000
    early, parent = chain(USER, first=size + 1, parent="x"), {**USER, "id": "x", "parentId": None}
    replies = chain(*(answer("p", str(number)) for number in range(size)), parent="late")
    fed = fed_log([{**entry, "timestamp": 0} for entry in [*early, parent, *replies]]).feed()
    run = fed.projector.states.settle_in_steps()
    next(run)
    fed.add({**model(model="a/b"), "id": "late", "parentId": None, "timestamp": 0})
    last = fed.seq(f"e{size}")
    assert dict(fed.projector.states.at(last).models) == {"default": "a/b"}
    for _ in run:
        pass
    assert dict(fed.projector.states.at(last).models) == {"default": "a/b"}
