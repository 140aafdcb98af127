"""The header: its fields, its version, and the file name that it gives."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore.errors import NotASessionError, UnsupportedVersionError
from sessiontree.eventstore.header import encode_header, find_header, make_header, session_file_name
from sessiontree.eventstore.jsonl_store import JsonlEventStore

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Any]]]


def test_a_new_header_has_its_fields_in_order_and_no_nulls() -> None:
    """F-05, F-06, F-10: nothing undefined is written, and no `parentId`."""
    header = make_header("s", "2026-02-16T10:20:30.000Z", "/proj")
    assert encode_header(header) == (
        b'{"type":"session","version":3,"id":"s","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/proj"}'
    )
    header = make_header(
        "s", "t", "/proj", parent_session="p", title="n", title_source="user", additional_directories=["/a"]
    )
    assert list(json.loads(encode_header(header))) == [
        "type",
        "version",
        "id",
        "timestamp",
        "cwd",
        "parentSession",
        "title",
        "titleSource",
        "additionalDirectories",
    ]


def test_a_header_keeps_every_field_of_its_line(header_line: Line) -> None:
    """F-10, F-91: known ones by name, the rest in `fields`; the recorded cwd, whether it exists or not."""
    line = header_line(
        parentSession="/old.jsonl",
        title="t",
        titleSource="auto",
        additionalDirectories=["/x"],
        previousSessionFiles=["/y"],
        providerPromptCacheKey="k",
        provider="legacy",
        cwd="/does/not/exist",
    )
    header = find_header(line + b"\n", "x", whole_file=True).header
    assert (header.id, header.version, header.cwd) == ("01990000-0000-7000-8000-000000000001", 3, "/does/not/exist")
    assert (header.parent_session, header.title, header.title_source) == ("/old.jsonl", "t", "auto")
    assert header.additional_directories == ["/x"]
    assert header.fields == json.loads(line)
    assert json.loads(encode_header(header)) == json.loads(line)


@pytest.mark.parametrize(
    "field", ["timestamp", "cwd", "parentSession", "title", "titleSource", "additionalDirectories"]
)
@pytest.mark.parametrize("value", [None, 5, {}, [1], True])
def test_header_fields_of_the_wrong_kind_are_none(header_line: Line, field: str, value: object) -> None:
    """F-02: only `type` and `id` make a header."""
    line = header_line()[:-1] + f',"{field}":{json.dumps(value)}}}'.encode()
    header = find_header(line, "x", whole_file=True).header
    names = {
        "parentSession": "parent_session",
        "titleSource": "title_source",
        "additionalDirectories": "additional_directories",
    }
    assert getattr(header, names.get(field, field)) is None


@pytest.mark.parametrize("session_id", ["", "V1StGXR8_Z5jdHi6B-myT", "My Session", "5"])
def test_a_session_id_of_any_shape_is_kept(header_line: Line, session_id: str) -> None:
    """F-20"""
    assert find_header(header_line(id=session_id), "x", whole_file=True).header.id == session_id


# Versions


@pytest.mark.parametrize(
    ("version", "read_as"),
    [("absent", 1), ("1", 1), ("2", 2), ("3", 3), ("3.0", 3), ("4", 4), ("1e3", 1000), ("9" * 30, int("9" * 30))],
)
def test_a_version_is_a_whole_number_and_1_where_it_is_missing(header_line: Line, version: str, read_as: int) -> None:
    """F-100"""
    line = header_line(version=None)
    if version != "absent":
        line = line[:-1] + f',"version":{version}}}'.encode()
    assert find_header(line, "x", whole_file=True).header.version == read_as


@pytest.mark.parametrize(
    "version", ['"3"', "true", "false", "null", "-1", "0", "0.5", "2.5", "[]", "{}", "1e999", "-1e999", "0" * 1 + ".0"]
)
async def test_any_other_version_is_refused(
    session_file: Callable[..., Path], header_line: Line, open_store: OpenStore, version: str
) -> None:
    """F-100 as settled: an error that names the file and the line."""
    path = session_file(header=header_line(version=None)[:-1] + f',"version":{version}}}'.encode())
    with pytest.raises(NotASessionError, match="version") as caught:
        await open_store(path)
    assert (caught.value.path, caught.value.line) == (path, 1)


@pytest.mark.parametrize("digits", [310, 5000])
async def test_a_version_of_any_length_is_no_crash(
    session_file: Callable[..., Path], header_line: Line, open_store: OpenStore, digits: int
) -> None:
    """F-100: a newer version, or none at all."""
    path = session_file(header=header_line(version=None)[:-1] + b',"version":' + b"9" * digits + b"}")
    if digits < 4000:
        assert (await open_store(path)).header.version > 3
    else:
        with pytest.raises(NotASessionError):
            await open_store(path)


async def test_a_newer_version_is_read_and_never_written(
    session_file: Callable[..., Path], header_line: Line, entry_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """F-100 as settled, F-89: readable, refused for writing, never migrated."""
    path = session_file(entry_line("a"), header=header_line(version=4))
    before = path.read_bytes(), path.stat().st_mtime_ns
    store = await open_store(path)
    assert [envelope.id for envelope in await read_all(store)] == ["a"]
    assert (store.header.version, store.file_version) == (4, 4)
    for attempt in (store.acquire, store.migrate, lambda: store.append([entry_line("b")])):
        with pytest.raises(UnsupportedVersionError) as caught:
            await attempt()
        assert (caught.value.path, caught.value.version) == (path, 4)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


# File names


def test_a_file_is_named_by_time_and_id() -> None:
    """F-24"""
    header = make_header("0199-id", "2026-02-16T10:20:30.000Z", "/proj")
    assert session_file_name(header) == "2026-02-16T10-20-30-000Z_0199-id.jsonl"


@pytest.mark.parametrize("session_id", ["a/b", "../x", "a\0b", "/abs"])
def test_an_id_that_leads_elsewhere_names_no_file(session_id: str) -> None:
    """F-24: never out of the sessions directory."""
    with pytest.raises(ValueError, match="file name"):
        session_file_name(make_header(session_id, "2026-02-16T10:20:30.000Z", "/proj"))
