"""The rules of the `EventStore` port, for each store that keeps them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from sessiontree.eventstore.abort import AbortController
from sessiontree.eventstore.envelope import Envelope
from sessiontree.eventstore.errors import AbortError, ConcurrencyError, SessionClosedError
from sessiontree.eventstore.header import SessionHeader
from sessiontree.eventstore.jsonl_store import JsonlEventStore
from sessiontree.eventstore.memory_store import MemoryEventStore
from sessiontree.eventstore.store import EventStore

EntryLine = Callable[..., bytes]
ReadAll = Callable[..., Awaitable[list[Envelope]]]


def ids(envelopes: Sequence[Envelope]) -> list[str]:
    return [envelope.id for envelope in envelopes]


class EventStoreSuite:
    """A subclass gives the fixture `store`, a new and empty one, and `another_view` of the same log."""

    async def another_view(self, store: EventStore) -> EventStore:
        raise NotImplementedError

    @pytest.fixture
    def lines(self, entry_line: EntryLine) -> list[bytes]:
        return [entry_line(f"e{number}", f"e{number - 1}" if number else None) for number in range(6)]

    # Appending

    async def test_a_new_store_is_empty_and_of_version_3(self, store: EventStore, new_header: SessionHeader) -> None:
        assert (store.version, store.file_version, store.faults) == (0, 3, [])
        assert store.header == new_header
        assert [batch async for batch in store.read()] == []

    async def test_an_append_answers_with_what_it_recorded(self, store: EventStore, lines: list[bytes]) -> None:
        batch = await store.append(lines[:2])
        assert (batch.first_seq, ids(batch.envelopes), store.version) == (1, ["e0", "e1"], 2)
        batch = await store.append(lines[2:3], expected_version=2)
        assert (batch.first_seq, ids(batch.envelopes), store.version) == (3, ["e2"], 3)
        assert batch.envelopes[0].parent_id == "e1"
        assert [store.line_number(seq) for seq in (1, 2, 3)] == [2, 3, 4]

    @pytest.mark.parametrize("recorded", [0, 2])
    async def test_an_append_that_expects_another_version_writes_nothing(
        self, store: EventStore, lines: list[bytes], recorded: int, read_all: ReadAll
    ) -> None:
        if recorded:
            await store.append(lines[:recorded])
        for expected in {0, 1, 2, 3} - {recorded}:
            with pytest.raises(ConcurrencyError) as caught:
                await store.append(lines[2:], expected_version=expected)
            assert (caught.value.expected, caught.value.actual) == (expected, recorded)
        assert store.version == recorded
        assert ids(await read_all(await self.another_view(store))) == ["e0", "e1"][:recorded]

    async def test_a_batch_of_nothing_records_nothing(self, store: EventStore, lines: list[bytes]) -> None:
        assert (await store.append([])).envelopes == []
        await store.append(lines[:2])
        batch = await store.append([])
        assert (batch.first_seq, batch.envelopes, store.version) == (3, [], 2)
        await store.append(lines[2:3])
        assert (store.version, store.line_number(3)) == (3, 4)

    async def test_appends_at_the_same_time_are_recorded_in_call_order(
        self, store: EventStore, entry_line: EntryLine, read_all: ReadAll
    ) -> None:
        batches = await asyncio.gather(*(store.append([entry_line(f"e{number}")]) for number in range(20)))
        assert [batch.first_seq for batch in batches] == list(range(1, 21))
        assert ids(await read_all(store)) == [f"e{number}" for number in range(20)]

    async def test_of_two_appends_that_expect_the_same_version_one_is_recorded(
        self, store: EventStore, lines: list[bytes], read_all: ReadAll
    ) -> None:
        await store.append(lines[:1])
        appends = (store.append([line], expected_version=1) for line in lines[1:3])
        first, second = await asyncio.gather(*appends, return_exceptions=True)
        assert not isinstance(first, BaseException)
        assert isinstance(second, ConcurrencyError)
        assert ids(await read_all(store)) == ["e0", "e1"]

    async def test_an_append_that_has_begun_is_carried_out_whoever_cancels(
        self, store: EventStore, lines: list[bytes], read_all: ReadAll
    ) -> None:
        await store.append(lines[:1])
        task = asyncio.ensure_future(store.append(lines[1:3]))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        assert ids(await read_all(store)) in (["e0"], ["e0", "e1", "e2"])
        await store.append(lines[3:4])
        assert ids(await read_all(store))[-1] == "e3"
        assert ids(await read_all(await self.another_view(store))) == ids(await read_all(store))

    # Reading

    async def test_reading_goes_on_from_any_position(self, store: EventStore, lines: list[bytes]) -> None:
        await store.append(lines)
        for after in range(8):
            for view in (store, await self.another_view(store)):
                batches = [batch async for batch in view.read(after)]
                numbers = [batch.first_seq + at for batch in batches for at in range(len(batch.envelopes))]
                assert numbers == list(range(after + 1, 7))
                assert [item for batch in batches for item in ids(batch.envelopes)] == [
                    f"e{seq - 1}" for seq in numbers
                ]

    async def test_a_long_log_is_read_in_batches_and_the_loop_runs_between_them(
        self, store: EventStore, entry_line: EntryLine
    ) -> None:
        for start in range(0, 4000, 500):
            await store.append([entry_line(f"e{number}", text="x" * 300) for number in range(start, start + 500)])
        for view in (store, await self.another_view(store)):
            sizes, after = [], 0
            async for batch in view.read():
                assert batch.first_seq == after + 1
                sizes.append(len(batch.envelopes))
                after += sizes[-1]
            assert (after, view.version, len(sizes) > 2, max(sizes) <= 2000) == (4000, 4000, True, True)

    async def test_what_is_appended_while_reading_is_read_once(
        self, store: EventStore, entry_line: EntryLine, read_all: ReadAll
    ) -> None:
        await store.append([entry_line(f"e{number}", text="x" * 300) for number in range(2500)])
        for view in (await self.another_view(store), store):
            known = store.version
            seen: list[str] = []
            async for batch in view.read():
                assert batch.first_seq == len(seen) + 1
                seen += ids(batch.envelopes)
                if store.version < known + 3:
                    await store.append([entry_line(f"e{store.version}")])
            assert seen == [f"e{number}" for number in range(known + 3)]

    async def test_several_read_at_the_same_time_and_each_gets_everything(
        self, store: EventStore, entry_line: EntryLine, read_all: ReadAll
    ) -> None:
        await store.append([entry_line(f"e{number}", text="x" * 300) for number in range(3000)])
        view = await self.another_view(store)
        for found in await asyncio.gather(*(read_all(view, after) for after in (0, 0, 7, 2900))):
            assert found[-1].id == "e2999"
        assert view.version == 3000
        assert ids(await read_all(view)) == [f"e{number}" for number in range(3000)]

    async def test_an_aborted_signal_ends_reading(self, store: EventStore, lines: list[bytes]) -> None:
        await store.append(lines)
        controller = AbortController()
        controller.abort("enough")
        with pytest.raises(AbortError):
            await anext(store.read(signal=controller.signal))

    async def test_lines_come_back_byte_for_byte_in_the_order_asked_for(
        self, store: EventStore, entry_line: EntryLine
    ) -> None:
        odd = [b'{ "type" : "strange", "id":"a",\t"parentId":null , "x": 1.50 }', entry_line("b", text="\u2028 ä 𝄞")]
        lines = [*odd, *(entry_line(f"c{number}", text="y" * 5000) for number in range(30))]
        await store.append(lines)
        for view in (store, await self.another_view(store)):
            assert [batch async for batch in view.read()]
            for order in ([], [1], [32, 1, 17], [2, 2, 31, 2], list(range(32, 0, -1))):
                wanted = [lines[seq - 1] for seq in order]
                assert await view.read_lines(order) == wanted
                assert view.read_lines_now(order) in (wanted, None)

    async def test_looking_for_changes_finds_none_in_what_was_read(
        self, store: EventStore, lines: list[bytes]
    ) -> None:
        await store.append(lines)
        assert await store.check() is False
        assert await store.migrate() is False

    # Following

    async def test_following_gives_what_is_there_and_then_what_comes_until_aborted(
        self, store: EventStore, lines: list[bytes]
    ) -> None:
        await store.append(lines[:2])
        view = await self.another_view(store)
        controller = AbortController()
        seen: list[str] = []
        with pytest.raises(AbortError):
            async for batch in view.follow(1, signal=controller.signal):
                assert batch.first_seq == len(seen) + 2
                seen += ids(batch.envelopes)
                if len(seen) < 5:
                    await store.append(lines[len(seen) + 1 : len(seen) + 2])
                else:
                    controller.abort()
        assert seen == ["e1", "e2", "e3", "e4", "e5"]

    async def test_following_can_be_taken_up_again_where_it_ended(self, store: EventStore, lines: list[bytes]) -> None:
        await store.append(lines)
        for after in (0, 4):
            batch = await anext((await self.another_view(store)).follow(after))
            assert (batch.first_seq, ids(batch.envelopes)[0]) == (after + 1, f"e{after}")

    async def test_an_abort_ends_following_a_log_that_rests(self, store: EventStore, lines: list[bytes]) -> None:
        await store.append(lines)
        controller = AbortController()
        asyncio.get_running_loop().call_later(0.01, controller.abort, "enough")
        with pytest.raises(AbortError) as caught:
            await anext(store.follow(6, signal=controller.signal))
        assert caught.value.reason == "enough"

    # The end

    async def test_becoming_the_writer_twice_is_once(self, store: EventStore, lines: list[bytes]) -> None:
        await asyncio.gather(store.acquire(), store.acquire(), store.append(lines[:1]))
        await store.acquire()
        await store.append(lines[1:])
        await store.flush()
        assert store.version == 6

    async def test_a_store_can_be_closed_twice_and_at_the_same_time(
        self, store: EventStore, lines: list[bytes]
    ) -> None:
        await store.append(lines)
        await asyncio.gather(store.close(), store.close())
        await store.close()

    async def test_a_closed_store_refuses_every_use(self, store: EventStore, lines: list[bytes]) -> None:
        await store.append(lines[:2])
        await store.close()
        uses: list[Callable[[], Awaitable[object]]] = [
            lambda: store.append(lines[2:]),
            lambda: anext(store.read()),
            lambda: anext(store.follow(0)),
            lambda: anext(store.follow(2)),
            lambda: store.read_lines([1]),
            store.check,
            store.flush,
            store.acquire,
            store.migrate,
        ]
        for use in uses:
            with pytest.raises(SessionClosedError):
                await use()
        with pytest.raises(SessionClosedError):
            store.read_lines_now([1])
        assert store.version == 2

    async def test_a_store_that_was_never_used_can_be_closed(self, store: EventStore) -> None:
        await store.close()


class JsonlSuite(EventStoreSuite):
    durable: bool

    @pytest.fixture
    async def store(self, tmp_path: Path, new_header: SessionHeader) -> AsyncIterator[EventStore]:
        self.views: list[EventStore] = []
        store = JsonlEventStore.create(tmp_path / "new" / "session.jsonl", new_header, durable=self.durable)
        yield store
        for opened in (store, *self.views):
            await opened.close()

    async def another_view(self, store: EventStore) -> EventStore:
        assert isinstance(store, JsonlEventStore)
        if not store.path.exists():
            return store
        view = await JsonlEventStore.open(store.path, header_of_new=lambda: store.header)
        self.views.append(view)
        return view


class TestJsonlEventStore(JsonlSuite):
    durable = True


class TestJsonlEventStoreWithoutSync(JsonlSuite):
    durable = False


class TestJsonlEventStoreOfAnEmptyFile(JsonlSuite):
    """F-80: a file of zero bytes is a new session at that path."""

    durable = False

    @pytest.fixture
    async def store(self, tmp_path: Path, new_header: SessionHeader) -> AsyncIterator[EventStore]:
        self.views: list[EventStore] = []
        path = tmp_path / "empty.jsonl"
        path.touch()
        store = await JsonlEventStore.open(path, header_of_new=lambda: new_header, durable=False)
        yield store
        for opened in (store, *self.views):
            await opened.close()


class TestJsonlEventStoreOnASlowDisk(JsonlSuite):
    """What is not in memory is read in a thread, while the loop goes on."""

    durable = False

    @pytest.fixture(autouse=True)
    def slow_disk(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sessiontree.eventstore.read_file._NOWAIT", 0)


class TestMemoryEventStore(EventStoreSuite):
    """F-117, X-63: in memory, with the behaviour of the file's."""

    @pytest.fixture
    async def store(self, new_header: SessionHeader) -> AsyncIterator[EventStore]:
        store = MemoryEventStore(new_header)
        yield store
        await store.close()

    async def another_view(self, store: EventStore) -> EventStore:
        return store
