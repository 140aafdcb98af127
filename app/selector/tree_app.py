"""The tree selector alone, as `sessiontree tree -i` shows it."""

from __future__ import annotations

from ...commands.session_manager import SessionManager
from ..tree_filter import FilterMode
from ..ui_app import UiApp
from .tree_screen import TreeChoice, TreeSelector


class TreeApp(UiApp[str]):
    """Ends with the id of the entry that was chosen, or None."""

    def __init__(self, session: SessionManager, mode: FilterMode, query: str) -> None:
        super().__init__()
        self._session = session
        self._mode = mode
        self._query = query

    def on_mount(self) -> None:
        """Show the selector."""
        self.push_screen(TreeSelector(self._session, mode=self._mode, query=self._query), self._chosen)

    def _chosen(self, choice: TreeChoice | None) -> None:
        self.exit(choice.entry_id if choice is not None else None)


async def choose_entry(session: SessionManager, mode: FilterMode, query: str) -> str | None:
    """Let a person choose an entry of a session."""
    return await TreeApp(session, mode, query).run_async()
