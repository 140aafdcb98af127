"""The lines that appends write: names on disk, order of keys, what is left out (F-05, F-06, F-40..F-55)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionManager

Make = Callable[..., Awaitable[SessionManager]]
Records = Callable[[SessionManager], list[dict[str, Any]]]
Payload = Callable[[], dict[str, Any]]

PLACE = ("id", "parentId", "timestamp")


@pytest.fixture
async def file_session(make_file: Make) -> SessionManager:
    """A session with two messages, `m1` and `m2`."""
    session = await make_file(clock=lambda: 1_770_000_000.5)
    await session.append_message({"role": "user", "content": "1"}, entry_id="m1")
    await session.append_message({"role": "user", "content": "2"}, entry_id="m2")
    return session


@pytest.fixture
def payload(file_session: SessionManager, records: Records) -> Payload:
    """Returns the fields of the last line without its place in the tree, which is checked here."""

    def read() -> dict[str, Any]:
        *_, parent, last = records(file_session)
        assert (last["id"], last["parentId"]) == (file_session.leaf_id, parent["id"])
        assert last["timestamp"] == "2026-02-02T02:40:00.500Z"
        return {key: value for key, value in last.items() if key not in PLACE}

    return read


async def test_a_line_is_compact_json_in_the_order_of_the_format(file_session: SessionManager) -> None:
    """F-01, F-06, F-23, F-40."""
    assert file_session.session_file is not None
    lines = Path(file_session.session_file).read_bytes().splitlines(keepends=True)
    assert lines[1] == (
        b'{"type":"message","id":"m1","parentId":null,"timestamp":"2026-02-02T02:40:00.500Z",'
        b'"message":{"role":"user","content":"1"}}\n'
    )


async def test_the_payload_of_custom_entries_comes_first(file_session: SessionManager, records: Records) -> None:
    """F-06: of `custom` and `custom_message`, and of no other type."""
    await file_session.append_custom_entry("note", {"key": 1})
    await file_session.append_custom_message_entry("note", "text", True, {"key": 1})
    await file_session.append_label_change("m1", "mark")
    *_, custom, custom_message, label = records(file_session)
    assert list(custom) == ["type", "customType", "data", *PLACE]
    assert list(custom_message) == ["type", "customType", "content", "display", "details", *PLACE]
    assert list(label) == ["type", *PLACE, "targetId", "label"]


async def test_every_other_type_names_its_place_first(file_session: SessionManager, records: Records) -> None:
    """F-06."""
    await file_session.append_thinking_level_change("high")
    await file_session.append_model_change("acme/m-1")
    await file_session.append_mode_change("plan")
    await file_session.append_ttsr_injection(["rule"])
    await file_session.append_service_tier_change(None)
    await file_session.append_compaction("so far", "m1", 1)
    await file_session.branch_with_summary("m1", "left")
    await file_session.set_session_name("name")
    for line in records(file_session)[1:]:
        assert list(line)[:4] == ["type", *PLACE], line["type"]


async def test_a_thinking_level_may_be_null_and_says_what_was_configured(
    file_session: SessionManager, payload: Payload
) -> None:
    """F-05, F-41."""
    await file_session.append_thinking_level_change("high")
    assert payload() == {"type": "thinking_level_change", "thinkingLevel": "high"}
    await file_session.append_thinking_level_change(None)
    assert payload() == {"type": "thinking_level_change", "thinkingLevel": None}
    await file_session.append_thinking_level_change("low", "high")
    assert payload() == {"type": "thinking_level_change", "thinkingLevel": "low", "configured": "high"}


@pytest.mark.parametrize(
    ("model", "role", "written"),
    [
        ("acme/m-1", None, {"model": "acme/m-1", "provider": "acme", "modelId": "m-1"}),
        (
            "acme/m/1",
            "default",
            {"model": "acme/m/1", "role": "default", "provider": "acme", "modelId": "m/1"},
        ),
        ("acme/m-1", "smol", {"model": "acme/m-1", "role": "smol"}),
        ("m-1", None, {"model": "m-1"}),
        ("acme/", None, {"model": "acme/"}),
        ("", None, {"model": ""}),
    ],
)
async def test_a_default_model_is_written_in_both_spellings(
    file_session: SessionManager, payload: Payload, model: str, role: str | None, written: dict[str, str]
) -> None:
    """F-42 as settled: not for other roles, since pi would take any as its main model."""
    await file_session.append_model_change(model, role)
    assert payload() == {"type": "model_change", **written}


async def test_a_service_tier_is_a_map_a_legacy_string_or_null(file_session: SessionManager, payload: Payload) -> None:
    """F-05, F-43."""
    for tier in ({"openai": "flex"}, "priority", None):
        await file_session.append_service_tier_change(tier)
        assert payload() == {"type": "service_tier_change", "serviceTier": tier}


async def test_a_compaction_leaves_out_what_was_not_given(file_session: SessionManager, payload: Payload) -> None:
    """F-05, F-44."""
    await file_session.append_compaction("so far", "m1", 1200)
    bare = {"type": "compaction", "summary": "so far", "firstKeptEntryId": "m1", "tokensBefore": 1200}
    assert payload() == bare
    await file_session.append_compaction("so far", "m2", 0.5, {"readFiles": []}, True, "short", {"key": None})
    assert payload() == {
        **bare,
        "firstKeptEntryId": "m2",
        "tokensBefore": 0.5,
        "details": {"readFiles": []},
        "fromExtension": True,
        "fromHook": True,
        "shortSummary": "short",
        "preserveData": {"key": None},
    }


@pytest.mark.parametrize("flag", [True, False])
async def test_who_wrote_a_summary_is_said_in_both_spellings(
    file_session: SessionManager, payload: Payload, flag: bool
) -> None:
    """F-44, F-45 as settled, T-43: false is written as false."""
    await file_session.append_compaction("so far", "m1", 1, from_extension=flag)
    assert (payload()["fromExtension"], payload()["fromHook"]) == (flag, flag)
    leaf = file_session.leaf_id
    await file_session.branch_with_summary(leaf, "left", from_extension=flag)
    assert (payload()["fromExtension"], payload()["fromHook"]) == (flag, flag)
    compaction: Any = await file_session.get_entry(str(leaf))
    summary: Any = await file_session.get_entry(str(file_session.leaf_id))
    assert (compaction.from_extension, summary.from_extension) == (flag, flag)


async def test_a_branch_summary_names_the_new_position(file_session: SessionManager, records: Records) -> None:
    """F-45, T-42, T-43."""
    await file_session.branch_with_summary("m1", "left", {"readFiles": ["a"]})
    line = records(file_session)[-1]
    assert {key: value for key, value in line.items() if key not in ("id", "timestamp")} == {
        "type": "branch_summary",
        "parentId": "m1",
        "fromId": "m1",
        "summary": "left",
        "details": {"readFiles": ["a"]},
    }
    await file_session.branch_with_summary(None, "")
    line = records(file_session)[-1]
    assert (line["parentId"], line["fromId"], line["summary"]) == (None, "root", "")


@pytest.mark.parametrize(
    ("data", "written"), [(None, {}), ({}, {"data": {}}), ([1], {"data": [1]}), (0, {"data": 0}), ("", {"data": ""})]
)
async def test_a_custom_entry_carries_data_of_any_kind(
    file_session: SessionManager, payload: Payload, data: Any, written: dict[str, Any]
) -> None:
    """F-05, F-46."""
    await file_session.append_custom_entry("note", data)
    assert payload() == {"type": "custom", "customType": "note", **written}


async def test_a_custom_message_says_whether_it_is_displayed(file_session: SessionManager, payload: Payload) -> None:
    """F-47."""
    await file_session.append_custom_message_entry("note", "text", False)
    assert payload() == {"type": "custom_message", "customType": "note", "content": "text", "display": False}
    blocks = [{"type": "text", "text": "a"}]
    await file_session.append_custom_message_entry("note", blocks, True, {"key": 1})
    assert (payload()["content"], payload()["details"]) == (blocks, {"key": 1})


@pytest.mark.parametrize(("text", "written"), [("mark", {"label": "mark"}), (None, {}), ("", {"label": ""})])
async def test_a_label_entry_without_text_clears(
    file_session: SessionManager, payload: Payload, text: str | None, written: dict[str, str]
) -> None:
    """F-05, F-48, T-50."""
    await file_session.append_label_change("m1", text)
    assert payload() == {"type": "label", "targetId": "m1", **written}


async def test_injected_rules_and_modes_are_written_as_given(file_session: SessionManager, payload: Payload) -> None:
    """F-49, F-50."""
    await file_session.append_ttsr_injection(("b", "a", "b"))
    assert payload() == {"type": "ttsr_injection", "injectedRules": ["b", "a", "b"]}
    await file_session.append_mode_change("plan")
    assert payload() == {"type": "mode_change", "mode": "plan"}
    await file_session.append_mode_change("none", {"file": "x"})
    assert payload() == {"type": "mode_change", "mode": "none", "data": {"file": "x"}}


async def test_a_session_name_is_written_trimmed(file_session: SessionManager, payload: Payload) -> None:
    """F-55."""
    await file_session.set_session_name("  two words \n")
    assert payload() == {"type": "session_info", "name": "two words"}


async def test_a_line_holds_no_other_null_than_those_of_the_format(file_session: SessionManager) -> None:
    """F-05: no optional field is written as null."""
    await file_session.append_mode_change("plan", None)
    await file_session.append_custom_entry("note", None)
    await file_session.branch_with_summary(None, "left", None, None)
    assert file_session.session_file is not None
    for line in Path(file_session.session_file).read_bytes().splitlines():
        assert [key for key, value in json.loads(line).items() if value is None] in ([], ["parentId"])
