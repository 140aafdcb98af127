"""What the tests of the event store share: lines, files, and stores that are closed at the end."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sessiontree.eventstore import writer
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


class Disk:
    """What stands behind `os.write` for one file: room for so many bytes, and others who write."""

    def __init__(self, path: Path, write: Callable[[int, Any], int]) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDONLY)
        self.room: int | None = None
        self.most = 1 << 30
        self.before_write: Callable[[], None] | None = None
        self.when_full: Callable[[], None] | None = None
        self._write = write

    def write(self, fd: int, data: Any) -> int:
        if not os.path.sameopenfile(fd, self._fd):
            return self._write(fd, data)
        if self.before_write is not None:
            others, self.before_write = self.before_write, None
            others()
        if self.room == 0:
            if self.when_full is not None:
                others, self.when_full = self.when_full, None
                others()
            raise OSError(errno.ENOSPC, "No space left on device")
        size = min(len(data), self.most, self.room if self.room is not None else len(data))
        if self.room is not None:
            self.room -= size
        return self._write(fd, data[:size])

    def foreign(self, data: bytes) -> None:
        """Another program appends, without a lock."""
        with self.path.open("ab", buffering=0) as file:
            self._write(file.fileno(), data)

    def close(self) -> None:
        os.close(self._fd)


@pytest.fixture
def disk_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], Disk]]:
    """Gives the disk behind an existing file."""
    disks: list[Disk] = []

    def make(path: Path) -> Disk:
        disk = Disk(path, os.write)
        disks.append(disk)
        monkeypatch.setattr(os, "write", disk.write)
        return disk

    yield make
    for disk in disks:
        disk.close()


def _known(store: JsonlEventStore) -> tuple[list[int], list[tuple[int, str]]]:
    """Line numbers of all entries, and the faults, as the store has them."""
    return (
        [store.line_number(seq) for seq in range(1, store.version + 1)],
        [(fault.line, fault.kind) for fault in store.faults],
    )


@pytest.fixture
def check_against_the_file(
    open_store: Callable[..., Awaitable[JsonlEventStore]], read_all: Callable[..., Awaitable[list[Envelope]]]
) -> Callable[[JsonlEventStore], Awaitable[None]]:
    """What a store has made of reading and appending is what a new one reads."""

    async def check(store: JsonlEventStore) -> None:
        while await store.check():
            await read_all(store, store.version)
        fresh = await open_store(store.path)
        assert await read_all(store) == await read_all(fresh)
        assert _known(store) == _known(fresh)
        seqs = range(store.version, 0, -1)
        assert await store.read_lines(seqs) == await fresh.read_lines(seqs)

    return check


class Syncs:
    """Records what is synced, by name, and can refuse it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[str, Path]] = []
        self.refused: set[str] = set()
        for name in ("fsync", "fdatasync"):
            monkeypatch.setattr(os, name, self._recorder(name, getattr(os, name)))
        monkeypatch.setattr(writer, "_sync_data", os.fdatasync)

    def _recorder(self, name: str, sync: Callable[[int], None]) -> Callable[[int], None]:
        def record(fd: int) -> None:
            target = Path(os.readlink(f"/proc/self/fd/{fd}"))
            self.calls.append((name, target))
            if target.name in self.refused:
                raise OSError(errno.EIO, "Input/output error")
            sync(fd)

        return record

    def take(self) -> list[tuple[str, Path]]:
        calls, self.calls = self.calls, []
        return calls


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> Syncs:
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc to name descriptors")
    return Syncs(monkeypatch)
