"""Inputs with faults of real sessions, one directory for each case, and what their tests share."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).parent


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the sessions of the person who runs it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SESSIONTREE_DIR", str(tmp_path / "home" / "sessions"))


@pytest.fixture
def copy_case(tmp_path: Path) -> Callable[[str], Path]:
    """Copies the input of the case with this number to a new directory; returns its `session.jsonl`."""

    def copy(number: str) -> Path:
        (source,) = CASES.glob(f"{number}-*")
        target = tmp_path / source.name
        shutil.copytree(source, target)
        return target / "session.jsonl"

    return copy


@pytest.fixture
def write_chain(tmp_path: Path) -> Callable[..., Path]:
    """Writes a session of (id, parent id, message), one second apart; returns its path."""

    def write(rows: Iterable[tuple[str, str | None, dict[str, Any]]]) -> Path:
        path = tmp_path / "generated" / "session.jsonl"
        path.parent.mkdir()
        head = {"type": "session", "version": 3, "id": "generated-session", "cwd": "/proj/demo"}
        with path.open("w", encoding="utf-8") as file:
            file.write(json.dumps({**head, "timestamp": "2026-01-05T10:00:00.000Z"}) + "\n")
            for number, (entry_id, parent_id, message) in enumerate(rows, start=1):
                minutes, seconds = divmod(number, 60)
                hours, minutes = divmod(minutes, 60)
                time = f"2026-01-05T{10 + hours:02}:{minutes:02}:{seconds:02}.000Z"
                entry = {"type": "message", "id": entry_id, "parentId": parent_id, "timestamp": time}
                file.write(json.dumps({**entry, "message": message}) + "\n")
        return path

    return write


@pytest.fixture
def records() -> Callable[[Path], list[dict[str, Any]]]:
    """Reads all lines of a file as strict JSON: what a foreign program would see."""

    def refuse(name: str) -> float:
        raise AssertionError(f"{name} is no JSON")

    def read(path: Path) -> list[dict[str, Any]]:
        text = path.read_bytes().decode("utf-8")
        assert text.endswith("\n")
        return [json.loads(line, parse_constant=refuse) for line in text[:-1].split("\n")]

    return read


def _text(message: dict[str, Any]) -> str:
    content = message.get("summary", message.get("content"))
    if isinstance(content, str):
        return content
    parts = (f"[toolCall:{part['id']}]" if part["type"] == "toolCall" else part["text"] for part in content or ())
    return "".join(parts)


@pytest.fixture
def context_pairs() -> Callable[[Any], list[list[str]]]:
    """The messages of a context as [role, text]; a tool call shows as `[toolCall:<id>]`."""

    def pairs(context: Any) -> list[list[str]]:
        return [[message["role"], _text(message)] for message in context.messages]

    return pairs
