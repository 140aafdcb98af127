"""The automatic check: is the context too long, and then a compaction (K-70..K-76)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType

from ..eventstore.abort import AbortSignal
from ..eventstore.cancellation import carry_out
from ..eventstore.entries import CompactionEntry, MessageEntry
from ..eventstore.errors import (
    CompactionCancelledError,
    NoSummarizerError,
    NothingToCompactError,
    SessionTreeError,
)
from ..eventstore.timestamps import instant_ms
from ..eventstore.turns import in_turns
from .compaction import COMPACTION, Compaction, compaction_window
from .context_overflow import is_context_overflow
from .hook_events import (
    AutoCompactionEndEvent,
    AutoCompactionStartEvent,
    CompactionReason,
    CompactionResult,
)
from .summaries.compaction_preparation import CompactionWindow, measured_context
from .summaries.token_estimate import last_usage

if TYPE_CHECKING:
    from .agent_session import AgentSession

_FAILURES = {
    "overflow": "Context overflow recovery failed",
    "threshold": "Auto-compaction failed",
}


class AutoCompactionResult(Struct, frozen=True):
    """What came of the automatic check.

    `result` is None where nothing was compacted: `aborted`, or `error_message` says why, or nobody could.
    `will_retry`: the answer that failed by overflow is not in the context, and its turn is worth another try.
    """

    reason: CompactionReason
    result: CompactionResult | None = None
    aborted: bool = False
    will_retry: bool = False
    error_message: str | None = None


class AutoCompaction:
    """Checks a session after each turn and before each prompt; recovers from an overflow once in a turn."""

    def __init__(self, agent: AgentSession) -> None:
        self._agent = agent
        self._recovered_turn: str | UnsetType | None = UNSET

    async def run(self, before_prompt: bool, signal: AbortSignal | None) -> AutoCompactionResult | None:
        """Check, and compact where it is due; see `AgentSession.maybe_compact`."""
        agent = self._agent
        if agent.model is None or not agent.settings.compaction.is_automatic:
            return None
        with agent.session._operating(COMPACTION, signal) as operation:
            leaf_id = await operation.signal.run(agent.session.recorded_leaf())
            window = await compaction_window(agent.session._log, leaf_id, operation.signal)
            reason = await self._reason(window, before_prompt, operation.signal)
            return await self._told(reason, window, operation.signal) if reason is not None else None

    async def _told(
        self, reason: CompactionReason, window: CompactionWindow, signal: AbortSignal
    ) -> AutoCompactionResult:
        """Compact between the two events."""
        hooks, compaction = self._agent.hooks, Compaction(self._agent)
        try:
            await hooks.tell(AutoCompactionStartEvent(reason))
            done = await self._compact(compaction, reason, window, signal)
        except asyncio.CancelledError:
            done = AutoCompactionResult(reason, compaction.result, aborted=compaction.result is None)
            raise
        except BaseException as error:
            done = AutoCompactionResult(reason, error_message=_failure(reason, error))
            raise
        finally:
            end = AutoCompactionEndEvent(done.result, done.aborted, done.will_retry, done.error_message)
            await carry_out(hooks.tell(end))
        return done

    async def _reason(
        self, window: CompactionWindow, before_prompt: bool, signal: AbortSignal
    ) -> CompactionReason | None:
        agent, settings = self._agent, self._agent.settings
        last = _last_answer(window)
        if last is None:
            return None
        stop_reason = last.message.get("stopReason")
        if stop_reason == "aborted" and not before_prompt:
            return None
        if self._is_of_the_model(last) and is_context_overflow(last.message, agent.context_window):
            return "overflow"
        if stop_reason == "error" and last_usage(window.after) is None:
            return None
        told, messages = measured_context(window)
        size = told + sum(await in_turns(map(settings.estimate_tokens, messages), signal))
        return "threshold" if settings.compaction.is_due(size, agent.context_window) else None

    def _is_of_the_model(self, entry: MessageEntry) -> bool:
        model = self._agent.model
        told = entry.message.get("provider"), entry.message.get("model")
        return model is not None and told == (model.provider, model.id)

    async def _compact(
        self, compaction: Compaction, reason: CompactionReason, window: CompactionWindow, signal: AbortSignal
    ) -> AutoCompactionResult:
        turn = self._turn()
        if reason == "overflow" and turn == self._recovered_turn:
            return AutoCompactionResult(
                reason, error_message=_failure(reason, "the context was compacted already in this turn")
            )
        try:
            result = await compaction.compact(signal)
        except (NoSummarizerError, NothingToCompactError):
            return AutoCompactionResult(reason)
        except CompactionCancelledError:
            return AutoCompactionResult(reason, aborted=True)
        except SessionTreeError as error:
            return AutoCompactionResult(reason, error_message=_failure(reason, error))
        if reason == "overflow":
            self._recovered_turn = turn
        last = _last_answer(window)
        failed = last is not None and last.message.get("stopReason") == "error"
        return AutoCompactionResult(reason, result, will_retry=reason == "overflow" and failed)

    def _turn(self) -> str | None:
        """Return the entry that began the turn: the newest user or custom message on the path."""
        session = self._agent.session
        tree = session._log.projector.tree
        for seq in tree.ancestors(session._log.nearest_recorded(session.leaf_id)):
            kind = tree.kind(seq)
            if kind.role == "user" or kind.type == "custom_message":
                return tree.ids[seq]
        return None


def _failure(reason: CompactionReason, error: BaseException | str) -> str:
    return f"{_FAILURES[reason]}: {error}"


def _last_answer(window: CompactionWindow) -> MessageEntry | None:
    """Return the newest assistant message since the compaction, if it was made since (K-72)."""
    for entry in reversed(window.after):
        if isinstance(entry, MessageEntry) and entry.role == "assistant":
            made, compacted = instant_ms(entry.message.get("timestamp")), _instant(window.previous)
            return None if made is not None and compacted is not None and made < compacted else entry
    return None


def _instant(entry: CompactionEntry | None) -> float | None:
    return instant_ms(entry.timestamp) if entry is not None else None
