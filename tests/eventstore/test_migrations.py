"""Older versions read as version 3, line by line."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore import migrations
from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.jsonl_store import JsonlEventStore
from sessiontree.eventstore.migrations import Migration, derive_entry_id, migrate_header

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
SessionFile = Callable[..., Path]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]

DATA = Path(__file__).parent / "data"
GOLDEN = ["version-1", "version-2"]


def is_entry(line: bytes) -> bool:
    try:
        return bool(json.loads(line)["type"] != "session")
    except ValueError:
        return False


@pytest.mark.parametrize("name", GOLDEN)
async def test_a_file_of_an_older_version_is_read_as_version_3(
    name: str, open_store: OpenStore, read_all: ReadAll, tmp_path: Path
) -> None:
    """F-100..F-104, X-39, X-40: line by line what `as-3` holds, and the file stays as it was."""
    path = tmp_path / "session.jsonl"
    path.write_bytes((DATA / f"{name}.jsonl").read_bytes())
    expected = (DATA / f"{name}.as-3.jsonl").read_bytes().split(b"\n")
    store = await open_store(path)
    envelopes = await read_all(store)
    entries = [line for line in expected if is_entry(line)]
    assert await store.read_lines(range(1, store.version + 1)) == entries
    assert [(envelope.id, envelope.parent_id) for envelope in envelopes] == [
        (entry["id"], entry["parentId"]) for entry in map(json.loads, entries)
    ]
    assert (store.header.version, store.header.fields["version"]) == (3, 3)
    assert store.file_version == int(name[-1])
    assert [expected[store.line_number(seq) - 1] for seq in range(1, store.version + 1)] == entries
    assert [fault.kind for fault in store.faults] == ["malformed"]
    await store.flush()
    await store.close()
    assert path.read_bytes() == (DATA / f"{name}.jsonl").read_bytes()


@pytest.mark.parametrize("name", GOLDEN)
async def test_what_was_migrated_needs_no_migration(name: str, open_store: OpenStore, read_all: ReadAll) -> None:
    """F-104: the result is version 3, and once more changes nothing."""
    store = await open_store(DATA / f"{name}.as-3.jsonl")
    before = (DATA / f"{name}.as-3.jsonl").read_bytes()
    await read_all(store)
    assert (store.file_version, await store.migrate()) == (3, False)
    assert await store.read_lines(range(1, store.version + 1)) == [
        line for line in before.split(b"\n") if is_entry(line)
    ]


async def test_version_1_becomes_one_chain_with_new_ids(
    session_file: SessionFile, header_line: Line, entry_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """F-101, X-39: ids and parents that stood there are overwritten."""
    lines = [entry_line("same", "nobody"), entry_line("same", "same"), b'{"type":"label","targetId":"same"}']
    path = session_file(*lines, header=header_line(version=1))
    envelopes = await read_all(await open_store(path))
    ids = [envelope.id for envelope in envelopes]
    assert [envelope.parent_id for envelope in envelopes] == [None, *ids[:-1]]
    assert len(set(ids)) == 3
    assert all(re.fullmatch("[0-9a-f]{8}", entry_id) for entry_id in ids)
    assert [envelope.id for envelope in await read_all(await open_store(path))] == ids


async def test_ids_depend_on_position_among_the_records_and_on_bytes_only(
    session_file: SessionFile, header_line: Line, entry_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """F-101 as settled: blank and unparseable lines do not count, nor does the file's name or header."""
    lines = [entry_line("a"), entry_line("b"), entry_line("a")]
    odd = [b"", b"{torn", lines[0], b"\x00\x00", lines[1], b"  ", lines[2]]
    plain = session_file(*lines, header=header_line(version=None))
    other = session_file(*odd, header=header_line(version=1, id="other"), name="other.jsonl")
    first, second = [await read_all(await open_store(path)) for path in (plain, other)]
    assert [envelope.id for envelope in first] == [envelope.id for envelope in second]
    assert len({envelope.id for envelope in first}) == 3


