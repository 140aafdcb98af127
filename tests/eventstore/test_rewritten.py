"""A file that is no longer the one that was read: noticed before anything is written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sessiontree.eventstore import seen_file
from sessiontree.eventstore.abort import AbortController
from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.errors import AbortError, AppendError, SessionFileError, SessionRewrittenError
from sessiontree.eventstore.header import SessionHeader
from sessiontree.eventstore.jsonl_store import JsonlEventStore

OpenStore = Callable[..., Awaitable[JsonlEventStore]]
SessionFile = Callable[..., Path]
Line = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]


def replace(path: Path, content: bytes) -> None:
    """As a program does that rewrites by temporary file and rename."""
    other = path.with_name("other")
    other.write_bytes(content)
    os.replace(other, path)


def overwrite(path: Path, content: bytes) -> None:
    """As a program does that rewrites in place; its time is another, however coarse the clock."""
    path.write_bytes(content)
    later(path)


def later(path: Path) -> None:
    time = path.stat().st_mtime_ns + 1_000_000
    os.utime(path, ns=(time, time))


def put_file_for_directory(path: Path) -> None:
    shutil.rmtree(path.parent)
    path.parent.touch()


def put_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def swap_first_entry(content: bytes) -> bytes:
    return content.replace(b"hello", b"HELLO", 1)


CHANGES: dict[str, Callable[[Path, bytes], None]] = {
    "deleted": lambda path, content: path.unlink(),
    "directory gone": lambda path, content: shutil.rmtree(path.parent),
    "directory replaced by a file": lambda path, content: put_file_for_directory(path),
    "replaced by a directory": lambda path, content: put_directory(path),
    "replaced by the same": replace,
    "replaced by a longer one": lambda path, content: replace(path, content + content),
    "replaced by an empty one": lambda path, content: replace(path, b""),
    "truncated": lambda path, content: overwrite(path, content[:-10]),
    "emptied": lambda path, content: overwrite(path, b""),
    "changed in place": lambda path, content: overwrite(path, swap_first_entry(content)),
    "touched": lambda path, content: later(path),
    "header changed, and longer": lambda path, content: overwrite(
        path, content.replace(b"/proj/demo", b"/proj/DEMO") + b"{}\n"
    ),
    "header longer": lambda path, content: overwrite(path, content.replace(b"/proj/demo", b"/proj/demo/deeper")),
    "last line changed, and longer": lambda path, content: overwrite(
        path, content[:-4] + b"!" + content[-3:] + b"{}\n"
    ),
}


@pytest.fixture
def path(session_file: SessionFile, entry_line: Line) -> Path:
    return session_file(*(entry_line(name) for name in "abc"), name="sessions/session.jsonl")


def content_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("has_lock", [True, False])
async def test_a_writer_is_told_and_writes_nothing(
    path: Path, entry_line: Line, open_store: OpenStore, read_all: ReadAll, change: str, has_lock: bool
) -> None:
    """D5: also when it holds the lock, which other programs do not ask for."""
    store = await open_store(path)
    await read_all(store)
    if has_lock:
        await store.append([entry_line("d")])
    CHANGES[change](path, path.read_bytes())
    before = content_of(path)
    with pytest.raises(SessionRewrittenError, match="nothing was written") as caught:
        await store.append([entry_line("e")])
    assert caught.value.path == path
    assert content_of(path) == before
    # The lock is free again for who opens it anew.
    if before:
        again = await open_store(path)
        await again.append([entry_line("f")])


@pytest.mark.parametrize("change", CHANGES)
async def test_a_reader_is_told_when_it_looks(
    path: Path, open_store: OpenStore, read_all: ReadAll, change: str
) -> None:
    """D5, D2: before it takes anything in."""
    store = await open_store(path)
    known = await read_all(store)
    CHANGES[change](path, path.read_bytes())
    with pytest.raises(SessionRewrittenError):
        await store.check()
    with pytest.raises(SessionRewrittenError):
        await anext(store.follow(store.version))
    assert store.version == len(known) == 3


@pytest.mark.parametrize("change", ["truncated", "emptied", "header longer"])
async def test_a_line_that_is_no_longer_where_it_was_is_not_given(
    path: Path, open_store: OpenStore, read_all: ReadAll, change: str
) -> None:
    """D2: the newlines around a line witness that it still stands there; a short read is a cut file."""
    store = await open_store(path)
    await read_all(store)
    CHANGES[change](path, path.read_bytes())
    with pytest.raises(SessionRewrittenError):
        await store.read_lines([3])
    with pytest.raises(SessionRewrittenError):
        store.read_lines_now([3])


@pytest.mark.parametrize("change", ["deleted", "directory gone", "replaced by the same"])
async def test_the_open_file_is_read_on_until_it_is_looked_at(
    path: Path, entry_line: Line, open_store: OpenStore, read_all: ReadAll, change: str
) -> None:
    """D2: a descriptor keeps the old file readable."""
    store = await open_store(path)
    await read_all(store)
    CHANGES[change](path, path.read_bytes())
    assert await store.read_lines([2]) == [entry_line("b")]


@pytest.mark.parametrize("change", ["deleted", "directory gone", "replaced by the same"])
async def test_a_closed_descriptor_does_not_come_back_on_another_file(
    path: Path, entry_line: Line, open_store: OpenStore, read_all: ReadAll, change: str
) -> None:
    """D2: checked when it is opened again."""
    store = await open_store(path)
    await read_all(store)
    store._known.file.close()
    assert await store.read_lines([2]) == [entry_line("b")]
    store._known.file.close()
    CHANGES[change](path, path.read_bytes())
    with pytest.raises((SessionRewrittenError, SessionFileError)):
        await store.read_lines([2])
    with pytest.raises((SessionRewrittenError, SessionFileError)):
        await read_all(store)
    with pytest.raises(SessionRewrittenError):
        await store.check()
    assert store.read_lines_now([2]) is None


async def test_growth_is_no_rewrite(path: Path, entry_line: Line, open_store: OpenStore, read_all: ReadAll) -> None:
    """D5: as long as the header and the last known line stand."""
    store = await open_store(path)
    await read_all(store)
    for number in range(3):
        assert await store.check() is False
        with path.open("ab") as file:
            file.write(entry_line(f"x{number}") + b"\n")
        assert await store.check() is True
        assert [envelope.id for envelope in await read_all(store, store.version)] == [f"x{number}"]
    await store.append([entry_line("d")])
    assert store.version == 7


async def test_our_own_writing_is_no_rewrite(path: Path, entry_line: Line, open_store: OpenStore) -> None:
    """D5: the file's time is ours after every append, flush and failure."""
    store = await open_store(path)
    for number in range(5):
        await store.append([entry_line(f"x{number}")])
        await store.flush()
        assert await store.check() is False


