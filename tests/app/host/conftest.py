"""Sessions as files, scripted answers and summaries, and the interface on a terminal without a screen."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from sessiontree import AbortSignal, DigestSummarizer, SessionManager, SummaryRequest
from sessiontree.app.host.conversation import Conversation
from sessiontree.app.host.host_app import HostApp
from sessiontree.app.host.prompt_editor import PromptEditor
from sessiontree.app.settings import BranchSummaryChoice, Settings


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test touches the sessions, or the directory, of the person who runs it."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SESSIONTREE_DIR", str(home / "sessions"))
    monkeypatch.chdir(home)
    return home


@pytest.fixture(autouse=True)
def quick_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pilot looks every 2 ms, not every 20 ms, whether the program is idle."""
    monkeypatch.setattr("textual._wait.SLEEP_GRANULARITY", 0.002)
    monkeypatch.setattr("textual._wait.SLEEP_IDLE", 0.001)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a session of these records, each below the one before unless it says so, one second apart."""

    def write(*records: dict[str, Any], name: str = "session.jsonl", **header: Any) -> Path:
        path = tmp_path / "sessions" / name
        path.parent.mkdir(exist_ok=True)
        header = {"type": "session", "version": 3, "id": "019b8d00-0000-7000-8000-000000000001", **header}
        lines = [{"timestamp": "2026-01-05T10:00:00.000Z", "cwd": "/proj/demo", **header}]
        parent_id = None
        for number, record in enumerate(records, start=1):
            time = f"2026-01-05T10:{number // 60:02}:{number % 60:02}.000Z"
            lines.append({"type": "message", "parentId": parent_id, "timestamp": time, **record})
            parent_id = record["id"]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    return write


def user(entry_id: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"id": entry_id, "message": {"role": "user", "content": text}, **fields}


def assistant(entry_id: str, text: str, **fields: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"id": entry_id, "message": {"role": "assistant", "content": content, "stopReason": "stop"}, **fields}


@pytest.fixture
def talk(write: Callable[..., Path]) -> Path:
    """Two questions and answers, and another second question; the leaf is `a3`."""
    return write(
        user("u1", "do the tests pass?"),
        assistant("a1", "They pass."),
        user("u2", "then commit"),
        assistant("a2", "Done."),
        user("u3", "look again", parentId="a1"),
        assistant("a3", "Still fine."),
    )


@pytest.fixture
def chain(write: Callable[..., Path]) -> Callable[[int], Path]:
    """A session of so many user messages in a row, `turn 001` the first."""
    return lambda count: write(*(user(f"n{at:03}", f"turn {at:03}") for at in range(1, count + 1)))


@dataclass
class Script:
    """Answers with parts, one after the other; `None` waits until it is stopped, an error is raised."""

    parts: Sequence[str | Exception | None]
    asked: list[list[dict[str, Any]]] = field(default_factory=list)
    waits: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, messages: Sequence[dict[str, Any]]) -> AsyncIterator[str]:
        self.asked.append(list(messages))
        for part in self.parts:
            if part is None:
                self.waits.set()
                await asyncio.Event().wait()
            elif isinstance(part, Exception):
                raise part
            else:
                yield part

    def message(self, text: str, stop_reason: str | None = None, error: str | None = None) -> dict[str, Any]:
        content = [{"type": "text", "text": text}]
        message = {"role": "assistant", "content": content, "stopReason": stop_reason or "stop"}
        return message if error is None else {**message, "errorMessage": error}


@pytest.fixture
def script() -> Callable[..., Script]:
    """Makes answers of parts."""
    return lambda *parts: Script(parts)


class Summaries:
    """Summaries that one waits for in vain while `blocked`, and that fail while there is an `error`."""

    def __init__(self) -> None:
        self.blocked = False
        self.error: Exception | None = None
        self.asked: list[SummaryRequest] = []
        self.waits = asyncio.Event()

    async def summarize(self, request: SummaryRequest, *, signal: AbortSignal) -> str:
        self.asked.append(request)
        if self.error is not None:
            raise self.error
        if self.blocked:
            self.waits.set()
            await asyncio.Event().wait()
        return "what was tried"


@pytest.fixture
async def summaries() -> Summaries:
    """The summarizer of a test that says what it does."""
    return Summaries()


@dataclass
class Shown:
    """The interface that is on the screen."""

    app: HostApp
    pilot: Pilot[None]

    @property
    def session(self) -> SessionManager:
        return self.app.session

    @property
    def editor(self) -> PromptEditor:
        return self.app.query_one(PromptEditor)

    @property
    def conversation(self) -> Conversation:
        return self.app.query_one(Conversation)

    @property
    def lines(self) -> list[str]:
        """What the terminal shows, line by line."""
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    @property
    def status(self) -> str:
        return self.lines[-1].strip()

    @property
    def text(self) -> str:
        """All words on the terminal, however they are broken into lines."""
        return " ".join(" ".join(self.lines).split())

    @property
    def told(self) -> list[str]:
        """The notes that popped up."""
        return [note.message for note in self.app._notifications]

    @property
    def on(self) -> str:
        """The kind of the screen that has the keys; `Screen` is the conversation."""
        return type(self.app.screen).__name__

    async def until(self, holds: Callable[[], object]) -> None:
        """Return when something holds; it comes by messages, files and workers."""
        async with asyncio.timeout(20):
            while not holds():
                await self.pilot.pause()
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        """Return when the keys have done what they do: a message leads to others, each pause takes those there are."""
        await self.pilot.press(*keys)
        for _ in range(4):
            await self.pilot.pause()

    async def send(self, text: str) -> None:
        """Type a text all at once, and send it."""
        self.editor.prefill(text)
        await self.press("enter")

    async def idle(self) -> None:
        """Return when no flow runs any more."""
        await self.until(lambda: not [worker for worker in self.app.workers if worker.group == "flow"])

    async def run(self, text: str) -> None:
        """Send a text, and return when its flow is at an end."""
        await self.send(text)
        await self.idle()

    async def open(self, text: str, screen: str) -> None:
        """Send a command, and return when it shows a screen."""
        await self.send(text)
        await self.sees(screen)

    async def sees(self, screen: str) -> None:
        await self.until(lambda: self.on == screen)
        for _ in range(4):
            await self.pilot.pause()

    async def entries(self) -> list[Any]:
        return await self.session.get_branch()


Open = Callable[..., AbstractAsyncContextManager[Shown]]


@pytest.fixture
def show(tmp_path: Path) -> Open:
    """Shows a session file; settings by name, `summary` that a branch which is left is asked about."""

    @asynccontextmanager
    async def shown(
        path: Path | None = None,
        *,
        width: int = 100,
        height: int = 30,
        answers: Any = None,
        summarizer: Any = None,
        summary: bool = False,
        **settings: Any,
    ) -> AsyncIterator[Shown]:
        directory = tmp_path / "sessions"
        if path is None:
            session = await SessionManager.create(cwd="/proj/demo", sessions_dir=directory)
        else:
            session = await SessionManager.open(path)
        chosen = Settings(branch_summary=BranchSummaryChoice(enabled=summary), **settings)
        app = HostApp(session, directory, chosen, summarizer or DigestSummarizer(), answers)
        app.animation_level = "none"
        try:
            async with app.run_test(size=(width, height), notifications=True) as pilot:
                on = Shown(app, pilot)
                await pilot.pause()
                yield on
        finally:
            await app.session.close()

    return shown


@pytest.fixture
def last(tmp_path: Path) -> Callable[[Path], dict[str, Any]]:
    """Reads the last record of a file."""

    def last(path: Path) -> dict[str, Any]:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
        return record

    return last
