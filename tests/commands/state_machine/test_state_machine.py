"""Sessions against a naive model: whatever is done in whatever order, both say the same.

`SESSIONTREE_EXAMPLES` and `SESSIONTREE_STEPS` make it a soak.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from sessiontree import ConcurrencyError, Cursor, EntryConflictError, SessionManager, SessionTreeNode

T = TypeVar("T")

SETTINGS = settings(
    max_examples=int(os.environ.get("SESSIONTREE_EXAMPLES", "100")),
    stateful_step_count=int(os.environ.get("SESSIONTREE_STEPS", "30")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

texts = st.sampled_from(["", "one", "\u2028 é", "three\n"])
picks = st.integers(0, 100)
flags = st.booleans()
kinds = st.sampled_from(
    (
        "user",
        "assistant",
        "failed",
        "result",
        "thinking",
        "model",
        "mode",
        "rules",
        "custom",
        "note",
        "compaction",
        "name",
    )
)


class Machine(RuleBasedStateMachine):
    """One session, and cursors on it. The leaf of `owners[n]` is `leaves[n]`; the first is the manager."""

    naive: Any
    command: Any
    directory: Path | None

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.time = 1_770_000_000
        self.ids = 0
        self.predicted = 0
        self.left: dict[Path, bytes] = {}
        self.session = self.run(self.make())
        self.start_over(self.naive([]))

    async def make(self) -> SessionManager:
        if self.directory is None:
            return SessionManager.in_memory(cwd="/p", **self.options())
        place = Path(tempfile.mkdtemp(dir=self.directory))
        return await SessionManager.create(cwd="/p", sessions_dir=place, **self.options())

    def options(self) -> Any:
        return {"durability": "os", "clock": lambda: self.time, "id_factory": self.make_id}

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(call)

    def make_id(self) -> str:
        self.ids += 1
        return f"e{self.ids}"

    def predict(self) -> str:
        self.predicted += 1
        return f"e{self.predicted}"

    def start_over(self, model: Any) -> None:
        """The session was made, opened or switched: it has one owner, whose leaf is the last entry."""
        self.model = model
        self.owners: list[Cursor] = [self.session]
        self.leaves: list[str | None] = [model.entries[-1]["id"] if model.entries else None]
        self.bytes = b""

    def owner(self, pick: int) -> int:
        return pick % len(self.owners)

    def entry(self, pick: int) -> str:
        return str(self.model.entries[pick % len(self.model.entries)]["id"]) if self.model.entries else "none"

    def record(self, owner: int, fields: dict[str, Any]) -> str:
        """The model's append."""
        entry_id = self.predict()
        self.model.entries.append({"id": entry_id, "parentId": self.leaves[owner], "time": self.time, **fields})
        self.leaves[owner] = entry_id
        return entry_id

    @rule(pick=picks, kind=kinds, text=texts, at=picks)
    def append(self, pick: int, kind: str, text: str, at: int) -> None:
        owner = self.owner(pick)
        name, arguments, fields = self.command(kind, text, self.entry(at))
        assert self.run(getattr(self.owners[owner], name)(*arguments)) == self.record(owner, fields)

    @rule(pick=picks, words=st.lists(texts, max_size=4))
    def append_many(self, pick: int, words: list[str]) -> None:
        owner = self.owner(pick)
        messages = [{"role": "user", "content": text} for text in words]
        expected = [self.record(owner, {"type": "message", "message": message}) for message in messages]
        assert self.run(self.owners[owner].append_many(messages)) == expected

    @rule(calls=st.lists(st.tuples(picks, kinds, texts), min_size=2, max_size=6), at=picks)
    def append_at_once(self, calls: list[tuple[int, str, str]], at: int) -> None:
        started, expected, first_kept = [], [], self.entry(at)
        for pick, kind, text in calls:
            owner = self.owner(pick)
            name, arguments, fields = self.command(kind, text, first_kept)
            started.append(getattr(self.owners[owner], name)(*arguments))
            expected.append(self.record(owner, fields))

        async def gather() -> list[Any]:
            return list(await asyncio.gather(*started))

        assert self.run(gather()) == expected

    @precondition(lambda self: self.model.entries)
    @rule(pick=picks, at=picks, text=texts, clear=flags)
    def label(self, pick: int, at: int, text: str, clear: bool) -> None:
        owner, target_id, label = self.owner(pick), self.entry(at), None if clear else text
        append = self.owners[owner].append_label_change(target_id, label)
        expected = self.record(owner, {"type": "label", "targetId": target_id, "label": label})
        assert self.run(append) == expected

    @rule(pick=picks, at=picks, root=flags, text=texts)
    def branch_with_summary(self, pick: int, at: int, root: bool, text: str) -> None:
        owner = self.owner(pick)
        position = None if root or not self.model.entries else self.entry(at)
        self.leaves[owner] = position
        expected = self.record(owner, {"type": "branch_summary", "fromId": position or "root", "summary": text})
        assert self.run(self.owners[owner].branch_with_summary(position, text)) == expected

    @rule(pick=picks, at=picks, root=flags)
    def move(self, pick: int, at: int, root: bool) -> None:
        owner = self.owner(pick)
        self.leaves[owner] = None if root or not self.model.entries else self.entry(at)

        async def move() -> None:
            if (leaf := self.leaves[owner]) is None:
                self.owners[owner].reset_leaf()
            else:
                self.owners[owner].branch(leaf)

        self.run(move())

    @rule(at=picks)
    def make_cursor(self, at: int) -> None:
        leaf = self.entry(at) if self.model.entries else None

        async def make() -> Cursor:
            return self.session.cursor(leaf)

        self.owners.append(self.run(make()))
        self.leaves.append(leaf)

    @precondition(lambda self: self.model.entries)
    @rule(pick=picks, at=picks)
    def retry(self, pick: int, at: int) -> None:
        """The same id again: answered for the same content, refused for other; nothing is written."""
        entry = self.model.get(self.entry(at))
        cursor = self.owners[self.owner(pick)]
        if entry["type"] == "message":
            assert self.run(cursor.append_message(entry["message"], entry_id=entry["id"])) == entry["id"]
        with pytest.raises(EntryConflictError):
            self.run(cursor.append_custom_entry("other", entry_id=entry["id"]))

    @rule(pick=picks)
    def expect_another_leaf(self, pick: int) -> None:
        with pytest.raises(ConcurrencyError):
            self.run(self.owners[self.owner(pick)].append_message({"role": "user"}, expected_leaf="nowhere"))

    @rule(pick=picks)
    def cancel(self, pick: int) -> None:
        """D8: the writer is there and takes an append at once, so it is carried out."""
        owner, message = self.owner(pick), {"role": "user", "content": "cancelled"}

        async def cancel() -> None:
            await self.owners[owner].append_message(message)
            append = asyncio.ensure_future(self.owners[owner].append_message(message))
            await asyncio.sleep(0)
            append.cancel()
            await asyncio.wait([append])
            assert append.cancelled()

        self.run(cancel())
        for _ in range(2):
            self.record(owner, {"type": "message", "message": message})

    @precondition(lambda self: self.model.entries)
    @rule(at=picks)
    def create_branched_session(self, at: int) -> None:
        self.leave()
        leaf = self.entry(at)
        self.run(self.session.create_branched_session(leaf))
        self.start_over(self.model.fork(leaf, lambda: {"id": self.predict(), "time": self.time}))

    @rule(seldom=st.integers(0, 3))
    def new_session(self, seldom: int) -> None:
        if seldom == 0:
            self.leave()
            self.run(self.session.new_session())
            self.start_over(self.naive([]))

    @rule()
    def flush(self) -> None:
        self.run(self.session.flush())

    @rule(seconds=st.integers(-3, 3))
    def time_passes(self, seconds: int) -> None:
        self.time += seconds

    @precondition(lambda self: self.directory is not None and self.model.entries)
    @rule()
    def reopen(self) -> None:
        self.run(self.session.close())
        kept = self.bytes
        self.session = self.run(SessionManager.open(str(self.session.session_file), **self.options()))
        self.start_over(self.model)
        self.bytes = kept
        self.same_tree()

    def leave(self) -> None:
        if self.directory is not None and self.bytes:
            self.left[Path(str(self.session.session_file))] = self.bytes

    @rule()
    def same_tree(self) -> None:
        """T-26..T-31: nodes in their order, entries with their parents."""
        stack: list[SessionTreeNode] = self.run(self.session.get_tree())
        assert [node.entry.id for node in stack] == self.model.children(None)
        while stack:
            node = stack.pop()
            assert [child.entry.id for child in node.children] == self.model.oldest_first(node.entry.id)
            assert node.label == self.model.labels().get(node.entry.id)
            stack += node.children
        stored = [(entry.type, entry.id, entry.parent_id) for entry in self.run(self.session.get_entries())]
        assert stored == [(entry["type"], entry["id"], entry["parentId"]) for entry in self.model.entries]

    @invariant()
    def both_say_the_same(self) -> None:
        session, model = self.session, self.model
        assert (session.entry_count, session.root_ids) == (len(model.entries), model.children(None))
        assert list(session.labels.items()) == list(model.labels().items())
        assert (session.session_name, session.usage.input) == (model.name(), model.input_tokens())
        assert session.report.faults == []
        for entry in model.entries:
            assert session.child_ids(entry["id"]) == model.children(entry["id"])
        for owner, leaf in zip(self.owners, self.leaves, strict=True):
            assert owner.leaf_id == leaf
            assert owner.path_ids() == [entry["id"] for entry in model.path(leaf)]
            context = self.run(owner.build_session_context())
            assert context.messages == model.messages(leaf)
            state = context.thinking_level, context.mode, context.models, context.injected_ttsr_rules
            assert state == model.state(leaf)

    @invariant()
    def a_file_grows_by_whole_lines_only(self) -> None:
        """T-12, T-69: what was written stays, in the files that were left too."""
        if self.directory is None:
            return
        path = Path(str(self.session.session_file))
        data = path.read_bytes() if path.exists() else b""
        assert data.startswith(self.bytes)
        assert data.count(b"\n") == len(self.model.entries) + bool(data)
        assert data.endswith(b"\n") or not (data or self.model.entries)
        self.bytes = data
        assert all(left.read_bytes() == before for left, before in self.left.items())

    def teardown(self) -> None:
        self.run(self.session.close())
        self.loop.close()


@pytest.mark.parametrize("place", ["file", "memory"])
def test_a_session_behaves_as_the_model_does(naive_session: Any, command: Any, tmp_path: Path, place: str) -> None:
    """T-10..T-13, T-20..T-33, T-40..T-44, T-50..T-53, T-60..T-72, T-80, T-95..T-98, C-01..C-41, F-117."""
    directory = tmp_path if place == "file" else None
    fields = {"naive": naive_session, "command": staticmethod(command), "directory": directory}
    run_state_machine_as_test(type("PlacedMachine", (Machine,), fields), settings=SETTINGS)
