"""Turns bytes of a session file into envelopes: whole chunks at once, line by line where that is not safe."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from operator import itemgetter, sub

import msgspec
from msgspec import Struct

from .envelope import Envelopes, NoEntryError, StateEnvelope, complete, decode_envelope, envelope_decoder
from .migrations import Migration
from .report import Fault

_OPEN, _CLOSE, _NEWLINE = b"{}\n"
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


def scan_chunk(
    chunk: bytes | bytearray, offset: int, first_line: int, migration: Migration | None = None, *, size: int = -1
) -> ScannedChunk:
    """Read whole lines, as they stand at a byte offset of the file, from line number `first_line` on.

    `size`: how many bytes of the chunk are meant, by default all; nothing keeps hold of them. The last line may
    lack its newline. Lines that hold no entry become faults (F-81, F-85, F-86).
    """
    size = len(chunk) if size < 0 else size
    fast = _scan_at_once(chunk, size, offset, first_line) if migration is None else None
    return fast if fast is not None else _scan_line_by_line(chunk, size, offset, first_line, migration)


def _scan_at_once(chunk: bytes | bytearray, size: int, offset: int, first_line: int) -> ScannedChunk | None:
    find, position = chunk.find, 0
    starts = [0]
    while position := find(_NEWLINE, position, size) + 1:
        starts.append(position)
    count = len(starts) - 1
    # `decode_lines` is not line-based. A value can neither span nor share a line when each line starts with
    # a brace and ends with one, and there are as many values as lines (design D1).
    if count < 2 or starts[-1] != size or chunk[0] != _OPEN:
        return None
    if set(itemgetter(*[start - 2 for start in starts[1:]])(chunk)) != {_CLOSE}:
        return None
    if set(itemgetter(*starts[:-1])(chunk)) != {_OPEN}:
        return None
    try:
        envelopes = Envelopes(_decode_lines(memoryview(chunk)[:size]))
    except (msgspec.DecodeError, RecursionError):
        return None
    if len(envelopes) != count:
        return None
    envelopes.states = []
    try:
        for index in [index for index, envelope in enumerate(envelopes) if envelope.type != "message"]:
            line = bytes(chunk[starts[index] : starts[index + 1] - 1])
            envelope = envelopes[index] = complete(envelopes[index], line)
            if isinstance(envelope, StateEnvelope):
                envelopes.states.append((index, envelope.state))
    except NoEntryError:
        return None
    offsets = [offset + start for start in starts]
    lengths = list(map(sub, starts[1:], starts))
    offsets.pop()
    return ScannedChunk(envelopes, offsets, lengths, range(first_line, first_line + count), count, [])


def _scan_line_by_line(
    chunk: bytes | bytearray, size: int, offset: int, first_line: int, migration: Migration | None
) -> ScannedChunk:
    envelopes = Envelopes()
    offsets: list[int] = []
    lengths: list[int] = []
    lines: list[int] = []
    faults: list[Fault] = []
    number = first_line - 1
    for line in BytesIO(memoryview(chunk)[:size]):
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
