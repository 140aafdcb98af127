"""A session that begins with an index answers everything as one that was scanned."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessiontree.eventstore.errors import IndexDamagedError
from sessiontree.eventstore.index import index_file, index_writer, stored_bytes, stored_column, stored_texts
from sessiontree.eventstore.index.index_file import IndexFile
from sessiontree.eventstore.index.places import place_beside, place_in_cache
from sessiontree.eventstore.jsonl_store import JsonlEventStore
from sessiontree.eventstore.line_index import LineIndex
from sessiontree.projections.context import context_window
from sessiontree.projections.projector import Projector
from sessiontree.projections.session_index import SessionIndex
from sessiontree.projections.tree import ROOT

HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p","title":"first"}\n'
JUNK = [b"", b"  ", b'{"type":"message"', b"[1]", b'{"type":"session","version":3,"id":"again"}', b"\xff"]
ODD_TEXTS = ["\ud800", "a\nb\u2028\0", "é" * 40, "x" * 300]


class Opened:
    """A store and its projections; `covered` bytes of it came from an index."""

    def __init__(self, store: JsonlEventStore) -> None:
        self.store = store
        self.projector = Projector(store)
        self.index = SessionIndex(store, self.projector)

    @property
    def covered(self) -> int:
        return self.index.covered

    async def answers(self) -> list[str]:
        """Everything that can be asked, with types."""
        projector, store = self.projector, self.store
        tree, states = projector.tree, projector.states
        seqs = range(1, tree.last_seq + 1)
        found: list[Any] = [tree.last_seq, tree.entry_count, tree.last_id, list(tree.live()), projector.report()]
        found += [tree.orphans, tree.cycles, tree.duplicates, tree.turnings(), tree.ordered, tree.kinds]
        found += [list(projector.labels.by_target.items()), projector.labels.targets]
        found += [projector.name.name, projector.name.entries, projector.usage.total, tree.times.unreadable]
        found += [tree.find(text) for text in ("ghost", "", "\ud801", "e1 ")]
        for seq in (ROOT, *tree.live()):
            record = states.at(seq)
            found += [record, record.injected_rules(), tree.path(seq), tree.children(seq), tree.ordered_children(seq)]
            found += [states.compaction(seq), states.kept(seq), states.last_model_change_role(seq)]
            found += [context_window(tree, states, seq)]
        for seq in seqs:
            found += [tree.ids[seq], tree.find(tree.ids[seq]), tree.parents[seq], tree.kind(seq)]
            found += [tree.times.stored(seq), tree.times.instant(seq), store.line_number(seq)]
        found += await store.read_lines(seqs)
        return list(map(repr, found))


@asynccontextmanager
async def opened(path: Path, *, indexed: bool = True) -> AsyncIterator[Opened]:
    opened = Opened(await JsonlEventStore.open(path))
    if indexed:
        opened.index.restore()
    await opened.projector.catch_up()
    try:
        yield opened
    finally:
        await opened.store.close()


async def scanned(path: Path) -> list[str]:
    async with opened(path, indexed=False) as session:
        return await session.answers()


@contextmanager
def small_blocks() -> Iterator[None]:
    """Even a small index has many blocks."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (index_file, index_writer, stored_bytes, stored_column):
            patch.setattr(module, "BLOCK", 64)
        patch.setattr(index_writer, "_AT_ONCE", 128)
        patch.setattr(index_writer, "_SLICE", 3)
        patch.setattr(index_file, "_KEPT", 3)
        patch.setattr(stored_texts, "_TOGETHER", 3)
        patch.setattr(stored_texts, "_KEPT", 2)
        yield


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """New session files, one after the other."""
    directory = tmp_path_factory.mktemp("indexed")
    return (directory / f"{number}.jsonl" for number in range(1 << 30))


