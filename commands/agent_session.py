"""The flows that an agent runtime drives: navigate, branch, compact; and the context of where it stands."""

from __future__ import annotations

from ..eventstore.abort import AbortSignal
from ..eventstore.errors import NoSummarizerError
from ..projections.context import SessionContext
from ..projections.projector import Projector
from .append_hooks import AppendHooks
from .auto_compaction import AutoCompaction, AutoCompactionResult
from .branching import Branching, BranchResult, UserMessage, user_messages
from .compaction import COMPACTION, Compaction
from .hook_events import CompactionResult
from .hooks import Hooks
from .navigation import NAVIGATION, NavigateResult, Navigation
from .session_manager import SessionManager
from .summaries.settings import AgentSettings, Model
from .summaries.summarizer import Summarizer

_Position = tuple[Projector, int, str | None]
"""What a context depends on: the log as it is folded so far, and the leaf."""


class AgentSession:
    """A session with what a runtime needs to move in it: a summarizer, the agent's model, hooks, settings.

    Without a summarizer, what needs a summary fails at once. One navigation, branch or compaction runs on a
    session at a time; another raises `SessionBusyError`. Appends and bare leaf moves are never refused: the
    operation that they overtake ends with `LeafMovedError` and writes nothing. The session stays its owner's.
    """

    def __init__(
        self,
        session: SessionManager,
        *,
        summarizer: Summarizer | None = None,
        model: Model | None = None,
        hooks: Hooks | None = None,
        settings: AgentSettings | None = None,
    ) -> None:
        self.session = session
        self.summarizer = summarizer
        self.model = model
        self.hooks = hooks if hooks is not None else Hooks()
        self.settings = settings if settings is not None else AgentSettings()
        self._auto_compaction = AutoCompaction(self)
        self._append_hooks = AppendHooks(session, self.hooks)
        self._context: tuple[_Position, SessionContext] | None = None

    @property
    def context_window(self) -> int:
        """The model's context window in tokens, 0 where it is not known."""
        return self.model.context_window if self.model is not None else 0

    def need_summarizer(self) -> Summarizer:
        """Return the summarizer. Raises `NoSummarizerError`."""
        if self.summarizer is None:
            raise NoSummarizerError
        return self.summarizer

    async def navigate_tree(
        self,
        target_id: str,
        *,
        summarize: bool = False,
        custom_instructions: str | None = None,
        replace_instructions: bool = False,
        label: str | None = None,
        signal: AbortSignal | None = None,
    ) -> NavigateResult:
        """Move the leaf to an entry in the same file, and leave a summary of the abandoned branch there (N-01..N-39).

        A user or custom message is selected to be written anew: the leaf is its parent then. `summarize`: the
        branch that is left is summarized below the new leaf. `custom_instructions` are a further focus for that,
        or with `replace_instructions` all that is asked. `label`: set on the summary, or else on the target.
        The current leaf is no target: nothing happens. Aborted, the result says so and nothing has changed.

        Raises `EntryNotFoundError`, `NoSummarizerError`, `SessionBusyError`, `SummaryError`, `LeafMovedError`, and
        what appends raise; then nothing has changed.
        """
        navigation = Navigation(
            self,
            target_id,
            summarize=summarize,
            custom_instructions=custom_instructions,
            replace_instructions=replace_instructions,
            label=label,
        )
        return await navigation.run(signal)

    def abort_branch_summary(self) -> None:
        """Abort the navigation that runs, if one does (N-39)."""
        self._abort(NAVIGATION)

    async def branch(self, entry_id: str, *, signal: AbortSignal | None = None) -> BranchResult:
        """Go on in a new file that ends before a user message, whose text is to be written anew (N-70..N-78).

        At a root message the new session is empty and has its file with the first append. The old file stays as
        it is. Raises `EntryNotFoundError`, `NotAUserMessageError`, `SessionBusyError`, `AbortError`, and what
        `SessionManager.create_branched_session` raises; then nothing has changed.
        """
        return await Branching(self, entry_id).run(signal)

    async def get_user_messages_for_branching(self, *, signal: AbortSignal | None = None) -> list[UserMessage]:
        """Return the user messages of all branches that have text, in file order (N-79). Raises `AbortError`."""
        return await user_messages(self.session, signal)

    async def compact(
        self, custom_instructions: str | None = None, *, signal: AbortSignal | None = None
    ) -> CompactionResult:
        """Append a compaction of the current path: a summary, and which entry is the first that is kept (K-60..K-69).

        `custom_instructions`: a further focus of the summary. Raises `NoSummarizerError`, `NothingToCompactError`,
        `SessionBusyError`, `CompactionCancelledError`, `SummaryError`, `LeafMovedError`, and what appends raise;
        then nothing has changed.
        """
        return await Compaction(self, custom_instructions).run(signal)

    async def maybe_compact(
        self, *, before_prompt: bool = False, signal: AbortSignal | None = None
    ) -> AutoCompactionResult | None:
        """Compact when the last answer overflowed the model's window, or the context is above the threshold.

        For after each turn, and `before_prompt`, when aborted answers count too (K-70..K-76). Needs a `model`.
        Returns None where nothing was due; a failure is told in the result, and not raised. Raises
        `SessionBusyError`, and `AbortError` before it is decided.
        """
        return await self._auto_compaction.run(before_prompt, signal)

    def abort_compaction(self) -> None:
        """Abort the compaction that runs, if one does, manual or automatic (K-76)."""
        self._abort(COMPACTION)

    async def get_context(self) -> SessionContext:
        """Return the context of the current leaf: built when asked for, and dropped when leaf or log move (N-33).

        The messages are shared and must not be changed.
        """
        position = self._position()
        if self._context is None or self._context[0] != position:
            # What moves while it is built is seen at the next call.
            self._context = position, await self.session.build_session_context()
        return self._context[1]

    def _keep_context(self, context: SessionContext) -> None:
        """Let a context stand for the current leaf, until leaf or log move (N-77)."""
        self._context = self._position(), context

    async def close(self) -> None:
        """Abort what runs, and return when the hooks have been told of every append. The session stays open."""
        self._abort()
        await self.session._log.drain()
        await self._append_hooks.drain()

    def _abort(self, name: str | None = None) -> None:
        """Abort what runs on the session, whoever began it; by default whatever it is."""
        operation = self.session._operation
        if operation is not None and name in (None, operation.name):
            operation.controller.abort()

    def _position(self) -> _Position:
        projector = self.session._log.projector
        return projector, projector.position, self.session.leaf_id
