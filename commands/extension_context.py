"""What a command of an extension may do to a session (N-38, N-81)."""

from __future__ import annotations

from msgspec import Struct

from .agent_session import AgentSession


class CommandResult(Struct, frozen=True):
    """Whether a hook or an abort kept the command from being carried out."""

    cancelled: bool


class ExtensionCommandContext:
    """Handed to the commands of extensions: they move in the session, and hear only whether it was cancelled."""

    def __init__(self, agent: AgentSession) -> None:
        self._agent = agent

    async def branch(self, entry_id: str) -> CommandResult:
        """Go on in a new file from a user message on; raises as `AgentSession.branch`."""
        return CommandResult((await self._agent.branch(entry_id)).cancelled)

    async def navigate_tree(self, target_id: str, summarize: bool = False) -> CommandResult:
        """Move the leaf to an entry; raises as `AgentSession.navigate_tree`."""
        return CommandResult((await self._agent.navigate_tree(target_id, summarize=summarize)).cancelled)
