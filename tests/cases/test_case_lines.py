"""Cases 01 to 20: damaged lines and odd bytes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionManager, convert_to_llm, list_sessions

CopyCase = Callable[[str], Path]
Pairs = Callable[[Any], list[list[str]]]
Records = Callable[[Path], list[dict[str, Any]]]


def lines_of(path: str | Path) -> list[bytes]:
    return Path(path).read_bytes().splitlines()


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def test_an_append_never_lands_on_a_torn_last_line(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """F-81: the fragment stays, the new entry stands on a line of its own."""
    path = copy_case("01")
    before = path.read_bytes()
    async with await SessionManager.open(path) as session:
        new = await session.append_message(user("after the cut"))
    after = path.read_bytes()
    assert after.startswith(before + b"\n")
    line = json.loads(after[len(before) + 1 :])
    assert (line["id"], line["parentId"]) == (new, "a1")
    async with await SessionManager.open(path) as session:
        assert list(session.path_ids()) == ["u1", "a1", new]
        assert session.report.skipped_lines == [4]
        assert context_pairs(await session.build_session_context())[2:] == [["user", "after the cut"]]


async def test_a_line_with_two_records_stays_and_the_log_goes_on(copy_case: CopyCase) -> None:
    path = copy_case("02")
    before = path.read_bytes()
    async with await SessionManager.open(path) as session:
        new = await session.append_message(user("on we go"))
        assert session.shape(new).parent_id == "a2"
    assert path.read_bytes().startswith(before)
    async with await SessionManager.open(path) as session:
        assert list(session.path_ids()) == ["a2", new]
        assert [(fault.line, fault.kind) for fault in session.report.faults][:1] == [(3, "malformed")]


async def test_a_line_of_nul_bytes_hides_no_message_from_the_list(copy_case: CopyCase) -> None:
    (info,) = await list_sessions(copy_case("03").parent)
    assert (info.message_count, info.fault) == (4, None)


async def test_bad_bytes_pass_through_a_fork_and_an_append(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """D1, T-61: a kept entry is copied byte for byte, bad bytes too."""
    path = copy_case("04")
    before = path.read_bytes()
    async with await SessionManager.open(path) as session:
        fork = await session.create_branched_session("u2")
        await session.append_message(user("more"))
        pairs = context_pairs(await session.build_session_context())
    assert pairs[1:] == [["assistant", "raw byte � inside"], ["user", "go on"], ["user", "more"]]
    assert path.read_bytes() == before
    assert before.splitlines()[3] in lines_of(str(fork))


async def test_a_session_with_a_byte_order_mark_is_listed_and_continued(copy_case: CopyCase) -> None:
    """F-84, F-92."""
    path = copy_case("05")
    (info,) = await list_sessions(path.parent)
    assert (info.id, info.message_count, info.fault) == ("00000000-0000-4000-8000-000000000005", 2, None)
    async with await SessionManager.continue_recent("/proj/demo", sessions_dir=path.parent) as session:
        assert session.session_id == info.id
        await session.append_message(user("more"))
    assert path.read_bytes().startswith(b'\xef\xbb\xbf{"type":"session"')
    async with await SessionManager.open(path) as session:
        assert (session.entry_count, session.report.faults) == (3, [])


async def test_crlf_line_ends_get_into_no_value(copy_case: CopyCase, context_pairs: Pairs) -> None:
    """F-83."""
    path = copy_case("06")
    async with await SessionManager.open(path) as session:
        assert session.get_label("u1") == "mark"
        new = await session.append_message(user("more"))
    async with await SessionManager.open(path) as session:
        assert session.report.faults == []
        assert list(session.path_ids()) == ["u1", "a1", "l1", new]
        for entry in await session.get_entries():
            assert not entry.id.endswith("\r")
            assert "\r" not in repr(entry)
        assert context_pairs(await session.build_session_context())[-1] == ["user", "more"]


async def test_a_lone_surrogate_survives_and_all_that_is_written_is_utf8(copy_case: CopyCase) -> None:
    """D15: JavaScript writes lone surrogates as escapes; they come back as the same code unit."""
    path = copy_case("08")
    async with await SessionManager.open(path) as session:
        assert session.get_label("a1") == "low \udc00"
        await session.append_message(user("again \ud83d"))
        await session.append_label_change("u1", "z")
        leaf = session.leaf_id
        assert leaf is not None
        fork = Path(str(await session.create_branched_session(leaf)))
    for written in (path, fork):
        written.read_bytes().decode("utf-8")
        async with await SessionManager.open(written) as session:
            assert session.report.faults == []
            texts = [message["content"] for message in (await session.build_session_context()).messages]
            assert texts[1][0]["text"] == "cut \ud83d here"
            assert texts[2] == "again \ud83d"
            assert session.get_label("u1") == "z"
            assert session.get_label("a1") == "low \udc00"


async def test_a_text_for_a_model_is_utf8_even_where_the_file_is_not(copy_case: CopyCase) -> None:
    for number in ("04", "08"):
        async with await SessionManager.open(copy_case(number)) as session:
            messages = convert_to_llm((await session.build_session_context()).messages)
            json.dumps(messages, ensure_ascii=False).encode("utf-8")


async def test_lines_that_are_no_objects_are_not_counted_as_messages(copy_case: CopyCase) -> None:
    """F-85: each is reported with what it is; the `null` at the end never becomes the leaf."""
    path = copy_case("16")
    (info,) = await list_sessions(path.parent)
    assert (info.message_count, info.fault) == (2, None)
    async with await SessionManager.open(path) as session:
        kinds = {fault.line: fault.kind for fault in session.report.faults}
    assert kinds == {**dict.fromkeys([3, 4, 5, 6, 7, 10], "not-object"), 8: "no-id"}


async def test_a_fork_keeps_unknown_types_and_unknown_fields(copy_case: CopyCase, records: Records) -> None:
    """F-56, T-61."""
    path = copy_case("18")
    lines = lines_of(path)
    async with await SessionManager.open(path) as session:
        fork = Path(str(await session.create_branched_session("u2")))
    assert lines_of(fork)[1:] == lines[1:]
    by_id = {record["id"]: record for record in records(fork)}
    assert by_id["x1"]["extra"] == {"z": 1, "a": [True, None]}
    assert (by_id["x1"]["op"], by_id["x1"]["weight"], by_id["u1"]["acmeNote"]) == ("begin", 1.5, "keep")
    async with await SessionManager.open(fork) as session:
        assert list(session.path_ids()) == ["u1", "x1", "a1", "x2", "u2"]


async def test_looking_at_a_session_changes_neither_its_bytes_nor_its_age(copy_case: CopyCase) -> None:
    """F-105, D5: no lock file, no cache, no touch."""
    path = copy_case("19")
    os.utime(path, (1_767_000_000, 1_767_000_000))
    before = path.read_bytes(), path.stat().st_mtime_ns
    async with await SessionManager.open(path) as session:
        await session.get_entries()
        await session.get_tree()
        await session.build_session_context()
        assert dict(session.labels) == {}
        await list_sessions(path.parent)
        assert list(path.parent.iterdir()) == [path]
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert list(path.parent.iterdir()) == [path]


async def test_nan_is_written_as_null(copy_case: CopyCase) -> None:
    """D15: what is written is JSON for every reader; the line with NaN that was there stays."""
    path = copy_case("20")
    before = path.read_bytes()
    async with await SessionManager.open(path) as session:
        new = await session.append_custom_entry("acme.metric", {"score": float("nan"), "worst": float("-inf")})
        entry: Any = await session.get_entry(new)
        assert entry.data == {"score": None, "worst": None}
    after = path.read_bytes()
    assert after.startswith(before)
    lines = after.splitlines()
    assert len(lines) == 6
    for line in lines[:3] + lines[4:]:
        json.loads(line, parse_constant=pytest.fail)
    async with await SessionManager.open(path) as session:
        assert (await session.get_entry(new)) == entry


NESTED = {
    "a custom entry": '{"type":"custom","id":"c1","parentId":"a1","customType":"x","data":@}',
    "a mode": '{"type":"mode_change","id":"c1","parentId":"a1","mode":"plan","data":@}',
    "a tool result": '{"type":"message","id":"c1","parentId":"a1","message":{"role":"toolResult","details":@}}',
    "a type that nobody knows": '{"type":"x","id":"c1","parentId":"a1","data":@}',
}


@pytest.mark.parametrize("name", NESTED)
async def test_deep_nesting_in_one_line_takes_no_other_line_with_it(name: str, copy_case: CopyCase) -> None:
    """D15: at which depth the interpreter gives up differs from call to call; no call raises for it."""
    path = copy_case("20")
    lines = lines_of(path)
    for depth in (100, *range(850, 1010, 3), 5000, 200_000):
        lines[3] = NESTED[name].replace("@", "[" * depth + "]" * depth).encode()
        path.write_bytes(b"\n".join([*lines, b""]))
        async with await SessionManager.open(path) as session:
            assert len(await session.get_entries()) == session.entry_count
            assert (await session.build_session_context()).messages[-1]["content"] == "next"
            kept = not session.report.skipped_lines
            assert list(session.path_ids()) == (["u1", "a1", "c1", "u2"] if kept else ["u2"])
            fork = await session.create_branched_session("u2")
        assert len(lines_of(str(fork))) == (5 if kept else 2)


async def test_deep_nesting_in_a_line_of_version_1_takes_no_other_line_with_it(copy_case: CopyCase) -> None:
    """D15, F-101, F-103."""
    path = copy_case("27")
    lines = lines_of(path)
    for depth in (100, *range(850, 1010, 3), 5000, 200_000):
        nested = "[" * depth + "]" * depth
        lines[6] = f'{{"type":"message","message":{{"role":"hookMessage","content":"","details":{nested}}}}}'.encode()
        path.write_bytes(b"\n".join([*lines, b""]))
        async with await SessionManager.open(path) as session:
            assert session.entry_count == 7 - len(session.report.skipped_lines)
            assert (await session.build_session_context()).messages[-1]["content"] == "five"
            await session.append_message(user("six"))
        async with await SessionManager.open(path) as session:
            assert session.entry_count == 8 - len(session.report.skipped_lines)
            assert (await session.build_session_context()).messages[-1]["content"] == "six"
