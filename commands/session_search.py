"""Going through a whole session for a query: line after line, in turns, in bounded memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from ..eventstore.abort import AbortSignal
from ..eventstore.turns import Turns
from ..projections.entry_reader import EntryReader
from ..projections.line_filter import LineFilter
from ..projections.search import Search, SearchHit, hit_at
from ..projections.searched_text import searched_text
from .session_log import SessionLog

_AT_ONCE = 128 << 10
"""Bytes of lines that are looked through at once: a millisecond where each is folded, else a third of it."""
_LARGE = 1 << 20
"""Bytes from which a line is decoded unseen: most of it is an image as a rule, in which nothing is looked for."""


async def search_session(log: SessionLog, query: str, signal: AbortSignal | None) -> AsyncGenerator[SearchHit, None]:
    """Yield hits in file order; see `SessionView.search`."""
    walk = _Walk(log, query, signal)
    while not walk.at_end:
        for hit in await log.reading(walk.look):
            yield hit


class _Walk:
    """The way through the entries that are recorded when it begins.

    When a rewritten file was loaded anew it goes on behind the last searched entry that is still there, to the end.
    """

    def __init__(self, log: SessionLog, query: str, signal: AbortSignal | None) -> None:
        log.check_usable()
        self._log = log
        self._search = Search(query)
        self._filter = LineFilter(self._search.words)
        self._turns = Turns(signal)
        self._tree = log.projector.tree
        self._searched = 0
        self._last = log.projector.position if self._search.words else 0
        self._count = 1

    @property
    def at_end(self) -> bool:
        """Whether all was searched."""
        return self._searched >= self._last

    async def look(self) -> list[SearchHit]:
        """Look through the next lines. Raises `SessionRewrittenError`; then nothing was searched."""
        self._follow_reload()
        if self.at_end:
            return []
        log, tree = self._log, self._tree
        reader = log.reader
        seqs = range(self._searched + 1, min(self._searched + self._count, self._last) + 1)
        lines = log.store.read_lines_now(seqs)
        if lines is None:
            lines = await log.store.read_lines(seqs)
        size = sum(map(len, lines))
        # Their neighbours were shorter: they are too much for one turn.
        step = len(lines) if size <= 2 * _AT_ONCE else 1
        hits = []
        for start in range(0, len(lines), step):
            if self._turns.over:
                await self._turns.next()
            for place in self._candidates(lines[start : start + step]):
                seq = seqs[start + place]
                if not tree.is_replaced(seq) and (hit := await self._hit(reader, seq, lines[start + place])):
                    hits.append(hit)
        self._searched = seqs[-1]
        self._count = max(1, min(2 * self._count, self._count * _AT_ONCE // size))
        return hits

    def _follow_reload(self) -> None:
        projector = self._log.projector
        if self._tree is not projector.tree:
            searched, self._tree = self._tree.ids[1 : self._searched + 1], projector.tree
            self._searched = next((seq for entry_id in reversed(searched) if (seq := self._tree.find(entry_id))), 0)
            self._last = projector.position

    def _candidates(self, lines: Sequence[bytes]) -> Sequence[int]:
        return (0,) if len(lines[0]) > _LARGE else self._filter.candidates(lines)

    async def _hit(self, reader: EntryReader, seq: int, line: bytes) -> SearchHit | None:
        entry = reader.decode(seq, line)
        text = searched_text(entry)
        for position in self._search.find_in_steps(text):
            if self._turns.over:
                await self._turns.next()
            if position is not None:
                return hit_at(entry.id, text, position)
        return None