async def test_long_lines_are_witnessed_by_their_end(
    session_file: SessionFile, header_line: Line, entry_line: Line, open_store: OpenStore, read_all: ReadAll
) -> None:
    """D5: neither a long header nor a long last line is kept whole in memory."""
    header = header_line(systemPrompt="p" * 50_000)
    path = session_file(entry_line("a", text="x" * 500_000), header=header)
    store = await open_store(path)
    await read_all(store)
    seen = store._known.seen
    assert len(seen.header_line) + len(seen.tail) <= 2 * seen_file.WITNESS
    content = path.read_bytes()
    overwrite(path, content[:-10] + b"changed" + content[-3:] + b"{}\n")
    with pytest.raises(SessionRewrittenError):
        await store.check()


async def test_a_new_session_whose_place_is_taken_meanwhile_leaves_it(
    tmp_path: Path, header_line: Line, entry_line: Line, open_store: OpenStore
) -> None:
    """D7, F-80: an empty file that another program has filled since."""
    path = tmp_path / "empty.jsonl"
    path.touch()
    store = await open_store(path)
    assert await store.check() is False
    content = header_line() + b"\n" + entry_line("a") + b"\n"
    path.write_bytes(content)
    with pytest.raises(SessionRewrittenError):
        await store.check()
    with pytest.raises(SessionRewrittenError):
        await store.append([entry_line("b")])
    assert path.read_bytes() == content


async def test_a_new_file_that_another_program_fills_first_is_left_to_it(
    tmp_path: Path, header_line: Line, entry_line: Line, new_header: SessionHeader
) -> None:
    """D7: made and locked by us, written by somebody who does not ask for locks."""
    path = tmp_path / "session.jsonl"
    store = JsonlEventStore.create(path, new_header)
    await store.acquire()
    path.write_bytes(header_line() + b"\n")
    with pytest.raises(SessionRewrittenError):
        await store.append([entry_line("a")])
    await store.close()
    assert path.read_bytes() == header_line() + b"\n"


async def test_an_empty_file_that_is_removed_is_not_made_again(
    tmp_path: Path, entry_line: Line, open_store: OpenStore
) -> None:
    """D7: it was there, so somebody took it away."""
    path = tmp_path / "empty.jsonl"
    path.touch()
    store = await open_store(path)
    path.unlink()
    with pytest.raises((SessionRewrittenError, AppendError)):
        await store.append([entry_line("b")])
    assert not path.exists()


async def test_following_ends_with_an_abort_also_when_nothing_is_wrong(
    path: Path, entry_line: Line, open_store: OpenStore
) -> None:
    """The port: entries of another store on the same file arrive, then the abort."""
    reader, writing = await open_store(path), await open_store(path)
    controller = AbortController()
    seen: list[str] = []
    with pytest.raises(AbortError):
        async for batch in reader.follow(0, signal=controller.signal):
            seen += [envelope.id for envelope in batch.envelopes]
            if len(seen) == 3:
                await writing.append([entry_line("d")])
            elif len(seen) == 4:
                controller.abort()
    assert seen == list("abcd")
