"""sessiontree itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.figures import Figures
from bench.peers.work import Mark, Message, do_work
from sessiontree import SessionManager


class _Own:
    def __init__(self, session: SessionManager) -> None:
        self._session = session

    async def append(self, message: Message) -> Mark:
        return await self._session.append_message(message)

    async def load(self) -> int:
        return len((await self._session.build_session_context()).messages)

    async def branch(self, mark: Mark) -> None:
        self._session.branch(str(mark))

    async def list_branches(self) -> int:
        session = self._session
        return sum(not session.child_ids(entry_id) for entry_id in session.entry_ids())


@asynccontextmanager
async def _open(directory: Path) -> AsyncIterator[_Own]:
    files = list(directory.glob("*.jsonl"))
    opening = SessionManager.open(files[0]) if files else SessionManager.create(sessions_dir=directory)
    async with await opening as session:
        yield _Own(session)


async def work(messages: int) -> Figures:
    """Figures as in `do_work`."""
    return await do_work(_open, messages)
