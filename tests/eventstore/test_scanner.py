"""Reading lines: by chunk or by line, with any chunk boundary, always what a plain reader of each line finds."""

from __future__ import annotations

import asyncio
import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessiontree.eventstore import jsonl_reader, scanner
from sessiontree.eventstore.entries import KNOWN_TYPES, decode_entry
from sessiontree.eventstore.envelope import Envelope, StateEnvelope, UsageEnvelope
from sessiontree.eventstore.header import make_header
from sessiontree.eventstore.jsonl_store import JsonlEventStore

HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/proj"}\n'


class Found(NamedTuple):
    """What a reader makes of some lines: entries with line, place and bytes; faults as (line, kind, id)."""

    entries: list[tuple[int, int, bytes, tuple[object, ...]]]
    faults: list[tuple[int, str, str | None]]


# The plain reader: one `json.loads` for each line.


def refuse(constant: str) -> None:
    raise ValueError(constant)


def loads(line: bytes) -> Any:
    def number(digits: str) -> int | float:
        return int(digits) if len(digits) < 4000 else float(digits)

    return json.loads(line.decode("utf-8", "replace"), parse_constant=refuse, parse_int=number)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def plain_message(message: Any) -> tuple[object, ...] | None:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return None
    details = message.get("details")
    spent = plain_usage(details.get("usage")) if isinstance(details, dict) else None
    names = [text(message.get(key)) for key in ("provider", "model", "toolName")]
    return message["role"], names, plain_usage(message.get("usage")), spent


def plain_usage(usage: Any) -> list[object] | None:
    if not isinstance(usage, dict):
        return None
    return [usage.get(key) if is_number(usage.get(key)) else 0 for key in ("input", "output", "cacheRead")]


def plain_scan(data: bytes, offset: int = 0, first_line: int = 1) -> Found:
    found = Found([], [])
    for number, line in enumerate(data.split(b"\n"), first_line):
        start, offset = offset, offset + len(line) + 1
        if not line.strip():
            continue
        try:
            value = loads(line)
        except (ValueError, RecursionError):
            found.faults.append((number, "malformed", None))
            continue
        if not isinstance(value, dict):
            found.faults.append((number, "not-object", None))
        elif value.get("type") == "session":
            found.faults.append((number, "second-header", None))
        elif text(value.get("id")) is None or text(value.get("type")) is None:
            found.faults.append((number, "no-id", None))
        else:
            parent, time = value.get("parentId"), value.get("timestamp")
            if not isinstance(parent, str | None):
                found.faults.append((number, "bad-parent", value["id"]))
            time = time if isinstance(time, str) or is_number(time) else None
            message = plain_message(value.get("message")) if value["type"] == "message" else None
            found.entries.append((number, start, line, (value["type"], value["id"], text(parent), time, message)))
    return found


# The readers under test.


def tokens(usage: UsageEnvelope | None) -> list[object] | None:
    return None if usage is None else [usage.input, usage.output, usage.cache_read]


def shape(envelope: Envelope) -> tuple[object, ...]:
    message = envelope.message
    seen: tuple[object, ...] | None = None
    if message is not None:
        spent = tokens(message.details.usage) if message.details is not None else None
        names = [message.provider, message.model, message.tool_name]
        seen = message.role, names, tokens(message.usage), spent
    return envelope.type, envelope.id, envelope.parent_id, envelope.timestamp, seen


def scan(data: bytes, offset: int = 0, first_line: int = 1) -> Found:
    scanned = scanner.scan_chunk(data, offset, first_line)
    assert scanned.line_count == data.count(b"\n") + (not data.endswith(b"\n"))
    places = zip(scanned.lines, scanned.offsets, scanned.envelopes, strict=True)
    entries = [
        (line, start, data[start - offset :].split(b"\n", 1)[0], shape(envelope)) for line, start, envelope in places
    ]
    return Found(entries, [(fault.line, fault.kind, fault.id) for fault in scanned.faults])


async def read_file(data: bytes) -> Found:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "session.jsonl")
        path.write_bytes(HEADER + data)
        store = await JsonlEventStore.open(path, header_of_new=lambda: make_header("", "", ""))
        envelopes = [envelope async for batch in store.read() for envelope in batch.envelopes]
        assert store.version == len(envelopes)
        lines = await store.read_lines(range(1, store.version + 1))
        reader = store._known
        entries = [
            (store.line_number(seq), reader.index.span(seq)[0], lines[seq - 1], shape(envelope))
            for seq, envelope in enumerate(envelopes, 1)
        ]
        faults = [(fault.line, str(fault.kind), fault.id) for fault in store.faults]
        assert await store.check() is False
        await store.close()
    return Found(entries, faults)


