"""Navigation within a session: leave a branch, with or without a summary, for another entry (N-01..N-39)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..eventstore.abort import AbortSignal
from ..eventstore.entries import BranchSummaryEntry, SessionEntry
from ..eventstore.errors import AbortError, EntryNotFoundError, LeafMovedError
from ..eventstore.turns import in_turns
from . import drafts
from .drafts import Draft
from .hook_events import SessionBeforeTreeEvent, SessionBeforeTreeResult, SessionTreeEvent, TreePreparation
from .landing import land
from .navigation_target import NavigationTarget, navigation_target
from .session_manager import SessionManager
from .summaries.branch_summary import (
    branch_budget,
    branch_material,
    branch_summary_request,
    branch_summary_result,
)
from .summaries.summarizer import make_summary
from .summaries.transcript import transcript, transcript_parts

if TYPE_CHECKING:
    from .agent_session import AgentSession

NAVIGATION = "a navigation"


class NavigateResult(Struct, frozen=True):
    """What came of a navigation.

    `editor_text` and `editor_images`: what to write anew, None unless a user or custom message was selected.
    `cancelled`: by a hook or, with `aborted`, by the signal; then nothing has changed.
    """

    editor_text: str | None = None
    editor_images: list[dict[str, Any]] | None = None
    cancelled: bool = False
    aborted: bool = False
    summary_entry: BranchSummaryEntry | None = None


class CollectedEntries(Struct, frozen=True):
    """What is left behind by a navigation, oldest first, and the deepest entry that is on both paths."""

    entries: list[SessionEntry]
    common_ancestor_id: str | None


async def collect_entries_for_branch_summary(
    session: SessionManager, old_leaf_id: str | None, target_id: str, *, signal: AbortSignal | None = None
) -> CollectedEntries:
    """Return the entries that are left on the way from a leaf to a target (N-40..N-47).

    All types, compactions too; costs the two ways to the common ancestor. Raises `AbortError`.
    """
    path = session.abandoned_path(old_leaf_id, target_id)
    return CollectedEntries(await session.get_entries(path.entry_ids, signal=signal), path.common_ancestor_id)


class _Summary(Struct, frozen=True):
    text: str
    details: Any
    from_extension: bool


class Navigation:
    """One navigation to a target."""

    def __init__(
        self,
        agent: AgentSession,
        target_id: str,
        *,
        summarize: bool,
        custom_instructions: str | None,
        replace_instructions: bool,
        label: str | None,
    ) -> None:
        self._agent = agent
        self._session = agent.session
        self._log = agent.session._log
        self._target_id = target_id
        self._summarize = summarize
        self._custom_instructions = custom_instructions
        self._replace_instructions = replace_instructions
        self._label = label or None

    async def run(self, signal: AbortSignal | None) -> NavigateResult:
        """Navigate; see `AgentSession.navigate_tree`."""
        session, target_id = self._session, self._target_id
        self._log.check_usable()
        if not isinstance(target_id, str) or not self._log.knows(target_id):
            raise EntryNotFoundError(target_id)
        if target_id == session.leaf_id:
            return NavigateResult()
        if self._summarize:
            self._agent.need_summarizer()
        if self._label is not None:
            drafts.label(target_id, self._label)  # what is no label is refused before anything is asked
        if self._summarize or self._label is not None:
            session._check_writing()
        with session._operating(NAVIGATION, signal) as operation:
            try:
                return await self._navigate(operation.signal)
            except AbortError:
                return NavigateResult(cancelled=True, aborted=True)

    async def _navigate(self, signal: AbortSignal) -> NavigateResult:
        session, hooks = self._session, self._agent.hooks
        old_leaf_id, entry = await signal.run(self._from_where_to_where())
        if old_leaf_id == entry.id:  # the leaf was on its way, and fell back
            return NavigateResult()
        target = navigation_target(entry, session.shape(entry.id).parent_id)
        asks = hooks.has_handlers(SessionBeforeTreeEvent.type)
        entries: list[SessionEntry] = []
        answer = None
        if asks or self._summarize:
            collected = await collect_entries_for_branch_summary(session, old_leaf_id, entry.id, signal=signal)
            entries = collected.entries
            preparation = TreePreparation(
                target_id=entry.id,
                old_leaf_id=old_leaf_id,
                common_ancestor_id=collected.common_ancestor_id,
                entries_to_summarize=list(entries),
                user_wants_summary=self._summarize,
                custom_instructions=self._custom_instructions,
                replace_instructions=self._replace_instructions,
                label=self._label,
            )
            answer = await hooks.ask(SessionBeforeTreeEvent(preparation, signal), SessionBeforeTreeResult, signal)
        if answer is not None and answer.cancel:
            return NavigateResult(cancelled=True)
        summary = None
        if self._summarize and answer is not None and answer.summary is not None:
            supplied = answer.summary
            summary = _Summary(supplied.summary, supplied.details, True) if supplied.summary.strip() else None
        elif self._summarize:
            summary = await self._summarized(entries, signal)
        signal.raise_if_aborted()
        return await self._land(old_leaf_id, target, summary, signal)

    async def _from_where_to_where(self) -> tuple[str | None, SessionEntry]:
        """Return the leaf and the target as they are recorded; either may be on its way."""
        old_leaf_id = await self._session.recorded_leaf()
        entry = await self._session.get_entry(self._target_id)
        if entry is None:
            raise EntryNotFoundError(self._target_id)
        return old_leaf_id, entry

    async def _summarized(self, entries: list[SessionEntry], signal: AbortSignal) -> _Summary | None:
        """Have the abandoned branch summarized; None where nobody said anything on it (N-66 as settled)."""
        agent = self._agent
        settings = agent.settings
        budget = branch_budget(agent.context_window, settings.branch_summary)
        material = branch_material(entries, budget, settings.estimate_tokens)
        said = transcript(await in_turns(transcript_parts(material.messages), signal))
        request = branch_summary_request(
            material, said, settings.prompts, self._custom_instructions, self._replace_instructions
        )
        if request is None:
            return None
        result = await make_summary(agent.need_summarizer(), request, signal)
        text, details = branch_summary_result(material, settings.prompts, result)
        return _Summary(text, details, False)

    async def _land(
        self, old_leaf_id: str | None, target: NavigationTarget, summary: _Summary | None, signal: AbortSignal
    ) -> NavigateResult:
        """Move the leaf, in one step with the hand-over of what is written; then tell the hooks."""
        session, log = self._session, self._log
        if session._log is not log or session.leaf_id != old_leaf_id:
            raise LeafMovedError(old_leaf_id, session.leaf_id)
        log.check_usable()
        for entry_id in (self._target_id, target.leaf_id):
            if entry_id is not None and not log.knows(entry_id):  # another program has rewritten the file
                raise EntryNotFoundError(entry_id)
        summary_id = log.new_id() if summary is not None else None
        wanted: list[Draft] = []
        if summary is not None:
            wanted.append(drafts.branch_summary(target.leaf_id, summary.text, summary.details, summary.from_extension))
        if self._label is not None:
            wanted.append(drafts.label(summary_id or self._target_id, self._label))

        async def tell(new_leaf_id: str | None, recorded: list[SessionEntry]) -> NavigateResult:
            entry = recorded[0] if summary is not None else None
            event = SessionTreeEvent(new_leaf_id, old_leaf_id)
            if isinstance(entry, BranchSummaryEntry) and summary is not None:
                event = SessionTreeEvent(new_leaf_id, old_leaf_id, entry, summary.from_extension)
            await self._agent.hooks.tell(event)
            return NavigateResult(target.editor_text, target.editor_images, summary_entry=event.summary_entry)

        return await land(session, wanted, target.leaf_id, tell, entry_id=summary_id, signal=signal)
