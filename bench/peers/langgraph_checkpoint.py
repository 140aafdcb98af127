"""langgraph-checkpoint-sqlite: `AsyncSqliteSaver`, in which each checkpoint holds the whole list of messages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from bench.figures import Figures
from bench.peers.work import Mark, Message, do_work

_THREAD = {"thread_id": "bench", "checkpoint_ns": ""}


class _LangGraph:
    def __init__(self, saver: AsyncSqliteSaver) -> None:
        self._saver = saver
        self._leaf: dict[str, object] = {"configurable": _THREAD}
        self._messages: list[Message] = []

    async def append(self, message: Message) -> Mark:
        self._messages.append(message)
        version = len(self._messages)
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"messages": self._messages}
        checkpoint["channel_versions"] = {"messages": version}
        metadata = {"source": "loop", "step": version}
        self._leaf = await self._saver.aput(self._leaf, checkpoint, metadata, {"messages": version})
        return str(checkpoint["id"])

    async def load(self) -> int:
        found = await self._saver.aget_tuple(self._leaf)
        self._leaf = found.config
        self._messages = found.checkpoint["channel_values"]["messages"]
        return len(self._messages)

    async def branch(self, mark: Mark) -> None:
        self._leaf = {"configurable": {**_THREAD, "checkpoint_id": mark}}
        await self.load()

    async def list_branches(self) -> int:
        ids, parents = set(), set()
        async for found in self._saver.alist({"configurable": _THREAD}):
            ids.add(found.config["configurable"]["checkpoint_id"])
            if found.parent_config:
                parents.add(found.parent_config["configurable"]["checkpoint_id"])
        return len(ids - parents)


@asynccontextmanager
async def _open(directory: Path) -> AsyncIterator[_LangGraph]:
    async with AsyncSqliteSaver.from_conn_string(str(directory / "session.db")) as saver:
        yield _LangGraph(saver)


async def work(messages: int) -> Figures:
    """Figures as in `do_work`."""
    return await do_work(_open, messages)
