"""`/branch`: a new session file from a user message on (N-70..N-82)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from msgspec import Struct

from ..eventstore.abort import AbortSignal
from ..eventstore.cancellation import carry_out
from ..eventstore.entries import MessageEntry, SessionEntry
from ..eventstore.errors import EntryNotFoundError, LeafMovedError, NotAUserMessageError
from ..projections.context import SessionContext
from .hook_events import SessionBeforeBranchEvent, SessionBeforeBranchResult, SessionBranchEvent
from .navigation_target import Prefill, prefill
from .session_manager import SessionManager

if TYPE_CHECKING:
    from .agent_session import AgentSession

BRANCHING = "a branch"


class BranchResult(Struct, frozen=True):
    """`selected_text` and `selected_images`: of the message that was branched at, to be written anew.

    `cancelled`: by a hook; then nothing has changed.
    """

    selected_text: str
    selected_images: list[dict[str, Any]] | None = None
    cancelled: bool = False


class UserMessage(Struct, frozen=True):
    """A message that a session can be branched at, with its text."""

    entry_id: str
    text: str


async def user_messages(session: SessionManager, signal: AbortSignal | None = None) -> list[UserMessage]:
    """Return the user messages of all branches in file order, those without text left out (N-79)."""
    ids = [entry_id for entry_id in session.entry_ids() if session.shape(entry_id).role == "user"]
    entries = await session.get_entries(ids, signal=signal)
    messages = [(entry.id, prefill(entry.message.get("content")).text) for entry in entries if _is_user(entry)]
    return [UserMessage(entry_id, text) for entry_id, text in messages if text]


def _is_user(entry: SessionEntry | None) -> TypeGuard[MessageEntry]:
    return isinstance(entry, MessageEntry) and entry.role == "user"


class Branching:
    """One branch at a user message."""

    def __init__(self, agent: AgentSession, entry_id: str) -> None:
        self._agent = agent
        self._entry_id = entry_id
        self._log = agent.session._log

    async def run(self, signal: AbortSignal | None) -> BranchResult:
        """Branch; see `AgentSession.branch`."""
        session = self._agent.session
        session._check_writing()
        with session._operating(BRANCHING, signal) as operation:
            selected = await self._selected(operation.signal)
            event = SessionBeforeBranchEvent(self._entry_id)
            answer = await self._agent.hooks.ask(event, SessionBeforeBranchResult, operation.signal)
            if answer is not None and answer.cancel:
                return BranchResult(selected.text, selected.images, cancelled=True)
            keeps = answer is not None and answer.skip_conversation_restore
            kept = await operation.signal.run(self._agent.get_context()) if keeps else None
            await self._switch(kept, operation.signal)
            return BranchResult(selected.text, selected.images)

    async def _selected(self, signal: AbortSignal) -> Prefill:
        entry = await signal.run(self._agent.session.get_entry(self._entry_id))
        if entry is None:
            raise EntryNotFoundError(self._entry_id)
        if not _is_user(entry):
            raise NotAUserMessageError(self._entry_id)
        return prefill(entry.message.get("content"))

    async def _switch(self, kept: SessionContext | None, signal: AbortSignal) -> None:
        """Go on in the new file; from there on the hooks are told, whatever is cancelled."""
        agent, session, old_log = self._agent, self._agent.session, self._log
        if session._log is not old_log:
            raise LeafMovedError(self._entry_id, session.leaf_id)
        await old_log.drain(signal)
        previous_file = session.session_file
        parent_id = session.shape(self._entry_id).parent_id
        try:
            if parent_id is None:
                await session.new_session(previous_file, keep_name=True)
            else:
                await session.create_branched_session(parent_id, signal)
        finally:
            if session._log is not old_log:
                if kept is not None:
                    agent._keep_context(kept)
                await carry_out(agent.hooks.tell(SessionBranchEvent(previous_file)))
