"""The list of sessions with their names and counts, scanned once and then remembered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from ..eventstore.abort import AbortSignal
from ..eventstore.catalogue import SessionInfo, catalogue
from ..eventstore.catalogue_cache import CatalogueCache
from ..eventstore.directories import PathLike, default_sessions_dir
from ..eventstore.errors import AbortError, SessionTreeError
from ..eventstore.jsonl_store import JsonlEventStore
from ..eventstore.log import log_event
from ..eventstore.turns import Turns
from .projector import Projector
from .tree import Tree

Progress = Callable[[int, int], None]

_STEP = 1000


async def list_sessions(
    sessions_dir: PathLike | None = None,
    *,
    cwd: PathLike | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
    signal: AbortSignal | None = None,
) -> list[SessionInfo]:
    """Return the sessions of a directory, newest activity first; files that are no sessions come last.

    The first `limit` are scanned for name and counts, all by default. What was scanned is remembered in the
    user's cache directory while a file's size, time and inode stay the same. `progress(done, of)` counts
    files. Raises `SessionFileError`, `AbortError`.
    """
    directory = Path(sessions_dir if sessions_dir is not None else default_sessions_dir()).absolute()
    cache = CatalogueCache(directory)
    known = await cache.load()
    infos = await catalogue(directory, cwd=cwd, known=known, progress=progress, signal=signal)
    for number, info in enumerate(infos[:limit]):
        if info.fault is None and info.message_count is None:
            infos[number] = await count(info, signal)
            if progress is not None:
                progress(number + 1, len(infos[:limit]))
    fresh = {info.path: info for info in infos}
    if any(known.get(path) != info for path, info in fresh.items()):
        await _remember(cache, fresh if cwd is None else {**known, **fresh})
    return infos


async def _remember(cache: CatalogueCache, infos: dict[Path, SessionInfo]) -> None:
    try:
        await cache.save(infos.values())
    except (OSError, ValueError) as error:
        # A list without a cache is slower, and right all the same.
        log_event("warning", "catalogue.not_cached", path=str(cache.path), error=str(error))


async def count(info: SessionInfo, signal: AbortSignal | None = None) -> SessionInfo:
    """Scan one session for its name and counts; a file that cannot be read any more gets a fault."""
    try:
        store = await JsonlEventStore.open(info.path)
        try:
            projector = Projector(store)
            await projector.catch_up(signal)
        finally:
            await store.close()
    except AbortError:
        raise
    except SessionTreeError as error:
        return msgspec.structs.replace(info, fault=str(error))
    messages, branches = await _count_entries(projector.tree, signal)
    return msgspec.structs.replace(
        info,
        name=projector.name.name,
        message_count=messages,
        branch_count=branches,
        fault_count=len(projector.report().faults),
    )


async def _count_entries(tree: Tree, signal: AbortSignal | None) -> tuple[int, int]:
    """Return how many messages there are, and how many entries without children."""
    messages = branches = 0
    turns = Turns(signal)
    for number, seq in enumerate(tree.live()):
        messages += tree.kind(seq).type == "message"
        branches += not tree.children(seq)
        if number % _STEP == 0 and turns.over:
            await turns.next()
    return messages, branches