# Lines, good and bad.

STRINGS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["", "user", "assistant", "a\u2028b\u2029c\x85d", "𝄞ä", "\ud83d", "\udc00x", '"}\\', "}{", "\x7f\x00"]
    ),
)
NUMBERS = st.one_of(
    st.integers(),
    st.floats(),
    st.sampled_from([2**63, 2**64, -(2**63) - 1, 10**30, 10**3000, 0.1, -0.0]),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, STRINGS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(STRINGS, inner, max_size=3)),
    max_leaves=6,
)
USAGE = st.dictionaries(st.sampled_from(["input", "output", "cacheRead", "cost"]), VALUES | NUMBERS, max_size=3)
MESSAGES = st.fixed_dictionaries(
    {"role": STRINGS},
    optional={
        "provider": VALUES,
        "model": VALUES,
        "toolName": VALUES,
        "usage": USAGE | VALUES,
        "details": st.fixed_dictionaries({"usage": USAGE | VALUES}) | VALUES,
        "content": VALUES,
    },
)
TYPES = st.sampled_from([*sorted(KNOWN_TYPES), "from_the_future", "session", "message", "message", "message"])
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "type": TYPES | VALUES,
        "id": STRINGS | VALUES,
        "parentId": STRINGS | VALUES,
        "timestamp": st.just("2026-02-16T10:20:31.000Z") | NUMBERS | VALUES,
        "message": MESSAGES | VALUES,
        "targetId": VALUES,
        "summary": VALUES,
        "x": VALUES,
    },
)
GOOD = st.fixed_dictionaries(
    {"type": TYPES.filter(lambda name: name != "session"), "id": STRINGS},
    optional={"parentId": STRINGS | st.none(), "timestamp": STRINGS, "message": MESSAGES, "x": VALUES},
)


def to_line(fields: dict[str, Any], ascii_only: bool, spaced: bool) -> bytes:
    separators = (", ", ": ") if spaced else (",", ":")
    line = json.dumps(fields, ensure_ascii=ascii_only, separators=separators)
    # Lone surrogates that are not escaped become bytes that are no UTF-8.
    return line.encode("utf-8", "surrogatepass")


