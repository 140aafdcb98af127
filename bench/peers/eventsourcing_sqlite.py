"""eventsourcing with SQLite: a conversation is an aggregate, a branch another one that begins with a copy."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import NAMESPACE_URL, UUID, uuid5

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event
from eventsourcing.utils import get_topic

from bench.figures import Figures
from bench.peers.work import Mark, Message, do_work

_SECTION = 10  # more at once is refused


class _Conversation(Aggregate):
    @event("Began")
    def __init__(self, number: int, messages: list[Message]) -> None:
        self.number = number
        self.messages = list(messages)

    @staticmethod
    def create_id(number: int) -> UUID:
        return uuid5(NAMESPACE_URL, str(number))

    @event("Appended")
    def append(self, message: Message) -> None:
        self.messages.append(message)


class _Eventsourcing:
    """Its calls are synchronous: each keeps the loop while it lasts."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._conversation: _Conversation | None = None
        self._branches = 0

    async def append(self, message: Message) -> Mark:
        conversation = self._conversation or _Conversation(0, [])
        conversation.append(message)
        self._application.save(conversation)
        self._conversation = conversation
        return int(conversation.version)

    async def load(self) -> int:
        identity = _Conversation.create_id(self._branches)
        self._conversation = self._application.repository.get(identity)
        return len(self._conversation.messages)

    async def branch(self, mark: Mark) -> None:
        parent = self._application.repository.get(_Conversation.create_id(0), version=mark)
        self._branches += 1
        self._conversation = _Conversation(self._branches, parent.messages)

    async def list_branches(self) -> int:
        log, topics, count, start = self._application.notification_log, [get_topic(_Conversation.Began)], 0, 1
        while section := log.select(start=start, limit=_SECTION, topics=topics):
            count += len(section)
            start = section[-1].id + 1
        return count


@asynccontextmanager
async def _open(directory: Path) -> AsyncIterator[_Eventsourcing]:
    environment = {"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": str(directory / "session.db")}
    with Application(env=environment) as application:
        yield _Eventsourcing(application)


async def work(messages: int) -> Figures:
    """Figures as in `do_work`."""
    return await do_work(_open, messages)
