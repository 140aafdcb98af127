"""What the tests of the event store share: lines, files, and stores that are closed at the end."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.header import SessionHeader, make_header
from sessiontree.eventstore.jsonl_store import JsonlEventStore
from sessiontree.eventstore.store import EventStore


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the sessions or the cache of the person who runs it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("SESSIONTREE_DIR", "PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def json_line() -> Callable[..., bytes]:
    """Makes the compact line of a dict, without newline."""

    def make(fields: dict[str, Any]) -> bytes:
        return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()

    return make


@pytest.fixture(scope="session")
def header_line(json_line: Callable[..., bytes]) -> Callable[..., bytes]:
    """Makes a header line; a field given as None is left out."""

    def make(**fields: Any) -> bytes:
        record = {
            "type": "session",
            "version": 3,
            "id": "01990000-0000-7000-8000-000000000001",
            "timestamp": "2026-02-16T10:20:30.000Z",
            "cwd": "/proj/demo",
            **fields,
        }
        return json_line({key: value for key, value in record.items() if value is not None})

    return make


@pytest.fixture(scope="session")
def entry_line(json_line: Callable[..., bytes]) -> Callable[..., bytes]:
    """Makes the line of a user message, or of another entry when `type=` is given."""

    def make(entry_id: str, parent_id: str | None = None, text: str = "hello", **fields: Any) -> bytes:
        base = {"type": "message", "id": entry_id, "parentId": parent_id, "timestamp": "2026-02-16T10:20:31.000Z"}
        if "type" not in fields:
            fields = {"message": {"role": "user", "content": text}, **fields}
        return json_line({**base, **fields})

    return make


@pytest.fixture(scope="session")
def title_slot(json_line: Callable[..., bytes]) -> Callable[..., bytes]:
    """Makes a title slot that fills `width` bytes with its newline (F-70); a field given as None is left out."""

    def make(title: str = "My title", width: int = 256, **fields: Any) -> bytes:
        slot = {"type": "title", "v": 1, "title": title, "source": "user", "updatedAt": "2026-02-16T10:20:30.000Z"}
        slot = {key: value for key, value in {**slot, **fields}.items() if value is not None}
        pad = width - 1 - len(json_line({**slot, "pad": ""}))
        return json_line({"pad": " " * max(0, pad), **slot} if "pad" in fields else {**slot, "pad": " " * max(0, pad)})

    return make


@pytest.fixture
def session_file(tmp_path: Path, header_line: Callable[..., bytes]) -> Callable[..., Path]:
    """Writes a session of a header and these lines, each with its newline; returns its path."""

    def write(*lines: bytes, name: str = "session.jsonl", header: bytes | None = None) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"".join(line + b"\n" for line in (header_line() if header is None else header, *lines)))
        return path

    return write


@pytest.fixture
def new_header() -> SessionHeader:
    """The header of a new session."""
    return make_header("01990000-0000-7000-8000-000000000002", "2026-02-16T10:20:30.000Z", "/proj/demo")


@pytest.fixture
async def open_store(new_header: SessionHeader) -> AsyncIterator[Callable[..., Awaitable[JsonlEventStore]]]:
    """Opens stores of files, and closes them when the test is over."""
    stores: list[JsonlEventStore] = []

    async def open_one(path: Path, *, durable: bool = False, lock_timeout: float = 0) -> JsonlEventStore:
        store = await JsonlEventStore.open(
            path, header_of_new=lambda: new_header, durable=durable, lock_timeout=lock_timeout
        )
        stores.append(store)
        return store

    yield open_one
    for store in stores:
        await store.close()


@pytest.fixture(scope="session")
def read_all() -> Callable[..., Awaitable[list[Envelope]]]:
    """Reads all entries after a position, and checks that their numbers run on."""

    async def read(store: EventStore, after: int = 0) -> list[Envelope]:
        envelopes: list[Envelope] = []
        async for batch in store.read(after):
            assert batch.first_seq == after + len(envelopes) + 1
            envelopes += batch.envelopes
        return envelopes

    return read
