"""Trees from short ids, sessions as files, and the selector on a terminal without a screen."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from sessiontree import SessionManager
from sessiontree.app.selector.tree_model import TreeModel
from sessiontree.app.selector.tree_screen import TreeChoice, TreeSelector
from sessiontree.app.selector.tree_view import TreeView
from sessiontree.app.tree_filter import FilterMode
from sessiontree.app.ui_app import UiApp
from sessiontree.eventstore.envelope import Envelope, MessageEnvelope
from sessiontree.projections.tree import Tree

KINDS = {
    "u": ("message", "user"),
    "a": ("message", "assistant"),
    "r": ("message", "toolResult"),
    "b": ("message", "bashExecution"),
    "l": ("label", None),
    "m": ("model_change", None),
    "h": ("thinking_level_change", None),
    "c": ("custom", None),
    "k": ("compaction", None),
    "s": ("branch_summary", None),
    "x": ("custom_message", None),
}
"""What an entry is, by the first letter of its id."""


@dataclass
class SampleTree:
    """The source of a `TreeModel`."""

    leaf_id: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    columns: Tree = field(default_factory=Tree)


def envelope(entry_id: str, parent_id: str | None) -> Envelope:
    entry_type, role = KINDS[entry_id[0]]
    return Envelope(entry_type, entry_id, parent_id, None, MessageEnvelope(role) if role is not None else None)


@pytest.fixture
def make_model() -> Callable[..., TreeModel]:
    """A model of a tree given by its paths (`"u1 a1", "u1 u2"`), every text read; the text of a row is its id.

    `said`: other texts by id. `read=False`: no text was read.
    """

    def make(
        *paths: str,
        leaf: str | None = None,
        mode: FilterMode = FilterMode.DEFAULT,
        silent: str = "",
        said: Mapping[str, str] | None = None,
        read: bool = True,
        **labels: str,
    ) -> TreeModel:
        tree = SampleTree(leaf, labels)
        parents: dict[str, str | None] = {}
        for path in paths:
            parent_id = None
            for entry_id in path.split():
                parents.setdefault(entry_id, parent_id)
                parent_id = entry_id
        tree.columns.apply_batch(1, [envelope(*item) for item in parents.items()])
        model = TreeModel(tree, mode=mode)
        for entry_id in parents if read else ():
            text = (said or {}).get(entry_id, entry_id)
            model.take(model.position(entry_id), text, text, silent=entry_id in silent.split())
        model.refresh()
        return model

    return make


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test touches the sessions of the person who runs it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SESSIONTREE_DIR", str(tmp_path / "home" / "sessions"))
    return tmp_path / "home"


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a session of these records, each below the one before unless it says so, one second apart."""

    def write(*records: dict[str, Any], **header: Any) -> Path:
        path = tmp_path / "session.jsonl"
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


def assistant(entry_id: str, *blocks: Any, **fields: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"id": entry_id, "message": {"role": "assistant", "content": content, "stopReason": "stop"}, **fields}


@pytest.fixture
def talk(write: Callable[..., Path]) -> Path:
    """Questions and answers with a tool, a label, a setting and a second branch; the leaf is `u3`."""
    call = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "make test"}}
    result = {"role": "toolResult", "toolCallId": "t1", "toolName": "bash", "content": "ok"}
    return write(
        {"type": "model_change", "id": "m1", "model": "acme/m-1"},
        user("u1", "do the tests pass?"),
        assistant("a1", call),
        {"id": "r1", "message": result},
        assistant("a2", "They pass."),
        user("u2", "then commit"),
        assistant("a3", "Done."),
        {"type": "label", "id": "l1", "targetId": "a2", "label": "green"},
        user("u3", "wait, look again", parentId="a2"),
    )


@pytest.fixture
def chain(write: Callable[..., Path]) -> Path:
    """A hundred user messages in a row, `n00` to `n99`: more than a terminal shows."""
    return write(*(user(f"n{number:02}", f"turn {number:02}") for number in range(100)))


class Host(UiApp[None]):
    """Shows one selector, and keeps what it ends with."""

    def __init__(self, selector: TreeSelector) -> None:
        super().__init__()
        self._selector = selector
        self.chosen: list[TreeChoice | None] = []

    def on_mount(self) -> None:
        self.push_screen(self._selector, self.chosen.append)


@dataclass
class Opened:
    """A selector that is on the screen."""

    session: SessionManager
    selector: TreeSelector
    host: Host
    pilot: Pilot[None]

    @property
    def model(self) -> TreeModel:
        return self.selector.model

    @property
    def selected(self) -> str | None:
        return self.model.selected_id

    @property
    def view(self) -> TreeView:
        return self.selector.query_one(TreeView)

    @property
    def lines(self) -> list[str]:
        """What the terminal shows, line by line."""
        return [strip.text for strip in self.host.screen._compositor.render_strips()]

    @property
    def rows(self) -> list[str]:
        """What the tree's part of the terminal shows."""
        region = self.view.region
        return [line.rstrip() for line in self.lines[region.y : region.bottom]]

    @property
    def foot(self) -> str:
        return self.lines[-1].strip()

    @property
    def text(self) -> str:
        """All words on the terminal, however they are broken into lines."""
        return " ".join(" ".join(self.lines).split())

    async def press(self, *keys: str) -> None:
        """Return when the keys have done what they do: a message leads to others, each pause takes those there are."""
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause()
        await self._done()

    async def resize(self, width: int, height: int) -> None:
        await self.pilot.resize_terminal(width, height)
        await self._done()

    async def _done(self) -> None:
        for _ in range(2):
            await self.pilot.pause()

    async def type(self, text: str) -> None:
        await self.press(*text)

    async def settle(self) -> None:
        """Return when every text was read and drawn."""
        await self.host.workers.wait_for_complete()
        await self.pilot.pause()


@pytest.fixture(autouse=True)
def quick_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pilot looks every 2 ms, not every 20 ms, whether the program is idle."""
    monkeypatch.setattr("textual._wait.SLEEP_GRANULARITY", 0.002)
    monkeypatch.setattr("textual._wait.SLEEP_IDLE", 0.001)


@pytest.fixture
def open_selector() -> Callable[..., AbstractAsyncContextManager[Opened]]:
    """Opens a session in the selector."""

    @asynccontextmanager
    async def opened(
        path: Path,
        width: int = 80,
        height: int = 24,
        *,
        settle: bool = True,
        read_only: bool = False,
        **options: Any,
    ) -> AsyncIterator[Opened]:
        async with await SessionManager.open(path, read_only=read_only) as session:
            selector = TreeSelector(session, **options)
            host = Host(selector)
            async with host.run_test(size=(width, height)) as pilot:
                on = Opened(session, selector, host, pilot)
                if settle:
                    await on.settle()
                yield on

    return opened
