"""Entry ids by number, without a dict so large that its growth would stall the loop (design D3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from ..eventstore.index.id_table import StoredIdTable, add_id_table
from ..eventstore.index.index_file import IndexFile
from ..eventstore.index.index_writer import IndexWriter
from ..eventstore.index.stored_column import first_items
from ..eventstore.index.stored_texts import StoredTexts, TextColumn, encode_text

_SEGMENT = 1 << 18


class IdIndex:
    """Id to sequence number and back; the last number given to an id counts. Numbers start at 1."""

    def __init__(self) -> None:
        self.ids: list[str] | TextColumn = [""]
        """Ids by number."""
        self._stored: StoredIdTable | None = None
        self._segments: list[dict[str, int]] = [{}]
        self._repeats = False

    def restore(self, file: IndexFile, *, repeats: bool) -> None:
        """Begin with what an index holds. `repeats`: whether an id stands there twice."""
        stored = StoredTexts(file, "ids")
        self.ids = TextColumn(stored)
        self._stored = StoredIdTable(file, stored)
        self._repeats = repeats

    async def store(self, writer: IndexWriter, last_seq: int) -> None:
        """Write the ids of the entries up to one."""
        await writer.add_texts("ids", map(encode_text, first_items(self.ids, last_seq + 1)))
        await add_id_table(writer, islice(map(encode_text, first_items(self.ids, last_seq + 1)), 1, None), last_seq)

    def get(self, entry_id: str) -> int:
        """Return the number of an id, 0 where it is not known."""
        for segment in reversed(self._segments):
            seq = segment.get(entry_id)
            if seq is not None:
                return seq
        return self._stored.get(entry_id) if self._stored is not None else 0

    def add(self, ids: Sequence[str]) -> list[tuple[int, int]]:
        """Number ids from the next number on; return (earlier, later number) of each that had one already."""
        first = len(self.ids)
        if len(self._segments[-1]) >= _SEGMENT:
            self._segments.append({})
        *older, newest = self._segments
        again = self._numbered_again(ids) if self._repeats else []
        known = len(newest)
        newest.update(zip(ids, range(first, first + len(ids)), strict=True))
        if not self._repeats and (
            len(newest) - known < len(ids)
            or not all(segment.keys().isdisjoint(ids) for segment in older)
            or (self._stored is not None and any(map(self._stored.get, ids)))
        ):
            # Where ids repeat at all, each batch is looked at closely from now on; this once, by all ids so far.
            self._repeats = True
            wanted, stored = set(ids), self._stored
            earlier = {entry_id: stored.get(entry_id) for entry_id in wanted} if stored is not None else {}
            # A later number replaces an earlier one.
            earlier |= {entry_id: seq for seq, entry_id in self._in_memory() if entry_id in wanted}
            again = self._numbered_again(ids, earlier)
        self.ids.extend(ids)
        return again

    def _in_memory(self) -> Iterable[tuple[int, str]]:
        """Numbers and ids of the entries that are in no index."""
        first = self._stored.last_seq + 1 if self._stored is not None else 0
        return enumerate(self.ids[first:] if first else self.ids, first)

    def _numbered_again(self, ids: Sequence[str], known: dict[str, int] | None = None) -> list[tuple[int, int]]:
        pairs = []
        here: dict[str, int] = {}
        for seq, entry_id in enumerate(ids, len(self.ids)):
            earlier = here.get(entry_id) or (known.get(entry_id) if known is not None else self.get(entry_id))
            if earlier:
                pairs.append((earlier, seq))
            here[entry_id] = seq
        return pairs