OBJECTS = st.builds(to_line, FIELDS | GOOD, st.booleans(), st.booleans())
GOOD_LINES = st.builds(to_line, GOOD, st.booleans(), st.just(False))
ODD_LINES = st.sampled_from(
    [
        b"",
        b"   ",
        b"\r",
        b"\x00" * 40,
        b"null",
        b"[]",
        b"17",
        b'"text"',
        b"}",
        b"{}",
        b'{"type":"message","id":"torn","parentId":null,"message":{"role":"us',
        b'{"type":"label","id":"a"}{"type":"label","id":"b"}',
        b'{"type":"label","id":"span","x":[{}',
        b'{"type":"label","id":"span2","x":"}',
        b'{"id":"b"}]}',
        b"{} {}",
        b'{"type":"message","id":"bytes","x":"\xff\xfe","message":{"role":"user","content":"\xc3"}}',
        b'{"type":"message","id":"\xff","message":{"role":"\xe2\x82"}}',
        b'{"type":"message","type":"label","id":"a","id":"dup","targetId":1,"targetId":"t"}',
        b'{"type":"label","type":"message","id":"dup","message":5,"message":{"role":"a","role":"b"}}',
        b'{"type":"session","version":3,"id":"second"}',
        b'\xef\xbb\xbf{"type":"message","id":"bom"}',
        b'{"type":"x","id":"nan","x":NaN}',
        b'{"type":"x","id":"inf","timestamp":1e999}',
        b'{"type":"x","id":"huge","x":' + b"9" * 5000 + b"}",
        b'{"type":"x","id":"hugetime","timestamp":' + b"9" * 5000 + b"}",
        b'{"type":"x","id":"tab","x":"a\tb"}',
        b'{"type":"x","id":"deep","x":' + b"[" * 300 + b"]" * 300 + b"}",
        b'{"type":"x","id":"deeper","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ]
)


def join(lines: list[bytes], line_ends: list[bytes], tail: bytes) -> bytes:
    ends = line_ends or [b"\n"]
    return b"".join(line + ends[number % len(ends)] for number, line in enumerate(lines)) + tail


LINES = st.lists(GOOD_LINES | OBJECTS | ODD_LINES, max_size=8)
DATA = st.builds(
    join, LINES, st.lists(st.sampled_from([b"\n", b"\r\n"]), max_size=2), st.just(b"") | ODD_LINES | OBJECTS
)


@settings(max_examples=200)
@given(data=DATA, offset=st.integers(0, 2**40), first_line=st.integers(1, 10**6))
def test_scanning_by_chunk_finds_what_scanning_by_line_finds(data: bytes, offset: int, first_line: int) -> None:
    """F-81, F-83, F-85, F-86: one reader or the other, the entries, places and faults are the same."""
    with pytest.MonkeyPatch.context() as patch:
        by_chunk = scan(data, offset, first_line) if data else None
        patch.setattr(scanner, "_scan_at_once", lambda *_: None)
        by_line = scan(data, offset, first_line) if data else None
    assert by_chunk == by_line


@settings(max_examples=200)
@given(lines=st.lists(GOOD_LINES, min_size=2, max_size=8))
def test_good_lines_are_scanned_at_once_and_right(lines: list[bytes]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    assert scan(data, 100, 7) == plain_scan(data, 100, 7)


@settings(max_examples=200)
@given(data=DATA)
def test_each_line_is_read_as_a_plain_reader_reads_it(data: bytes) -> None:
    """F-01, F-81, F-83, F-85, F-86, F-87: what `json.loads` makes of a line, or one fault for it."""
    if data:
        assert scan(data) == plain_scan(data)


@settings(max_examples=100)
@given(data=DATA, chunk=st.integers(1, 90))
def test_the_size_of_chunks_changes_nothing(data: bytes, chunk: int) -> None:
    """F-88, X-50: also with a boundary inside of a character, of a line end, of a damaged line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl_reader, "CHUNK", chunk)
        assert asyncio.run(read_file(data)) == plain_scan(data, len(HEADER), 2)


@settings(max_examples=200)
@given(line=GOOD_LINES | OBJECTS | ODD_LINES)
def test_what_has_an_envelope_has_a_body_that_agrees_with_it(line: bytes) -> None:
    """F-56: an entry that is listed can be read, whatever its fields are."""
    for envelope in scanner.scan_chunk(line, 0, 1).envelopes:
        entry = decode_entry(line)
        assert (entry.type, entry.id) == (envelope.type, envelope.id)
        assert (entry.parent_id, entry.timestamp) == (envelope.parent_id, envelope.timestamp)
        assert not isinstance(envelope, StateEnvelope) or repr(envelope.state) == repr(entry)


@pytest.mark.parametrize("kind", ["from_the_future", "compaction", "message", "custom"])
def test_no_depth_of_nesting_is_more_than_one_fault(kind: str) -> None:
    """D15: 900 levels are read; what is too deep for the interpreter is one damaged line or an entry, no crash."""

    def read(depth: int, twice: bool) -> Found:
        deep = b"[" * depth + b"]" * depth
        fields = b'"summary":"s","customType":"c","details":%s,"message":{"role":"user","content":%s}' % (deep, deep)
        line = b'{"type":"%s","id":"deep",%s}\n' % (kind.encode(), fields)
        return scan(line * 2 if twice else line)

    def check() -> None:
        for twice in (False, True):
            assert len(read(900, twice).entries) == 1 + twice
            for depth in (*range(960, 1010), 1100, 100_000):
                found = read(depth, twice)
                assert len(found.entries) + len(found.faults) == 1 + twice
                assert {kind for _, kind, _ in found.faults} <= {"malformed"}
            assert [kind for _, kind, _ in found.faults] == ["malformed"] * (1 + twice)

    # On a stack of its own: the test runner's frames count too.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(check).result()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(
            b'{"type":"a","id":"1","x":"}\n{"}\n{"type":"a","id":"2"}{"type":"a","id":"3"}\n', id="in-a-string"
        ),
        pytest.param(
            b'{"type":"a","id":"1","x":{}\n,"y":{}}\n{"type":"a","id":"2"}{"type":"a","id":"3"}\n', id="comma"
        ),
        pytest.param(b'{"type":"a","id":"1","x":{\n}}\n{"type":"a","id":"2"} {"type":"a","id":"3"}\n', id="braces"),
    ],
)
def test_a_value_over_two_lines_and_two_values_on_one_do_not_even_out(data: bytes) -> None:
    """F-01: as many values as lines are no proof that each line holds one."""
    assert scan(data).entries == []
    assert scan(data) == plain_scan(data)


async def test_a_line_longer_than_several_chunks_is_read_whole() -> None:
    """F-88: lines of megabytes among small ones keep their places."""
    small = b'{"type":"x","id":"small"}\n'
    large = b'{"type":"x","id":"large","x":"%s"}\n' % (b"\xc3\xa4" * (3 << 20))
    data = small + large + b"x" * 700_000 + b"\n" + small
    assert await read_file(data) == plain_scan(data, len(HEADER), 2)
