"""Turns bytes of a session file into envelopes: whole chunks at once, line by line where that is not safe."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from itertools import accumulate

import msgspec
from msgspec import Struct

from .envelope import Envelopes, NoEntryError, complete, decode_envelope, envelope_decoder
from .migrations import Migration
from .report import Fault

_OPEN, _CLOSE, _NEWLINE = {ord("{")}, {ord("}")}, ord("\n")
_decode_lines = envelope_decoder.decode_lines


class ScannedChunk(Struct, frozen=True, gc=False):
    """The entries of a run of lines: byte offsets in the file, lengths with newline, 1-based line numbers.

    A newline that the last line lacks is counted all the same.
    """

    envelopes: Envelopes
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
    lines = BytesIO(chunk).readlines()
    count = len(lines)
    # `decode_lines` is not line-based. A value can neither span nor share a line when each line starts with
    # a brace and ends with one, and there are as many values as lines (design D1).
    try:
        if {line[0] for line in lines} != _OPEN or {line[-2] for line in lines} != _CLOSE or chunk[-1] != _NEWLINE:
            return None
        envelopes = Envelopes(_decode_lines(chunk))
    except (IndexError, msgspec.DecodeError, RecursionError):
        return None
    if len(envelopes) != count:
        return None
    others = [index for index, envelope in enumerate(envelopes) if envelope.type != "message"]
    try:
        for index in others:
            envelopes[index] = complete(envelopes[index], lines[index][:-1])
    except NoEntryError:
        return None
    lengths = list(map(len, lines))
    offsets = list(accumulate(lengths, initial=offset))
    offsets.pop()
    return ScannedChunk(envelopes, offsets, lengths, range(first_line, first_line + count), count, [])


def _scan_line_by_line(chunk: bytes, offset: int, first_line: int, migration: Migration | None) -> ScannedChunk:
    envelopes = Envelopes()
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
        lengths.append(len(line.rstrip(b"\n")) + 1)
        lines.append(number)
    return ScannedChunk(envelopes, offsets, lengths, lines, number - first_line + 1, faults)
