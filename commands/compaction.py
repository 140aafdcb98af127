"""Compaction: the older part of a path makes way for its summary (K-60..K-69)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from ..eventstore.abort import AbortSignal
from ..eventstore.cancellation import carry_out
from ..eventstore.entries import CompactionEntry, MessageEntry, SessionEntry
from ..eventstore.errors import (
    AbortError,
    CompactionCancelledError,
    LeafMovedError,
    NothingToCompactError,
)
from ..eventstore.turns import in_turns
from ..projections.context import Message, path_window
from . import drafts
from .hook_events import (
    CompactionContent,
    CompactionResult,
    SessionBeforeCompactEvent,
    SessionBeforeCompactResult,
    SessionCompactEvent,
    SessionCompactingEvent,
    SessionCompactingResult,
)
from .landing import land
from .session_log import SessionLog
from .summaries.compaction_preparation import CompactionPreparation, CompactionWindow, prepare_compaction
from .summaries.compaction_summary import compaction_requests, compaction_result
from .summaries.summarizer import Summarizer, SummaryRequest, SummaryResult, make_summary
from .summaries.token_estimate import Estimate
from .summaries.transcript import transcript, transcript_parts

if TYPE_CHECKING:
    from .agent_session import AgentSession

COMPACTION = "a compaction"


async def compaction_window(
    log: SessionLog, leaf_id: str | None, signal: AbortSignal | None = None
) -> CompactionWindow:
    """Read the entries that the context of a leaf is made of; costs what is in it."""

    async def read() -> CompactionWindow:
        projector = log.projector
        window = path_window(projector.tree, projector.states, log.leaf_seq(leaf_id))
        leading = [window.compaction] if window.compaction else []
        entries = await log.entries([*leading, *window.kept, *window.after], signal)
        start = len(leading)
        middle = start + len(window.kept)
        previous = entries[0] if leading else None
        assert previous is None or isinstance(previous, CompactionEntry)
        return CompactionWindow(previous, entries[start:middle], entries[middle:])

    return await log.reading(read)


async def known_estimates(window: CompactionWindow, estimate: Estimate, signal: AbortSignal) -> Estimate:
    """Estimate the messages of a window, in turns; return an estimate that knows them."""
    messages = [entry.message for entry in window.entries if isinstance(entry, MessageEntry)]
    sizes = dict(zip(map(id, messages), await in_turns(map(estimate, messages), signal), strict=True))

    def known(message: Message) -> int:
        size = sizes.get(id(message))
        return size if size is not None else estimate(message)

    return known


class Compaction:
    """One compaction of the current path."""

    def __init__(self, agent: AgentSession, custom_instructions: str | None = None) -> None:
        self._agent = agent
        self._session = agent.session
        self._log = agent.session._log
        self._custom_instructions = custom_instructions
        self.result: CompactionResult | None = None
        """What was made: known before the hooks are told, and whatever is cancelled then."""

    async def run(self, signal: AbortSignal | None) -> CompactionResult:
        """Compact; see `AgentSession.compact`."""
        with self._session._operating(COMPACTION, signal) as operation:
            return await self.compact(operation.signal)

    async def compact(self, signal: AbortSignal) -> CompactionResult:
        """Compact, within an operation that the caller has begun."""
        try:
            return await self._compact(signal)
        except CompactionCancelledError:
            raise
        except AbortError as error:
            raise CompactionCancelledError(error.reason, aborted=True) from error

    async def _compact(self, signal: AbortSignal) -> CompactionResult:
        agent = self._agent
        self._session._check_writing()
        summarizer = agent.need_summarizer()
        leaf_id = await signal.run(self._session.recorded_leaf())
        window = await compaction_window(self._log, leaf_id, signal)
        estimate = await known_estimates(window, agent.settings.estimate_tokens, signal)
        preparation = prepare_compaction(window, agent.settings.compaction, estimate)
        if preparation is None:
            done = window.previous is not None and not window.after
            raise NothingToCompactError(
                "already compacted" if done else "nothing to compact: the session is too small"
            )
        supplied = await self._supplied(preparation, leaf_id, signal)
        compaction = supplied or await self._summarized(summarizer, preparation, signal)
        return await self._land(leaf_id, compaction, supplied is not None, signal)

    async def _supplied(
        self, preparation: CompactionPreparation, leaf_id: str | None, signal: AbortSignal
    ) -> CompactionContent | None:
        """Return the compaction that a hook made, None without one (K-63)."""
        hooks = self._agent.hooks
        if not hooks.has_handlers(SessionBeforeCompactEvent.type):
            return None
        branch = await self._session.get_branch(leaf_id, signal=signal)
        event = SessionBeforeCompactEvent(preparation.copy(), list(branch), self._custom_instructions, signal)
        answer = await hooks.ask(event, SessionBeforeCompactResult, signal)
        if answer is None:
            return None
        if answer.cancel:
            raise CompactionCancelledError("by a hook", aborted=False)
        supplied = answer.compaction
        if supplied is None or not supplied.summary.strip():
            return None
        if not any(entry.id == supplied.first_kept_entry_id for entry in branch):
            fault = ValueError(f"first kept entry {supplied.first_kept_entry_id} is not on the path: nothing is kept")
            hooks.report(event.type, "compaction", fault)
        return supplied

    async def _summarized(
        self, summarizer: Summarizer, preparation: CompactionPreparation, signal: AbortSignal
    ) -> CompactionContent:
        """Have the summaries made (K-64, K-65)."""
        agent = self._agent
        messages = [*preparation.messages_to_summarize, *preparation.turn_prefix_messages]
        event = SessionCompactingEvent(self._session.session_id, messages)
        told = await agent.hooks.ask(event, SessionCompactingResult, signal) or SessionCompactingResult()
        history_said = transcript(await in_turns(transcript_parts(preparation.messages_to_summarize), signal))
        turn_prefix_said = transcript(await in_turns(transcript_parts(preparation.turn_prefix_messages), signal))
        requests = compaction_requests(
            preparation,
            history_said,
            turn_prefix_said,
            agent.settings.prompts,
            context_window=agent.context_window,
            custom_instructions=self._custom_instructions,
            context=told.context or (),
            prompt_override=told.prompt,
        )
        if requests.history is None and requests.turn_prefix is None:
            raise NothingToCompactError("nothing to compact: what would go says nothing that can be summarized")
        history, prefix = await _answers(summarizer, requests.history, requests.turn_prefix, signal)
        summary, details = compaction_result(preparation, requests, history, prefix)
        return CompactionContent(
            summary,
            preparation.first_kept_entry_id,
            preparation.tokens_before,
            details,
            preserve_data=told.preserve_data,
        )

    async def _land(
        self, leaf_id: str | None, compaction: CompactionContent, from_extension: bool, signal: AbortSignal
    ) -> CompactionResult:
        """Append the compaction where the leaf is now: the prepared one, or an entry below it; tell the hooks."""
        session, log = self._session, self._log
        if session._log is not log or not log.is_at_or_below(session.leaf_id, leaf_id):
            raise LeafMovedError(leaf_id, session.leaf_id)
        draft = drafts.compaction(
            compaction.summary,
            compaction.first_kept_entry_id,
            compaction.tokens_before,
            compaction.details,
            from_extension,
            compaction.short_summary,
            compaction.preserve_data,
        )

        async def tell(_leaf_id: str | None, recorded: list[SessionEntry]) -> CompactionResult:
            [entry] = recorded
            assert isinstance(entry, CompactionEntry)
            result = self.result = CompactionResult(
                **asdict(compaction), entry_id=entry.id, from_extension=from_extension
            )
            await self._agent.hooks.tell(SessionCompactEvent(entry, from_extension))
            return result

        return await land(session, [draft], session.leaf_id, tell, signal=signal)


async def _answers(
    summarizer: Summarizer, history: SummaryRequest | None, prefix: SummaryRequest | None, signal: AbortSignal
) -> tuple[SummaryResult | None, SummaryResult | None]:
    """Ask for both at once (K-53); when one fails the other is cancelled."""

    async def answer(request: SummaryRequest | None) -> SummaryResult | None:
        return await make_summary(summarizer, request, signal) if request is not None else None

    tasks = [asyncio.ensure_future(answer(history)), asyncio.ensure_future(answer(prefix))]
    try:
        first, second = await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await carry_out(asyncio.wait(tasks))
        raise
    return first, second
