"""Every fault of a session, found by decoding every line: what `verify` reports (F-81..F-87)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from ..eventstore.abort import AbortSignal
from ..eventstore.entries import KNOWN_TYPES, KnownEntry, SessionEntry, UnknownEntry, decode_entry
from ..eventstore.json_text import decode_json
from ..eventstore.report import Fault, Report
from ..eventstore.store import EventStore
from ..eventstore.turns import Turns
from .path_checks import PathChecks, PathFault
from .projector import Projector

Progress = Callable[[int, int], None]

_SLICE = 64


async def verify(
    store: EventStore,
    projector: Projector,
    *,
    progress: Progress | None = None,
    signal: AbortSignal | None = None,
) -> Report:
    """Return all faults of a session whose entries `projector` has folded, those found at open among them.

    `bad-body`: an entry of a known type with fields of the wrong kind. `bad-utf8`: an entry's line with bytes
    that are no UTF-8; they are read as U+FFFD. `tool-pair` and `first-kept`: see `PathChecks`.

    `progress(done, of)` counts entries. Raises `AbortError`, `SessionRewrittenError`, `SessionFileError`.
    """
    tree, last = projector.tree, projector.position
    checks = PathChecks(tree)
    found: list[PathFault] = []
    turns = Turns(signal)
    for start in range(1, last + 1, _SLICE):
        seqs = range(start, min(start + _SLICE, last + 1))
        lines = store.read_lines_now(seqs)
        for seq, line in zip(seqs, lines if lines is not None else await store.read_lines(seqs), strict=True):
            entry = decode_entry(line)
            found += _line_faults(seq, line, entry)
            if not tree.is_replaced(seq):
                checks.take(seq, entry)
        if turns.over:
            if progress is not None:
                progress(seqs.stop - 1, last)
            await turns.next()
    for fault in checks.faults_in_steps():
        if fault is not None:
            found.append(fault)
        if turns.over:
            await turns.next()
    faults = [Fault(store.line_number(seq), kind, tree.ids[seq], detail) for seq, kind, detail in found]
    return Report(sorted([*projector.report().faults, *faults], key=lambda fault: fault.line))


def _line_faults(seq: int, line: bytes, entry: SessionEntry) -> Iterator[PathFault]:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        yield PathFault(seq, "bad-utf8", f"byte {error.start} of the line is no UTF-8 and is read as U+FFFD")
    if isinstance(entry, UnknownEntry) and entry.type in KNOWN_TYPES:
        yield PathFault(seq, "bad-body", _what_is_wrong(line))


def _what_is_wrong(line: bytes) -> str:
    fields = decode_json(line)
    try:
        msgspec.convert({**fields, "parentId": None, "timestamp": None}, KnownEntry)
    except msgspec.ValidationError as error:
        return str(error)
    raise AssertionError("what converts is no unknown entry")
