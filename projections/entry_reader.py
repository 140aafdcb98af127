"""Bodies of entries, read when somebody asks, through a cache of bounded size (design D2)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from time import perf_counter

from ..eventstore.abort import AbortSignal
from ..eventstore.entries import SessionEntry, UnknownEntry, decode_entry
from ..eventstore.errors import SessionRewrittenError
from ..eventstore.json_text import NestedTooDeeplyError
from ..eventstore.store import EventStore
from .tree import ROOT, Tree

CACHE_BYTES = 16 << 20
"""Bytes of lines whose entries are kept decoded."""
_SLICE = 64
_TURN = 0.001


class EntryReader:
    """Reads the entries of one store. Each is checked against the tree: the file may have been rewritten."""

    def __init__(self, store: EventStore, tree: Tree) -> None:
        self._store = store
        self._tree = tree
        self._cache: OrderedDict[int, tuple[SessionEntry, int]] = OrderedDict()
        self._cached_bytes = 0

    async def read(self, seqs: Sequence[int], *, signal: AbortSignal | None = None) -> dict[int, SessionEntry]:
        """Return entries by their numbers.

        Raises `SessionRewrittenError` where the file holds another entry, `AbortError`, `SessionFileError`.
        """
        if signal is not None:
            signal.raise_if_aborted()
        found: dict[int, SessionEntry] = {}
        missing = []
        cache = self._cache
        for seq in seqs:
            cached = cache.get(seq)
            if cached is None:
                missing.append(seq)
            else:
                cache.move_to_end(seq)
                found[seq] = cached[0]
        turn_ends = perf_counter() + _TURN
        for start in range(0, len(missing), _SLICE):
            if signal is not None:
                signal.raise_if_aborted()
            part = missing[start : start + _SLICE]
            lines = self._store.read_lines_now(part)
            if lines is None:
                lines = await self._store.read_lines(part)
            for seq, line in zip(part, lines, strict=True):
                found[seq] = self._decode(seq, line)
                if perf_counter() > turn_ends:
                    await asyncio.sleep(0)
                    turn_ends = perf_counter() + _TURN
        return found

    def _decode(self, seq: int, line: bytes) -> SessionEntry:
        tree, kind, parent = self._tree, self._tree.kind(seq), self._tree.parents[seq]
        # The line of a root may name a parent all the same, and so may one whose id stands again.
        parent_id = tree.ids[parent] if parent not in (ROOT, seq) else None
        try:
            entry: SessionEntry | None = decode_entry(line)
        except NestedTooDeeplyError:
            # How deep is too deep depends on who asks: what was an entry once stays one.
            entry = UnknownEntry(
                id=tree.ids[seq],
                parent_id=parent_id,
                timestamp=tree.times.stored(seq),
                stored_type=kind.type,
                line=line,
            )
        except ValueError:
            entry = None
        if (
            entry is None
            or (entry.id, entry.type) != (tree.ids[seq], kind.type)
            or (parent_id is not None and entry.parent_id != parent_id)
        ):
            raise SessionRewrittenError(self._store.path or "memory", "was changed by another program")
        _, known_size = self._cache.pop(seq, (None, 0))  # read by two callers at once
        self._cache[seq] = entry, len(line)
        self._cached_bytes += len(line) - known_size
        while self._cached_bytes > CACHE_BYTES and len(self._cache) > 1:
            _, (_, size) = self._cache.popitem(last=False)
            self._cached_bytes -= size
        return entry
