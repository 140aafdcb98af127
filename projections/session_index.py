"""The index of one session: taken up when it is opened, written when much was scanned (ADR 9)."""

from __future__ import annotations

import contextlib

from ..eventstore.errors import IndexDamagedError, SessionRewrittenError
from ..eventstore.index.index_file import IndexFile
from ..eventstore.index.index_writer import IndexWriter
from ..eventstore.index.places import place_beside, place_in_cache, prune_cache
from ..eventstore.jsonl_store import JsonlEventStore
from ..eventstore.log import log_event
from ..eventstore.worker import run_in_thread
from .projector import Projector

PAYS_FROM = 8 << 20
"""Bytes of a session whose scan is worth an index."""


class SessionIndex:
    """What is written of a session for the next one who opens it. `covered`: bytes that an index covers already."""

    def __init__(self, store: JsonlEventStore, projector: Projector) -> None:
        self._store = store
        self._projector = projector
        self._file: IndexFile | None = None
        self.covered = 0

    def restore(self) -> None:
        """Begin with the index that covers most, where there is one. Raises `IndexDamagedError`."""
        reader = self._store.log_reader
        if reader is None:
            return
        found = []
        for place in (place_beside(self._store.real_path), place_in_cache(self._store.real_path)):
            with contextlib.suppress(OSError):
                if (file := IndexFile.open(place)) is not None and reader.covers(file):
                    found.append(file)
        if found:
            self._file = file = max(found, key=lambda file: file.coverage.end)
            reader.restore(file)
            self._projector.restore(file)
            self.covered = file.coverage.end

    @property
    def damage(self) -> IndexDamagedError | None:
        """What is wrong with the index that the session reads from, as far as somebody met it."""
        return self._file.damage if self._file is not None else None

    @property
    def pays(self) -> bool:
        """Whether enough was scanned or appended since the last index."""
        reader = self._store.log_reader
        return reader is not None and reader.seen.size - self.covered >= PAYS_FROM

    async def write(self, *, beside: bool) -> None:
        """Write what is known now. A session that cannot be indexed, or whose index has no place, has none."""
        reader, projector = self._store.log_reader, self._projector
        if (
            reader is None
            or (state := reader.state()) is None
            or not projector.can_be_stored
            or projector.position != reader.index.version
        ):
            return
        place = place_beside(self._store.real_path) if beside else place_in_cache(self._store.real_path)
        try:
            coverage = reader.coverage()
            parents = projector.tree.parents
            small = {"reader": state, **projector.state()}
            if not beside:
                place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            writer = IndexWriter(place)
            try:
                await reader.index.store(writer, coverage.entry_count)
                await projector.store(writer, coverage.entry_count)
                # Damage that came meanwhile has settled the tree anew: a part of it would be of the one before.
                if projector.can_be_stored and projector.tree.parents is parents:
                    await writer.publish(coverage, small)
                    self.covered = coverage.end
            finally:
                writer.close()
            if not beside:
                await run_in_thread(prune_cache)
        except (OSError, RecursionError, ValueError, SessionRewrittenError) as error:
            log_event("warning", "index.not_written", session=str(self._store.path), error=str(error))
