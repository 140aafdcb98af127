"""Entries of every type: what their fields are called in Python, and what odd fields do."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiontree.eventstore import entries
from sessiontree.eventstore.entries import KNOWN_TYPES, SessionEntry, UnknownEntry, decode_entry
from sessiontree.eventstore.envelope import STATE_TYPES, StateEnvelope, decode_envelope

BASE = {"id": "a1b2c3d4", "parentId": "00000000", "timestamp": "2026-02-16T10:20:30.000Z"}

# rule, type, fields in the file, fields in Python
TYPES: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("F-40", "message", {"message": {"role": "user", "content": "hi", "timestamp": 1}}, {"role": "user"}),
    (
        "F-41",
        "thinking_level_change",
        {"thinkingLevel": "high", "configured": "low"},
        {"thinking_level": "high", "configured": "low"},
    ),
    ("F-41 null", "thinking_level_change", {"thinkingLevel": None}, {"thinking_level": None, "configured": None}),
    (
        "F-42 omp",
        "model_change",
        {"model": "anthropic/claude", "role": "smol"},
        {"model": "anthropic/claude", "role": "smol", "full_model": "anthropic/claude"},
    ),
    (
        "F-42 pi",
        "model_change",
        {"provider": "openai", "modelId": "gpt"},
        {"provider": "openai", "model_id": "gpt", "role": None, "full_model": "openai/gpt"},
    ),
    (
        "F-42 both",
        "model_change",
        {"model": "a/b", "provider": "c", "modelId": "d"},
        {"full_model": "a/b"},
    ),
    ("F-42 neither", "model_change", {"provider": "c"}, {"full_model": None}),
    ("F-43", "service_tier_change", {"serviceTier": {"openai": "flex"}}, {"service_tier": {"openai": "flex"}}),
    ("F-43 legacy", "service_tier_change", {"serviceTier": "priority"}, {"service_tier": "priority"}),
    ("F-43 null", "service_tier_change", {"serviceTier": None}, {"service_tier": None}),
    (
        "F-44 omp",
        "compaction",
        {
            "summary": "s",
            "firstKeptEntryId": "k",
            "tokensBefore": 10.5,
            "details": {"readFiles": []},
            "fromExtension": True,
            "shortSummary": "t",
            "preserveData": {"x": 1},
            "warning": "w",
        },
        {
            "summary": "s",
            "first_kept_entry_id": "k",
            "tokens_before": 10.5,
            "details": {"readFiles": []},
            "from_extension": True,
            "short_summary": "t",
            "preserve_data": {"x": 1},
            "warning": "w",
        },
    ),
    ("F-44 pi", "compaction", {"summary": "s", "fromHook": True}, {"from_extension": True, "tokens_before": None}),
    ("F-45 omp", "branch_summary", {"fromId": "root", "summary": "s", "fromExtension": False}, {"from_id": "root"}),
    (
        "F-45 pi",
        "branch_summary",
        {"fromId": "x", "summary": "s", "fromHook": False, "details": [1]},
        {"from_id": "x", "summary": "s", "from_extension": False, "details": [1]},
    ),
    ("F-45 silent", "branch_summary", {"fromId": "x", "summary": "s"}, {"from_extension": None, "details": None}),
    ("F-46", "custom", {"customType": "c", "data": {"deep": [1]}}, {"custom_type": "c", "data": {"deep": [1]}}),
    (
        "F-47",
        "custom_message",
        {
            "customType": "c",
            "content": [{"type": "text", "text": "t"}],
            "display": True,
            "details": 1,
            "attribution": "agent",
        },
        {
            "custom_type": "c",
            "content": [{"type": "text", "text": "t"}],
            "display": True,
            "details": 1,
            "attribution": "agent",
        },
    ),
    ("F-47 text", "custom_message", {"customType": "c", "content": "t", "display": False}, {"content": "t"}),
    ("F-48", "label", {"targetId": "x", "label": "here"}, {"target_id": "x", "label": "here"}),
    ("F-48 clear", "label", {"targetId": "x"}, {"target_id": "x", "label": None}),
    ("F-49", "ttsr_injection", {"injectedRules": ["a", "b"]}, {"injected_rules": ["a", "b"]}),
    ("F-50", "mode_change", {"mode": "plan", "data": {"x": 1}}, {"mode": "plan", "data": {"x": 1}}),
    (
        "F-51",
        "session_init",
        {
            "systemPrompt": "p",
            "task": "t",
            "tools": ["read"],
            "outputSchema": {},
            "outputSchemaMode": "strict",
            "restrictToolNames": True,
            "spawns": "*",
            "readSummarize": False,
        },
        {
            "system_prompt": "p",
            "task": "t",
            "tools": ["read"],
            "output_schema": {},
            "output_schema_mode": "strict",
            "restrict_tool_names": True,
            "spawns": "*",
            "read_summarize": False,
        },
    ),
    (
        "F-52",
        "title_change",
        {"title": "new", "source": "user", "previousTitle": "old", "trigger": "rename"},
        {"title": "new", "source": "user", "previous_title": "old", "trigger": "rename"},
    ),
    ("F-53", "credential_pin", {"provider": "p", "hash": "h"}, {"provider": "p", "hash": "h"}),
    ("F-54", "reset_boundary", {}, {}),
    ("F-55", "session_info", {"name": "my session"}, {"name": "my session"}),
    ("F-55 empty", "session_info", {}, {"name": None}),
]


def line_of(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields).encode()


@pytest.mark.parametrize(
    ("stored_type", "stored", "fields"), [row[1:] for row in TYPES], ids=[row[0] for row in TYPES]
)
def test_an_entry_has_the_fields_of_its_type(stored_type: str, stored: dict[str, Any], fields: dict[str, Any]) -> None:
    """F-40..F-55, F-02: snake_case names, the stored values."""
    for order in ({"type": stored_type, **BASE, **stored}, {**stored, **BASE, "type": stored_type}):
        entry = decode_entry(line_of(order))
        assert not isinstance(entry, UnknownEntry)
        assert (entry.type, entry.id, entry.parent_id) == (stored_type, BASE["id"], BASE["parentId"])
        assert entry.timestamp == BASE["timestamp"]
        assert {name: getattr(entry, name) for name in fields} == fields
        # What msgspec writes of it is what was stored, but for nulls that were not.
        written = json.loads(msgspec.json.encode(entry))
        assert {key: value for key, value in written.items() if key in order or value is not None} == order


def test_every_type_of_the_format_is_known() -> None:
    """F-40..F-55"""
    assert {row[1] for row in TYPES} == KNOWN_TYPES
    assert len(KNOWN_TYPES) == 16


@pytest.mark.parametrize(("stored_type", "stored"), [row[1:3] for row in TYPES], ids=[row[0] for row in TYPES])
def test_unknown_fields_of_a_known_type_do_no_harm(stored_type: str, stored: dict[str, Any]) -> None:
    """F-56: fields of later versions are passed over."""
    entry = decode_entry(line_of({"type": stored_type, **BASE, **stored, "later": {"x": [1]}, "summarY": 1}))
    assert (type(entry) is UnknownEntry, entry.type) == (False, stored_type)


WRONG = [
    ("message", {}),
    ("message", {"message": "text"}),
    ("message", {"message": {"content": "no role"}}),
    ("message", {"message": {"role": 5}}),
    ("thinking_level_change", {"thinkingLevel": 3}),
    ("model_change", {"model": {"provider": "x"}}),
    ("service_tier_change", {"serviceTier": 1}),
    ("compaction", {"firstKeptEntryId": "x"}),
    ("compaction", {"summary": None}),
    ("compaction", {"summary": "s", "firstKeptEntryId": 4}),
    ("compaction", {"summary": "s", "tokensBefore": "many"}),
    ("branch_summary", {"fromId": "x"}),
    ("custom", {"data": 1}),
    ("custom_message", {"customType": "c"}),
    ("custom_message", {"customType": "c", "content": 5}),
    ("label", {"targetId": ["x"]}),
    ("ttsr_injection", {"injectedRules": "one"}),
    ("ttsr_injection", {"injectedRules": [1]}),
    ("mode_change", {"mode": None}),
    ("session_init", {"tools": "all"}),
    ("title_change", {"title": 1}),
    ("credential_pin", {"hash": 1}),
    ("session_info", {"name": {}}),
]


@pytest.mark.parametrize(("stored_type", "stored"), WRONG)
def test_a_known_type_with_fields_of_the_wrong_kind_is_kept_like_an_unknown_one(
    stored_type: str, stored: dict[str, Any]
) -> None:
    """F-40..F-56 as settled: its node stands, with its line; nothing is folded from it."""
    line = line_of({"type": stored_type, **BASE, **stored})
    entry = decode_entry(line)
    assert isinstance(entry, UnknownEntry)
    assert (entry.type, entry.id, entry.parent_id, entry.line) == (stored_type, BASE["id"], BASE["parentId"], line)
    envelope, fault = decode_envelope(line)
    assert (envelope.type, envelope.id, fault) == (stored_type, BASE["id"], None)
    assert not isinstance(envelope, StateEnvelope)


def test_an_unknown_type_keeps_its_line_byte_for_byte() -> None:
    """F-56: indexed, on paths, re-serialised as it stood."""
    line = (
        b'{ "type":"from_the_future" , "id":"x", "parentId":null, "timestamp":12, "n": 1.50, "s":"\\u00e4\\/", "n":2 }'
    )
    entry = decode_entry(line)
    assert isinstance(entry, UnknownEntry)
    assert (entry.type, entry.id, entry.parent_id, entry.timestamp, entry.line) == (
        "from_the_future",
        "x",
        None,
        12,
        line,
    )


@pytest.mark.parametrize("parent_id", [None, 0, 7.5, True, [], {}, ["a"]])
def test_a_parent_that_is_no_string_is_none(parent_id: object) -> None:
    """T-27: it counts as a root, and is reported where it is not null."""
    line = line_of({"type": "message", **BASE, "parentId": parent_id, "message": {"role": "user"}})
    entry = decode_entry(line)
    assert (type(entry), entry.parent_id) == (entries.MessageEntry, None)
    envelope, fault = decode_envelope(line)
    assert (envelope.parent_id, fault) == (None, None if parent_id is None else "bad-parent")


@pytest.mark.parametrize("timestamp", [True, False, [], {}, None])
def test_a_timestamp_of_the_wrong_kind_is_none(timestamp: object) -> None:
    line = line_of({"type": "label", **BASE, "timestamp": timestamp, "targetId": "x"})
    assert decode_entry(line).timestamp is None
    assert decode_envelope(line)[0].timestamp is None
    assert isinstance(decode_envelope(line)[0], StateEnvelope)


@pytest.mark.parametrize(
    "line", [b"", b"{", b"null", b"[1]", b'"x"', b"{}", b'{"type":"label"}', b'{"id":"x"}', b'{"type":1,"id":"x"}']
)
def test_what_is_no_entry_is_a_value_error(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_entry(line)


def test_lone_surrogates_and_bad_bytes_do_not_cost_the_entry_its_type() -> None:
    """D15: JavaScript writes lone surrogates; other programs write bytes that are no UTF-8."""
    line = b'{"type":"message","id":"x","message":{"role":"user","content":"cut \\ud83d and \xff"}}'
    entry = decode_entry(line)
    assert isinstance(entry, entries.MessageEntry)
    assert entry.message["content"] == "cut \ud83d and \ufffd"


def test_entries_cannot_be_changed() -> None:
    for stored_type, stored in [row[1:3] for row in TYPES]:
        entry = decode_entry(line_of({"type": stored_type, **BASE, **stored}))
        with pytest.raises(AttributeError):
            entry.id = "other"  # type: ignore[misc]
    assert all(member.__struct_config__.frozen for member in (SessionEntry, UnknownEntry))


@given(
    st.sampled_from(sorted(STATE_TYPES)),
    st.dictionaries(
        st.sampled_from(["summary", "thinkingLevel", "model", "targetId", "label", "mode", "injectedRules", "name"]),
        st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text() | st.integers()),
    ),
)
def test_an_envelope_has_state_exactly_when_the_body_is_of_the_right_kind(
    stored_type: str, stored: dict[str, Any]
) -> None:
    """D1: what projections fold whole comes with the envelope."""
    line = line_of({"type": stored_type, **BASE, **stored})
    envelope, _ = decode_envelope(line)
    entry = decode_entry(line)
    assert isinstance(envelope, StateEnvelope) == (type(entry) is not UnknownEntry)
    if isinstance(envelope, StateEnvelope):
        assert envelope.state == entry