def lines_of(entries: Sequence[dict[str, Any]], renamed: dict[str, str]) -> list[bytes]:
    text = {"id", "parentId", "targetId", "firstKeptEntryId", "fromId", "label", "name"}
    odd = [{key: renamed.get(value, value) if key in text else value for key, value in e.items()} for e in entries]
    return [json.dumps(entry).encode() + b"\n" for entry in odd]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_an_index_changes_no_answer(
    data: st.DataObject, odd_logs: st.SearchStrategy[Any], files: Iterator[Path]
) -> None:
    """D3, ADR 9: whatever the log, however it grows, with an index of an index, settled over its columns."""
    entries = data.draw(odd_logs)
    renamed = data.draw(st.dictionaries(st.sampled_from(["e1", "e2", "e3", "x", "one"]), st.sampled_from(ODD_TEXTS)))
    lines = lines_of(entries, renamed)
    path = next(files)
    path.write_bytes(HEADER)

    async def grow_and_compare() -> None:
        position = 0
        while position < len(lines):
            counts = [data.draw(st.integers(1, len(lines) - position)), data.draw(st.integers(0, 2))]
            before = position
            with path.open("ab") as file:
                for line in lines[position : position + counts[0]]:
                    junk = data.draw(st.sampled_from([*JUNK, None, None, None]))
                    file.write((junk + b"\n" if junk is not None else b"") + line)
            position += counts[0]
            async with opened(path) as session:
                assert bool(session.covered) == bool(before)
                if data.draw(st.booleans()):
                    assert await session.answers() == await scanned(path)
                with path.open("ab") as file:
                    file.writelines(lines[position : position + counts[1]])
                position = min(position + counts[1], len(lines))
                await session.store.check()
                await session.projector.catch_up()
                assert await session.answers() == await scanned(path)
                await session.index.write(beside=data.draw(st.booleans()))
            async with opened(path) as session:
                assert session.covered == path.stat().st_size
                assert await session.answers() == await scanned(path)

    with small_blocks():
        asyncio.run(grow_and_compare())


MESSAGE = '{"type":"message","id":"e%d","parentId":%s,"timestamp":%s,"message":{"role":"user","content":"q"}}'


def chained(count: int, first: int = 1) -> bytes:
    rows = [
        MESSAGE % (number, f'"e{number - 1}"' if number > 1 else "null", f'"2026-01-01T00:00:{number % 60:02}.000Z"')
        for number in range(first, first + count)
    ]
    return "".join(row + "\n" for row in rows).encode()


ODD_VALUES = [
    b'{"type":"mode_change","id":"e3","parentId":"e2","timestamp":null,"mode":"plan","data":{"far":1e999}}',
    b'{"type":"mode_change","id":"e3","parentId":"e2","timestamp":"t","mode":"plan","data":{"big":%s}}' % (b"9" * 60),
    b'{"type":"mode_change","id":"e3","parentId":"e2","timestamp":"t","mode":"\\ud800","data":{"\\udfff":1.0}}',
    b'{"type":"custom","id":"e3","parentId":"\\ud800","timestamp":"\\ud800"}',
    b'{"type":"custom\\ud800","id":"e3","parentId":"e1","timestamp":%s}' % (b"9" * 60),
    b'{"type":"ttsr_injection","id":"e3","parentId":"e1","timestamp":1e999,"injectedRules":["\\ud800"]}',
    b'{"type":"label","id":"e3","parentId":"e1","timestamp":-1,"targetId":"e1","label":"cut \\ud83d"}',
    b'{"type":"session_info","id":"e3","parentId":"e1","timestamp":-0.0,"name":"cut \\ud83d"}',
    b'{"type":"message","id":"e3","parentId":"e1","timestamp":1,"message":{"role":"assistant","provider":"\\ud800",'
    b'"model":"m","content":[],"usage":{"input":%s,"cost":{"total":1e999}}}}' % (b"9" * 60),
]


@pytest.mark.parametrize("line", ODD_VALUES)
async def test_an_odd_value_is_kept_as_it_is(line: bytes, files: Iterator[Path]) -> None:
    """F-81, ADR 9: lone surrogates, integers of any size and infinity; after a settling they are folded anew."""
    path = next(files)
    path.write_bytes(HEADER + chained(2) + line + b"\n")
    late = b'{"type":"custom","id":"e2","parentId":"e3","timestamp":"t"}\n'
    for tail in (b"", chained(2, first=4), late):
        with path.open("ab") as file:
            file.write(tail)
        async with opened(path) as session:
            assert bool(session.covered) == bool(path.stat().st_size > len(HEADER + chained(2) + line) + 1)
            assert await session.answers() == await scanned(path)
            await session.index.write(beside=False)
        async with opened(path) as session:
            assert session.covered == path.stat().st_size
            assert await session.answers() == await scanned(path)


async def test_what_cannot_be_packed_has_no_index(files: Iterator[Path]) -> None:
    """ADR 9: what nests nearly too deeply to be read is too deep to be kept."""
    path = next(files)
    deep = b'{"type":"mode_change","id":"e1","parentId":null,"timestamp":"t","mode":"m","data":{"d":%s}}\n'
    path.write_bytes(HEADER + deep % (b"[" * 850 + b"]" * 850))
    async with opened(path) as session:
        await session.index.write(beside=False)
        assert await session.answers() == await scanned(path)
    async with opened(path) as session:
        assert await session.answers() == await scanned(path)


@pytest.fixture
async def indexed(files: Iterator[Path]) -> Path:
    """A session with an index beside it."""
    path = next(files)
    labels = b'{"type":"label","id":"e8","parentId":"e2","timestamp":"t","targetId":"e1","label":"x"}\n'
    rules = b'{"type":"ttsr_injection","id":"e9","parentId":"e2","timestamp":"t","injectedRules":["r"]}\n'
    path.write_bytes(HEADER + chained(3) + labels + rules)
    async with opened(path) as session:
        await session.index.write(beside=True)
    assert place_beside(path).exists()
    return path


