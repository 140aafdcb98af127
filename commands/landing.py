"""The last step of a flow: entries and leaf go over together, and then the hooks are told (design D4, D8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from ..eventstore.abort import AbortSignal
from ..eventstore.cancellation import carry_out
from ..eventstore.errors import SessionTreeError
from .drafts import Draft
from .session_manager import SessionManager

T = TypeVar("T")


async def land(
    session: SessionManager,
    wanted: Sequence[Draft],
    parent_id: str | None,
    then: Callable[[str], Coroutine[Any, Any, T]],
    *,
    entry_id: str | None = None,
    signal: AbortSignal,
) -> T:
    """Append drafts as a chain below a parent, move the leaf on them, and return what `then` gives for that leaf.

    `entry_id`: of the first, by default a new one. Aborted or cancelled before the writer took them, or failed:
    nothing is written, and the leaf is where it was. From then on an abort comes too late, `then` is carried out,
    and only after that a cancellation is raised. Raises what an append raises, and `AbortError`.
    """
    log = session._log
    append = session._submit(wanted, parent_id, entry_id, fallback_id=session.leaf_id)
    failure: asyncio.CancelledError | SessionTreeError | None = None
    try:
        await log.wait(append, signal)
    except (asyncio.CancelledError, SessionTreeError) as error:
        failure = error
    recorded = [entry.entry_id for entry in append.entries if log.projector.tree.find(entry.entry_id)]
    if failure is not None and not recorded:
        raise failure
    result = await carry_out(then(recorded[-1]))
    if failure is not None:
        raise failure
    return result
