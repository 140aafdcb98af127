"""A session file opened to be looked at: its store and projections, without a writing side."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from ..eventstore.errors import EntryNotFoundError
from ..eventstore.header import make_header
from ..eventstore.jsonl_store import JsonlEventStore
from ..projections.projector import Projector
from ..projections.tree import ROOT


class StoredSession(NamedTuple):
    """A store and what its entries amount to."""

    store: JsonlEventStore
    projector: Projector

    def leaf(self, leaf_id: str | None) -> int:
        """Return the number of a leaf, by default the last entry (T-30). Raises `EntryNotFoundError`."""
        tree = self.projector.tree
        if leaf_id is None:
            return tree.last_seq or ROOT
        if not (seq := tree.find(leaf_id)):
            raise EntryNotFoundError(leaf_id)
        return seq


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[StoredSession]:
    """Open a file and fold its entries; no lock is taken and nothing is written.

    Raises `SessionNotFoundError`, `NotASessionError`, `SessionFileError`.
    """
    store = await JsonlEventStore.open(path, header_of_new=lambda: make_header("", "", ""))
    try:
        projector = Projector(store)
        await projector.catch_up()
        yield StoredSession(store, projector)
    finally:
        await store.close()