def test_an_index_that_ends_early_is_none(indexed: Path) -> None:
    """ADR 9: cut at any byte."""
    place = place_beside(indexed)
    assert IndexFile.open(place) is not None
    for size in reversed(range(place.stat().st_size)):
        os.truncate(place, size)
        assert IndexFile.open(place) is None


async def test_a_byte_that_was_changed_gives_no_wrong_answer(indexed: Path) -> None:
    """ADR 9: the index counts as none, or damaged, or the byte meant nothing."""
    place = place_beside(indexed)
    whole = place.read_bytes()
    async with opened(indexed, indexed=False) as session:
        expected = await session.answers()
        outcomes = {"none": 0, "damaged": 0, "same": 0}
        for position in range(len(whole)):
            place.write_bytes(whole[:position] + bytes([whole[position] ^ 0x41]) + whole[position + 1 :])
            other = Opened(session.store)
            reader = session.store.log_reader
            assert reader is not None
            reader.index = LineIndex()
            try:
                other.index.restore()
                if other.covered:
                    other.projector.position = reader.index.version
                    assert await other.answers() == expected
            except IndexDamagedError:
                outcomes["damaged"] += 1
                assert not place.exists()
            else:
                outcomes["same" if other.covered else "none"] += 1
    # Four bytes of the footer only fill it up.
    assert outcomes["same"] == 4
    assert outcomes["none"] > 0
    assert outcomes["damaged"] > 0


async def test_a_damaged_log_is_not_indexed_while_it_is_unsettled(files: Iterator[Path]) -> None:
    """ADR 9, D3: nor what was settled anew while it was written."""
    path = next(files)
    path.write_bytes(HEADER + chained(300))
    with small_blocks():
        async with opened(path) as session:
            writing = asyncio.ensure_future(session.index.write(beside=False))
            await asyncio.sleep(0)
            with path.open("ab") as file:
                file.write(chained(1))
            await session.store.check()
            await session.projector.catch_up()
            assert session.projector.tree.duplicates == [(1, 301)]
            assert not writing.done()
            await writing
    assert not place_in_cache(path).exists()


async def test_what_is_appended_while_an_index_is_written_is_scanned_later(files: Iterator[Path]) -> None:
    """ADR 9: the index holds what was known when its writing began."""
    path = next(files)
    path.write_bytes(HEADER + chained(300))
    async with opened(path) as session:
        writing = asyncio.ensure_future(session.index.write(beside=False))
        for number in range(301, 401):
            await asyncio.sleep(0)
            with path.open("ab") as file:
                file.write(chained(1, first=number))
            await session.store.check()
            await session.projector.catch_up()
        await writing
        assert session.covered == len(HEADER + chained(300))
    async with opened(path) as session:
        assert session.covered == len(HEADER + chained(300))
        assert await session.answers() == await scanned(path)


async def test_what_is_asked_for_is_all_that_is_read(files: Iterator[Path]) -> None:
    """Issue 5: to walk, to look up and to append takes no column into memory."""
    path = next(files)
    path.write_bytes(HEADER + chained(20_000))
    async with opened(path) as session:
        await session.index.write(beside=False)
    async with opened(path) as session:
        tree = session.projector.tree
        with path.open("ab") as file:
            file.write(chained(1, first=20_001))
        await session.store.check()
        await session.projector.catch_up()
        reader = session.store.log_reader
        assert reader is not None
        seq = tree.find("e19990")
        for _ in zip(tree.ancestors(seq), range(200), strict=False):
            session.projector.states.at(seq)
        assert tree.children(seq) == [seq + 1]
        columns: list[Any] = [tree.parents, tree.kind_numbers, tree.ids, session.projector.states._record_at]
        columns += [reader.index._offsets, reader.index._lengths]
        assert [column._known for column in columns] == [20_001] * len(columns)
        file_ = session.index._file
        assert file_ is not None
        assert len(file_._blocks) < 20


async def test_settling_reads_the_columns_without_hydrating_them_by_item(files: Iterator[Path]) -> None:
    """D3, D6: a late duplicate of an indexed entry is settled over what is stored."""
    path = next(files)
    path.write_bytes(HEADER + chained(500))
    async with opened(path) as session:
        await session.index.write(beside=False)
    with path.open("ab") as file:
        file.write(b'{"type":"custom","id":"e250","parentId":"e500","timestamp":"t"}\n')
    async with opened(path) as session:
        assert session.projector.tree.duplicates == [(250, 501)]
        assert await session.answers() == await scanned(path)
