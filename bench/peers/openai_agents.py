"""openai-agents: `AdvancedSQLiteSession`, whose branches are copies of rows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agents.extensions.memory.advanced_sqlite_session import AdvancedSQLiteSession

from bench.figures import Figures
from bench.peers.work import Mark, Message, do_work


class _OpenAIAgents:
    def __init__(self, session: AdvancedSQLiteSession) -> None:
        self._session = session
        self._turn = 1

    async def append(self, message: Message) -> Mark:
        await self._session.add_items([message])
        self._turn += message["role"] == "user"
        return self._turn

    async def load(self) -> int:
        return len(await self._session.get_items())

    async def branch(self, mark: Mark) -> None:
        await self._session.create_branch_from_turn(int(mark))

    async def list_branches(self) -> int:
        return len(await self._session.list_branches())


@asynccontextmanager
async def _open(directory: Path) -> AsyncIterator[_OpenAIAgents]:
    session = AdvancedSQLiteSession(session_id="bench", db_path=directory / "session.db", create_tables=True)
    try:
        yield _OpenAIAgents(session)
    finally:
        session.close()


async def work(messages: int) -> Figures:
    """Figures as in `do_work`."""
    return await do_work(_open, messages)