async def test_an_id_that_collides_is_derived_anew(
    session_file: SessionFile,
    header_line: Line,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """F-22, F-101: unique, and the same at every open."""
    monkeypatch.setattr(migrations, "derive_entry_id", lambda _position, _line, attempt: f"{attempt // 2:08x}")
    path = session_file(*(entry_line(str(number)) for number in range(5)), header=header_line(version=1))
    expected = [f"{number:08x}" for number in range(5)]
    for _ in range(2):
        store = await open_store(path)
        assert [envelope.id for envelope in await read_all(store)] == expected
        assert [json.loads(line)["id"] for line in await store.read_lines([4, 2])] == ["00000003", "00000001"]


def test_each_attempt_at_an_id_is_another() -> None:
    """F-22"""
    assert len({derive_entry_id(1, b"line", attempt) for attempt in range(50)}) == 50
    assert derive_entry_id(1, b"line", 0) == derive_entry_id(1, b"line", 0)


# Index anchors: header 0, `a` 1, `b` 2, a second header 3, the compaction itself 4, `c` 5.


@pytest.mark.parametrize(
    ("index", "kept"),
    [
        ("1", "a"),
        ("2", "b"),
        ("2.0", "b"),
        ("4", "itself"),
        ("0", None),
        ("3", None),
        ("5", None),
        ("6", None),
        ("99999999999", None),
        ("-1", None),
        ("1.5", None),
        ("true", None),
        ("null", None),
        ('"1"', None),
        ("[1]", None),
        ("{}", None),
        ("1e999", None),
        ("-1e999", None),
        pytest.param("9" * 400, None, id="400 digits"),
        pytest.param("9" * 5000, None, id="5000 digits"),
    ],
)
@pytest.mark.parametrize("old_anchor", [None, "was-there"])
async def test_an_index_anchor_becomes_an_id_anchor(
    session_file: SessionFile,
    header_line: Line,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    index: str,
    kept: str | None,
    old_anchor: str | None,
) -> None:
    """F-102: records are counted, the header is 0, blank and damaged lines are not; the index goes in every case."""
    compaction = b'{"type":"compaction","summary":"s","firstKeptEntryIndex":%s,"tokensBefore":1}' % index.encode()
    if old_anchor is not None:
        compaction = compaction[:-1] + b',"firstKeptEntryId":"was-there"}'
    lines = [entry_line("a"), b"", b"{torn", entry_line("b"), header_line(id="second"), compaction, entry_line("c")]
    store = await open_store(session_file(*lines, header=header_line(version=1)))
    ids = dict(zip(["a", "b", "itself", "c"], [envelope.id for envelope in await read_all(store)], strict=True))
    [line] = await store.read_lines([3])
    fields = json.loads(line)
    assert "firstKeptEntryIndex" not in fields
    assert fields.get("firstKeptEntryId") == (ids[kept] if kept is not None else old_anchor)
    assert (fields["summary"], fields["tokensBefore"]) == ("s", 1)


def test_an_index_of_another_type_of_entry_is_not_touched() -> None:
    """F-102: compactions only."""
    line = b'{"type":"custom","customType":"x","firstKeptEntryIndex":1}'
    assert json.loads(Migration(1).admit(line))["firstKeptEntryIndex"] == 1


# The role `hookMessage`


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("message", "role"),
    [
        ('{"role":"hookMessage","content":"x"}', "custom"),
        ('{"content":"hookMessage" , "role" : "hookMessage" }', "custom"),
        ('{"role":"user","content":"hookMessage"}', "user"),
        ('{"role":"user","x":{"role":"hookMessage"}}', "user"),
        ('{"role":["hookMessage"]}', ["hookMessage"]),
    ],
)
def test_the_role_hook_message_is_called_custom(version: int, message: str, role: object) -> None:
    """F-103"""
    line = f'{{"type":"message","id":"a","parentId":null,"message":{message}}}'.encode()
    migrated = Migration(version).admit(line)
    assert json.loads(migrated)["message"]["role"] == role
    if version == 2:
        where_it_stood = line.rfind(b'"hookMessage"') if role == "custom" else 0
        assert len(line) - len(migrated) == (5 if role == "custom" else 0)
        assert migrated[:where_it_stood] == line[:where_it_stood]


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"custom","id":"a","message":{"role":"hookMessage"}}',
        b'{"type":"message","id":"a","message":"hookMessage"}',
        b'{"type":"message","id":"a","message":["hookMessage"]}',
        b'{"type":"message","id":"a","message":{"role":"hookMessage","content":"to',
        b'{"type":"message","id":"a","message":{"role":"hookMessage"}',
        b'"hookMessage"',
        b'["hookMessage"]',
        b"hookMessage",
        b'{"hookMessage"',
        b'{"type":"compaction","id":"a","summary":"hookMessage","fromHook":true}',
        b'{"type":"message","id":"a","message":{"role":"hookMessage"},"x":' + b"[" * 100_000,
    ],
    ids=lambda line: str(line[:40]),
)
def test_nothing_else_changes_from_version_2_to_3(line: bytes) -> None:
    """F-103, D7: torn lines and lookalikes stay byte for byte."""
    assert Migration(2).admit(line) == line


