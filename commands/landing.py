"""The last step of a flow: entries and leaf go over together, and then the hooks are told (design D4, D8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from ..eventstore.abort import AbortSignal
from ..eventstore.cancellation import carry_out
from ..eventstore.entries import SessionEntry, decode_entry
from ..eventstore.errors import SessionTreeError
from .drafts import Draft
from .session_events import LeafMoved
from .session_manager import SessionManager

T = TypeVar("T")


async def land(
    session: SessionManager,
    wanted: Sequence[Draft],
    parent_id: str | None,
    then: Callable[[str | None, list[SessionEntry]], Coroutine[Any, Any, T]],
    *,
    entry_id: str | None = None,
    signal: AbortSignal,
) -> T:
    """Move the leaf to a parent and on the drafts that are appended there.

    Returns what `then` gives for the new leaf and the entries that were recorded; it needs no session for them,
    which may be closed by then. `entry_id`: of the first draft, by default a new one.

    Aborted or cancelled before the writer took the drafts, or failed: nothing is written, and the leaf is where it
    was. From then on an abort comes too late, `then` is carried out, and only after that a cancellation is raised.
    Raises what an append raises, and `AbortError`.
    """
    log, old_leaf_id = session._log, session.leaf_id
    if not wanted:
        session._move_to(parent_id)
        return await carry_out(then(parent_id, []))
    append = session._submit(wanted, parent_id, entry_id)
    failure: asyncio.CancelledError | SessionTreeError | None = None
    try:
        await log.wait(append, signal)
    except (asyncio.CancelledError, SessionTreeError) as error:
        failure = error
    recorded = [decode_entry(entry.line) for entry in append.entries if log.projector.tree.find(entry.entry_id)]
    if failure is not None and not recorded:
        raise failure
    if parent_id != old_leaf_id:
        log.observers.tell(LeafMoved(*log.identity, old_leaf_id=old_leaf_id, new_leaf_id=recorded[-1].id))
    result = await carry_out(then(recorded[-1].id, recorded))
    if failure is not None:
        raise failure
    return result
