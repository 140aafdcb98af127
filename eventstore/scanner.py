"""Turns bytes of a session file into envelopes: whole chunks at once, line by line where that is not safe."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from itertools import accumulate
from operator import itemgetter

import msgspec
from msgspec import Struct

from .envelope import STATE_TYPES, Envelope, NoEntryError, decode_envelope, envelope_decoder, with_state
from .migrations import Migration
from .report import Fault

_BRACES = {ord("{")}, {ord("}")}
_ODD_TYPES = STATE_TYPES | {"session"}
_decode_lines = envelope_decoder.decode_lines


class ScannedChunk(Struct, frozen=True, gc=False):
    """The entries of a run of whole lines: byte offsets in the file, lengths without newline, line numbers."""

    envelopes: list[Envelope]
    offsets: Sequence[int]
    lengths: Sequence[int]
    lines: Sequence[int]
    line_count: int
    faults: list[Fault]


def scan_chunk(chunk: bytes, offset: int, first_line: int, migration: Migration | None = None) -> ScannedChunk:
    """Read whole lines, as they stand at a byte offset of the file, from line number `first_line` on.

    The last line may lack its newline. Lines that hold no entry become faults (F-81, F-85, F-86).
    """
    fast = _scan_at_once(chunk, offset, first_line) if migration is None else None
    return fast if fast is not None else _scan_line_by_line(chunk, offset, first_line, migration)


def _scan_at_once(chunk: bytes, offset: int, first_line: int) -> ScannedChunk | None:
    lengths = list(map(len, BytesIO(chunk)))
    count = len(lengths)
    if count < 2:
        return None
    starts = list(accumulate(lengths, initial=0))
    ends = [end - 2 for end in starts[1:]]
    del starts[-1]
    # `decode_lines` is not line-based. A value can neither span nor share a line when each line starts with
    # a brace and ends with one, and there are as many values as lines (design D1).
    if set(itemgetter(*starts)(chunk)) != _BRACES[0] or set(itemgetter(*ends)(chunk)) != _BRACES[1]:
        return None
    if chunk[-1:] != b"\n":
        return None
    try:
        envelopes = _decode_lines(chunk)
    except (msgspec.DecodeError, RecursionError):
        return None
    if len(envelopes) != count:
        return None
    if not _ODD_TYPES.isdisjoint([envelope.type for envelope in envelopes]):
        for index, envelope in enumerate(envelopes):
            if envelope.type in STATE_TYPES:
                start = starts[index]
                envelopes[index] = with_state(envelope, chunk[start : start + lengths[index] - 1])
            elif envelope.type == "session":
                return None
    return ScannedChunk(
        envelopes,
        [offset + start for start in starts],
        [length - 1 for length in lengths],
        range(first_line, first_line + count),
        count,
        [],
    )


def _scan_line_by_line(chunk: bytes, offset: int, first_line: int, migration: Migration | None) -> ScannedChunk:
    envelopes: list[Envelope] = []
    offsets: list[int] = []
    lengths: list[int] = []
    lines: list[int] = []
    faults: list[Fault] = []
    number = first_line - 1
    for line in BytesIO(chunk):
        number += 1
        start, offset = offset, offset + len(line)
        body = line.rstrip(b"\n")
        if not body.strip():
            continue
        if migration is not None:
            body = migration.admit(body)
        try:
            envelope, parent_fault = decode_envelope(body)
        except NoEntryError as error:
            faults.append(Fault(number, error.kind, None, error.detail))
            continue
        if parent_fault is not None:
            faults.append(Fault(number, parent_fault, envelope.id, "its parent is no string: it counts as a root"))
        envelopes.append(envelope)
        offsets.append(start)
        lengths.append(len(line.rstrip(b"\n")))
        lines.append(number)
    return ScannedChunk(envelopes, offsets, lengths, lines, number - first_line + 1, faults)
