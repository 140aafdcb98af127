"""What commands decide to record, without I/O: given a command, then these fields, or a refusal."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from sessiontree import InvalidEntryError
from sessiontree.commands import drafts
from sessiontree.commands.drafts import Draft

CASES: list[tuple[Draft, dict[str, Any]]] = [
    (drafts.message({"role": "user", "content": "x"}), {"message": {"role": "user", "content": "x"}}),
    (drafts.thinking_level_change("high", None), {"thinkingLevel": "high"}),
    (drafts.thinking_level_change(None, "low"), {"thinkingLevel": None, "configured": "low"}),
    (drafts.model_change("acme/m", None), {"model": "acme/m", "provider": "acme", "modelId": "m"}),
    (drafts.model_change("acme/m", "smol"), {"model": "acme/m", "role": "smol"}),
    (drafts.model_change("/m", None), {"model": "/m"}),
    (drafts.mode_change("plan", None), {"mode": "plan"}),
    (drafts.ttsr_injection(("a", "b")), {"injectedRules": ["a", "b"]}),
    (drafts.service_tier_change(None), {"serviceTier": None}),
    (drafts.custom_entry("note", None), {"customType": "note"}),
    (drafts.custom_entry("note", False), {"customType": "note", "data": False}),
    (
        drafts.custom_message_entry("note", [], True, None),
        {"customType": "note", "content": [], "display": True},
    ),
    (
        drafts.compaction("s", "a", 0, None, None, None, None),
        {"summary": "s", "firstKeptEntryId": "a", "tokensBefore": 0},
    ),
    (drafts.branch_summary(None, "", None, None), {"fromId": "root", "summary": ""}),
    (
        drafts.branch_summary("a", "s", None, False),
        {"fromId": "a", "summary": "s", "fromExtension": False, "fromHook": False},
    ),
    (drafts.label("a", None), {"targetId": "a"}),
    (drafts.label("a", ""), {"targetId": "a", "label": ""}),
    (drafts.session_info(" x "), {"name": "x"}),
]


@pytest.mark.parametrize(("draft", "fields"), CASES, ids=lambda value: value.type if isinstance(value, Draft) else "")
def test_a_command_decides_these_fields(draft: Draft, fields: dict[str, Any]) -> None:
    """T-11, F-05, F-40..F-55."""
    assert draft.fields == fields


@pytest.mark.parametrize("draft", [draft for draft, _ in CASES], ids=lambda draft: draft.type)
def test_a_draft_becomes_one_line_with_its_place(draft: Draft) -> None:
    """F-06, T-10: no newline within, nothing but the place added."""
    line = draft.line("me", "above", "2026-01-05T10:00:00.000Z")
    record = json.loads(line)
    assert b"\n" not in line
    assert (record.pop("id"), record.pop("parentId")) == ("me", "above")
    assert (record.pop("timestamp"), record.pop("type")) == ("2026-01-05T10:00:00.000Z", draft.type)
    assert record == draft.fields


@pytest.mark.parametrize(
    "decide",
    [
        lambda: drafts.message({"content": "no role"}),
        lambda: drafts.message({"role": None}),
        lambda: drafts.message({"role": "branchSummary"}),
        lambda: drafts.message({"role": "compactionSummary"}),
        lambda: drafts.message("text"),  # type: ignore[arg-type]
        lambda: drafts.model_change(None, None),  # type: ignore[arg-type]
        lambda: drafts.mode_change(None, None),  # type: ignore[arg-type]
        lambda: drafts.ttsr_injection("rule"),
        lambda: drafts.ttsr_injection([1]),  # type: ignore[list-item]
        lambda: drafts.custom_entry(1, None),  # type: ignore[arg-type]
        lambda: drafts.custom_message_entry("note", None, True, None),  # type: ignore[arg-type]
        lambda: drafts.compaction("s", None, 1, None, None, None, None),  # type: ignore[arg-type]
        lambda: drafts.compaction("s", "a", True, None, None, None, None),
        lambda: drafts.branch_summary(None, None, None, None),  # type: ignore[arg-type]
        lambda: drafts.label("a", 1),  # type: ignore[arg-type]
        lambda: drafts.session_info(None),  # type: ignore[arg-type]
    ],
)
def test_what_a_reader_could_not_use_is_refused(decide: Callable[[], Draft]) -> None:
    """T-15, F-67: a command never writes an entry of a known type with fields of the wrong kind."""
    with pytest.raises(InvalidEntryError):
        decide()


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [object(), {(1, 2): "x"}, deep(100_000), deep(5_000)])
def test_what_json_cannot_carry_is_refused(value: object) -> None:
    """D15: nesting too, since it could not be read again."""
    with pytest.raises(InvalidEntryError, match="custom"):
        drafts.custom_entry("note", value).line("me", None, "now")


def test_what_nests_less_deeply_is_written() -> None:
    line = drafts.custom_entry("note", deep(300)).line("me", None, "now")
    assert json.loads(line)["data"] == deep(300)


def test_the_same_content_is_known_wherever_it_stands() -> None:
    """The contract of `entry_id`: place and time do not count, key order does not, values do."""
    draft = drafts.message({"role": "user", "content": [1, {"a": 1, "b": 2}]})
    assert draft.is_content_of(draft.line("me", "above", "now"))
    assert draft.is_content_of(b'{"message":{"content":[1,{"b":2,"a":1}],"role":"user"},"type":"message","id":"x"}')
    assert not draft.is_content_of(b'{"type":"message","id":"x","message":{"role":"user","content":[2]}}')
    assert not draft.is_content_of(draft.line("me", None, "now")[:-1] + b',"more":1}')
    assert not drafts.custom_entry("note", None).is_content_of(draft.line("me", None, "now"))


def test_content_that_changes_on_its_way_to_json_is_still_the_same() -> None:
    """NaN becomes null, keys become strings: a second call with the same values says the same."""
    draft = drafts.custom_entry("note", {1: float("nan"), "x": "\ud800"})
    assert draft.is_content_of(draft.line("me", None, "now"))


@pytest.mark.parametrize(
    "draft",
    [
        drafts.compaction("s", "a", 10, None, "yes", None, None),  # type: ignore[arg-type]
        drafts.compaction("s", "a", 10, None, None, 5, None),  # type: ignore[arg-type]
        drafts.thinking_level_change(5, None),  # type: ignore[arg-type]
        drafts.mode_change("plan", [1]),  # type: ignore[arg-type]
        drafts.model_change("a/b", 5),  # type: ignore[arg-type]
        drafts.service_tier_change(["x"]),  # type: ignore[arg-type]
    ],
)
def test_what_would_be_read_as_a_bad_body_is_not_written(draft: Draft) -> None:
    """F-40..F-56: an entry that our own reader does not know again has no effect."""
    with pytest.raises(InvalidEntryError, match="wrong kind"):
        draft.line("id", None, "2026-01-05T10:00:00.000Z")


def test_nesting_has_a_limit_of_its_own() -> None:
    """D15: how deep can be read depends on who reads; what is written can be read by all."""

    def nested(levels: int) -> Draft:
        value: object = "x"
        for _ in range(levels):
            value = [value]
        return drafts.custom_entry("deep", value)

    assert nested(drafts.MOST_NESTED - 2).line("id", None, "t")
    with pytest.raises(InvalidEntryError, match="nests deeper"):
        nested(drafts.MOST_NESTED + 1).line("id", None, "t")


def test_many_containers_side_by_side_are_no_nesting() -> None:
    assert drafts.custom_entry("wide", [[] for _ in range(5000)]).line("id", None, "t")
