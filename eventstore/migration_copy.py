"""Copies a session file of an older version into one of version 3 (F-105); damaged lines stay where they are."""

from __future__ import annotations

import os

from msgspec import Struct

from .header import HeaderPlace
from .line_index import LineIndex
from .migrations import Migration, migrate_header
from .seen_file import WITNESS


class MovedLines(Struct, frozen=True):
    """Where the entries stand in the copy. `head` is its start to the end of the header line; `end` its size."""

    head: bytes
    offsets: list[int]
    lengths: list[int]
    end: int
    witness: bytes


def copy_migrated(
    source: int, target: int, place: HeaderPlace, index: LineIndex, migration: Migration, size: int
) -> MovedLines:
    """Write the first `size` bytes of `source` to `target` in version 3, and return where the entries stand.

    What is no entry is written as it is; a missing last newline is added. Blocks.
    """
    offsets: list[int] = []
    lengths: list[int] = []
    head = witness = b""
    at = position = 0
    with os.fdopen(os.dup(source), "rb") as old, os.fdopen(os.dup(target), "wb") as new:
        old.seek(0)
        if place.line == 1:
            # A byte order mark may stand before the header.
            head = old.read(place.offset)
            at = position = new.write(head)
        while position < size:
            line = old.readline(size - position)
            body = line.rstrip(b"\n")
            seq = len(offsets) + 1
            if position == place.offset:
                body = migrate_header(body)
            elif seq <= index.version and index.span(seq)[0] == position:
                offsets.append(at)
                body = migration.line(seq, body)
                lengths.append(len(body) + 1)
            witness = body + b"\n"
            at += new.write(witness)
            if position <= place.offset:
                head += witness
            position += len(line)
    return MovedLines(head, offsets, lengths, at, witness[-WITNESS:])
