"""Any order of appends, foreign writing, reading and reopening: the store knows what a plain reader finds."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sessiontree.eventstore.errors import SessionRewrittenError
from sessiontree.eventstore.header import make_header
from sessiontree.eventstore.jsonl_store import JsonlEventStore

T = TypeVar("T")

# What other programs write, in pieces: `%d` makes each line another one.
PIECES = [
    '{"type":"label","id":"f%d","parentId":null}\n',
    '{"type":"label","id":"f%d"}\r\n{"type":"label","id":"g%d"}\n',
    '{"type":"label","id":"f%d"}',
    '{"type":"label","id":"to',
    'rn%d"}\n',
    "\n",
    "null\n",
    '{"no":"id %d"}\n',
    "   ",
]


def plain(path: Path) -> tuple[list[tuple[int, str]], list[int], list[bytes]]:
    """(line, id) of each entry, the damaged lines, and the entries' lines, one `json.loads` for each."""
    entries: list[tuple[int, str]] = []
    faults: list[int] = []
    lines: list[bytes] = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if number == 1 or not line.strip():
            continue
        try:
            record = json.loads(line)
            entries.append((number, record["id"]))
            lines.append(line)
        except (ValueError, KeyError, TypeError):
            faults.append(number)
    return entries, faults, lines


class StoreMachine(RuleBasedStateMachine):
    """A store that reads and appends, and a program that appends without asking."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.directory = tempfile.TemporaryDirectory()
        self.path = Path(self.directory.name, "session.jsonl")
        self.count = 0
        self.store: JsonlEventStore | None = None
        self.acknowledged: list[str] = []

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    @initialize(version=st.sampled_from([2, 3]), durable=st.booleans(), terminated=st.booleans())
    def begin(self, version: int, durable: bool, terminated: bool) -> None:
        end = "\n" if terminated else ""
        self.path.write_text(f'{{"type":"session","version":{version},"id":"s","cwd":"/x"}}{end}')
        self.durable = durable
        self.open()

    def open(self) -> None:
        async def open_store() -> JsonlEventStore:
            if self.store is not None:
                await self.store.close()
            return await JsonlEventStore.open(
                self.path, header_of_new=lambda: make_header("", "", ""), durable=self.durable
            )

        self.store = self.run(open_store())

    @rule(lines=st.integers(0, 3))
    def append(self, lines: int) -> None:
        assert self.store is not None
        ids = [f"own{self.count + number}" for number in range(lines)]
        self.count += lines
        data = [b'{"type":"label","id":"%s","targetId":"x"}' % name.encode() for name in ids]
        try:
            batch = self.run(self.store.append(data))
        except SessionRewrittenError:
            self.open()
            return
        assert [envelope.id for envelope in batch.envelopes] == ids
        assert batch.first_seq + lines == self.store.version + 1
        self.acknowledged += ids

    @rule(piece=st.sampled_from(PIECES))
    def write_from_outside(self, piece: str) -> None:
        self.count += 1
        if b"\n" not in self.path.read_bytes():
            # Welded to the header it would be the end of the session.
            piece = "\n" + piece
        with self.path.open("ab") as file:
            file.write(piece.replace("%d", str(self.count)).encode())

    @rule()
    def reopen(self) -> None:
        self.open()

    @rule()
    def migrate(self) -> None:
        assert self.store is not None
        try:
            self.run(self.store.migrate())
        except SessionRewrittenError:
            self.open()

    @rule()
    def flush(self) -> None:
        assert self.store is not None
        self.run(self.store.flush())

    @precondition(lambda self: self.store is not None)
    @rule(after=st.integers(0, 5), data=st.data())
    def catch_up(self, after: int, data: st.DataObject) -> None:
        async def read(store: JsonlEventStore) -> list[str]:
            ids: list[str] = []
            while await store.check():
                async for _ in store.read(store.version):
                    pass
            async for batch in store.read(after):
                assert batch.first_seq == after + len(ids) + 1
                ids += [envelope.id for envelope in batch.envelopes]
            return ids

        assert self.store is not None
        try:
            ids = self.run(read(self.store))
        except SessionRewrittenError:
            self.open()
            return
        entries, faults, lines = plain(self.path)
        assert ids == [name for _, name in entries][after:]
        assert self.store.version == len(entries)
        assert [self.store.line_number(seq) for seq in range(1, len(entries) + 1)] == [line for line, _ in entries]
        assert [fault.line for fault in self.store.faults] == faults
        if lines:
            order = data.draw(st.lists(st.integers(1, len(lines)), max_size=6))
            assert self.run(self.store.read_lines(order)) == [lines[seq - 1] for seq in order]

    @invariant()
    def what_was_acknowledged_is_in_the_file_in_order(self) -> None:
        if self.path.exists():
            ids = [name for _, name in plain(self.path)[0] if name.startswith("own")]
            # Another program may make our last line longer, never shorter or fewer.
            assert [name for name in self.acknowledged if name in ids] == ids
            assert all(name.encode() in self.path.read_bytes() for name in self.acknowledged)

    def teardown(self) -> None:
        if self.store is not None:
            self.run(self.store.close())
        self.runner.close()
        self.directory.cleanup()


StoreMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=25)
TestStoreMachine = StoreMachine.TestCase
