"""Loading a file: what is an entry, what is a fault, and that the file stays as it is."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.errors import SessionFileError
from sessiontree.eventstore.jsonl_store import JsonlEventStore
from sessiontree.eventstore.report import Fault, Report

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
SessionFile = Callable[..., Path]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]


async def test_the_first_record_is_the_header_and_all_others_are_entries(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """F-02, F-10, X-44: in file order, with their parents."""
    store = await open_store(session_file(entry_line("a"), entry_line("b", "a"), entry_line("c", "a")))
    envelopes = await read_all(store)
    assert [(envelope.id, envelope.parent_id) for envelope in envelopes] == [("a", None), ("b", "a"), ("c", "a")]
    assert (store.header.id, store.faults) == ("01990000-0000-7000-8000-000000000001", [])


async def test_damaged_lines_are_skipped_reported_and_left_in_the_file(
    session_file: SessionFile, header_line: Line, entry_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """F-81, F-83, F-85, F-86, X-44, D7: the lines before and after each are kept."""
    lines = [
        entry_line("a"),
        b'{"type":"message","id":"torn',
        entry_line("b", "a") + b"\r",
        b"",
        b"   \r",
        b"null",
        b'["x"]',
        b"7",
        b'"text"',
        entry_line("c", "b"),
        header_line(id="second"),
        b'{"type":"message","message":{"role":"user"}}',
        b'{"id":"x","message":{"role":"user"}}',
        b'{"type":5,"id":"x"}',
        b'{"type":"label","id":7}',
        entry_line("d", "c") + entry_line("e", "d"),
        entry_line("f", "c"),
    ]
    path = session_file(*lines)
    before = path.read_bytes(), path.stat().st_mtime_ns
    store = await open_store(path)
    assert [envelope.id for envelope in await read_all(store)] == ["a", "b", "c", "f"]
    assert [store.line_number(seq) for seq in (1, 2, 3, 4)] == [2, 4, 11, 18]
    report = Report(store.faults)
    assert [(fault.line, fault.kind) for fault in report.faults] == [
        (3, "malformed"),
        *((line, "not-object") for line in (7, 8, 9, 10)),
        (12, "second-header"),
        *((line, "no-id") for line in (13, 14, 15, 16)),
        (17, "malformed"),
    ]
    assert report.skipped_lines == [3, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17]
    await store.append([entry_line("g", "f")])
    await store.close()
    assert path.read_bytes() == before[0] + entry_line("g", "f") + b"\n"


async def test_entries_of_the_same_id_keep_their_lines(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """F-87: the log has both; which of them stands is the projections' to say."""
    lines = [entry_line("a", text="first"), entry_line("a", text="second")]
    store = await open_store(session_file(*lines))
    assert [envelope.id for envelope in await read_all(store)] == ["a", "a"]
    assert await store.read_lines([2, 1]) == lines[::-1]


async def test_a_parent_that_is_no_string_is_reported_with_its_entry(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """F-81..F-87: `bad-parent`; null is none."""
    lines = [
        entry_line("a"),
        entry_line("b", 5),
        entry_line("c", ["a"]),
        b'{"type":"custom","id":"d","customType":"x"}',
    ]
    store = await open_store(session_file(*lines))
    assert [envelope.parent_id for envelope in await read_all(store)] == [None] * 4
    assert [(fault.line, fault.kind, fault.id) for fault in store.faults] == [
        (3, "bad-parent", "b"),
        (4, "bad-parent", "c"),
    ]


async def test_opening_a_session_reads_its_header_only(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """D2: entries become known by reading."""
    store = await open_store(session_file(entry_line("a"), b"{torn"))
    assert (store.version, store.faults) == (0, [])
    assert await store.check() is True
    await read_all(store)
    assert (store.version, len(store.faults)) == (1, 1)


@pytest.mark.parametrize("tail", [b"", b"{torn", b'{"type":"label","id":"z"}'])
async def test_a_crash_after_an_append_keeps_what_was_appended(
    session_file: SessionFile, entry_line: Line, open_store: OpenStore, read_all: ReadAll, tail: bytes
) -> None:
    """F-114, X-53, X-54: each entry is in the file when the call returns; a copy made then can be opened."""
    path = session_file(entry_line("a"))
    store = await open_store(path)
    for number in range(3):
        await store.append([entry_line(f"b{number}", "a")])
        copy = path.with_name(f"copy{number}.jsonl")
        copy.write_bytes(path.read_bytes() + tail)
        ids = [envelope.id for envelope in await read_all(await open_store(copy))]
        assert ids[: number + 2] == ["a", *(f"b{earlier}" for earlier in range(number + 1))]


def test_a_report_sums_up_its_faults() -> None:
    """F-81..F-87, T-27: orphans in order, each duplicate once."""
    faults = [
        Fault(2, "malformed", None, ""),
        Fault(3, "orphan", "o1", ""),
        Fault(4, "duplicate-id", "d", ""),
        Fault(5, "duplicate-id", "d", ""),
        Fault(6, "no-id", None, ""),
        Fault(7, "orphan", "o2", ""),
        Fault(8, "bad-timestamp", "t", ""),
        Fault(9, "second-header", None, ""),
    ]
    report = Report(faults)
    assert (report.skipped_lines, report.orphans, report.duplicates) == ([2, 6, 9], ["o1", "o2"], ["d"])
    assert Report([]).skipped_lines == []


async def test_a_file_without_read_permission_is_an_error_of_ours(
    session_file: SessionFile, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D14"""
    path = session_file()

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(SessionFileError, match="Permission denied") as caught:
            await open_store(path)
    assert caught.value.path == path