# Odd lines


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    "odd",
    [
        b"{torn hookMessage",
        b"null",
        b"[1]",
        b'{"id":"no-type"}',
        b'{"type":7,"id":"x"}',
        b'{"type":"session","id":"second","version":1}',
        b'{"type":"x","id":"x","huge":' + b"9" * 5000 + b"}",
        b'{"type":"x","id":"x","text":"\\ud83d \xff"}',
        b'{"type":"x","id":"x","deep":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=lambda odd: str(odd)[:40],
)
async def test_an_odd_line_in_an_older_file_harms_no_other(
    session_file: SessionFile,
    header_line: Line,
    entry_line: Line,
    open_store: OpenStore,
    read_all: ReadAll,
    version: int,
    odd: Any,
) -> None:
    """F-81, F-85, F-86, D15"""
    lines = [entry_line("a"), odd, entry_line("b", "a")]
    path = session_file(*lines, header=header_line(version=version))
    store = await open_store(path)
    envelopes = await read_all(store)
    assert [envelope.message.role for envelope in envelopes if envelope.message is not None] == ["user", "user"]
    assert len(await store.read_lines(range(1, store.version + 1))) == len(envelopes) == 3 - len(store.faults)


def test_no_depth_of_nesting_stops_a_migration() -> None:
    """D15: what is too deep to be changed is a damaged line; the entries around it keep their places."""

    def check() -> None:
        for depth in (*range(950, 1010), 100_000):
            migration = Migration(1)
            lines = [b'{"type":"x","deep":%s}' % (b"[" * levels + b"]" * levels) for levels in (1, depth, 2)]
            first, deep, last = [migration.admit(line) for line in lines]
            parent = json.loads(deep)["id"] if deep.endswith(b'"}') else json.loads(first)["id"]
            assert json.loads(last)["parentId"] == parent
            assert migration.line(3 if deep.endswith(b'"}') else 2, lines[2]) == last

    with ThreadPoolExecutor(1) as thread:
        thread.submit(check).result()


@pytest.mark.parametrize(
    ("line", "migrated"),
    [
        (b'{"type":"session","id":"s"}', b'{"type":"session","id":"s","version":3}'),
        (b'{ "type":"session", "version" : 2, "id":"s" }\r', b'{ "type":"session", "version" : 3, "id":"s" }\r'),
    ],
)
def test_a_header_gets_its_version_and_keeps_every_other_byte(line: bytes, migrated: bytes) -> None:
    """F-101, F-103"""
    assert migrate_header(line) == migrated
