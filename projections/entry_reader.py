"""Bodies of entries, read when somebody asks, through a cache of bounded size (design D2)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence

from ..eventstore.abort import AbortSignal
from ..eventstore.entries import SessionEntry, UnknownEntry, decode_entry
from ..eventstore.errors import SessionRewrittenError
from ..eventstore.json_text import NestedTooDeeplyError
from ..eventstore.store import EventStore
from ..eventstore.turns import Turns
from .tree import ROOT, Tree

CACHE_BYTES = 16 << 20
"""Bytes of lines whose entries are kept decoded."""
_SLICE = 64


class EntryReader:
    """Reads the entries of one store. Each is checked against the tree: the file may have been rewritten."""

    def __init__(self, store: EventStore, tree: Tree) -> None:
        self._store = store
        self._tree = tree
        self._cache: OrderedDict[int, tuple[SessionEntry, int]] = OrderedDict()
        self._cached_bytes = 0

    async def read(
        self, seqs: Sequence[int], *, keep: bool = True, signal: AbortSignal | None = None
    ) -> dict[int, SessionEntry]:
        """Return entries by their numbers. `keep`: in the cache, for whoever asks next.

        Raises `SessionRewrittenError` where the file holds another entry, `AbortError`, `SessionFileError`.
        """
        turns = Turns(signal)
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
        async for seq, line in self._lines(missing, turns):
            entry = found[seq] = self.decode(seq, line)
            if keep:
                self._keep(seq, entry, len(line))
        return found

    async def read_lines(self, seqs: Sequence[int], *, signal: AbortSignal | None = None) -> list[bytes]:
        """Return lines as of version 3 by their numbers, in the order asked for; raises as `read` does."""
        found = {seq: line async for seq, line in self._lines(seqs, Turns(signal)) if self.decode(seq, line)}
        return [found[seq] for seq in seqs]

    async def _lines(self, seqs: Sequence[int], turns: Turns) -> AsyncIterator[tuple[int, bytes]]:
        for start in range(0, len(seqs), _SLICE):
            part = seqs[start : start + _SLICE]
            lines = self._store.read_lines_now(part)
            if lines is None:
                lines = await self._store.read_lines(part)
            for seq, line in zip(part, lines, strict=True):
                yield seq, line
                if turns.over:
                    await turns.next()

    def decode(self, seq: int, line: bytes) -> SessionEntry:
        """Return the entry of this number from its line. Raises `SessionRewrittenError` for another entry's."""
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
        return entry

    def _keep(self, seq: int, entry: SessionEntry, size: int) -> None:
        _, known_size = self._cache.pop(seq, (None, 0))  # read by two callers at once
        self._cache[seq] = entry, size
        self._cached_bytes += size - known_size
        while self._cached_bytes > CACHE_BYTES and len(self._cache) > 1:
            _, (_, oldest) = self._cache.popitem(last=False)
            self._cached_bytes -= oldest
