"""Sample trees for the tests of the row model: a shape, its entries and labels, and their rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from sessiontree.app.tool_call_text import tool_calls
from sessiontree.app.tree_lines import VisibleRows
from sessiontree.app.tree_order import FlatTree, flatten
from sessiontree.app.tree_rows import TreeRows, lay_out
from sessiontree.eventstore.entries import LabelEntry, MessageEntry, SessionEntry, decode_entry
from sessiontree.eventstore.envelope import Envelopes, envelope_of
from sessiontree.projections.tree import Tree

DATA = Path(__file__).parent / "data"


@dataclass
class SampleTree:
    """A tree with the entries and labels that its rows are made of."""

    leaf_id: str | None = None
    columns: Tree = field(default_factory=Tree)
    entries: dict[str, SessionEntry] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)

    def add(self, entries: Iterable[SessionEntry], parents: Mapping[str, str | None]) -> None:
        self.entries |= {entry.id: entry for entry in entries}
        envelopes = [replace(envelope_of(entry), parent_id=parents[entry.id]) for entry in self.entries.values()]
        self.columns.apply_batch(1, Envelopes(envelopes))

    def rows(self, width: int | None = None, **options: Any) -> list[tuple[str, str]]:
        """The id and the line of each row; options as `VisibleRows` takes them."""
        calls = tool_calls(entry.message for entry in self.entries.values() if isinstance(entry, MessageEntry))
        rows = VisibleRows(calls, self.labels, self.leaf_id, **options)
        for entry in self.entries.values():
            rows.add(entry)
        return list(rows.lines(rows.lay_out(self.columns), width))

    def flat(self) -> FlatTree:
        return flatten(self.columns, self.leaf_id)

    def laid_out(self, *hidden: str) -> TreeRows:
        """All rows but those of some entries."""
        flat = self.flat()
        return lay_out(flat, (position for position in range(len(flat.seqs)) if flat.id(position) not in hidden))

    def lines(self, **options: Any) -> list[str]:
        return [line for _, line in self.rows(**options)]

    def row_ids(self, **options: Any) -> list[str]:
        return [entry_id for entry_id, _ in self.rows(**options)]


def entry(entry_id: str, entry_type: str = "message", **fields: Any) -> SessionEntry:
    if entry_type == "message":
        fields = {"message": {"role": "user", "content": entry_id, **fields}}
    return decode_entry(json.dumps({"type": entry_type, "id": entry_id, **fields}).encode())


@pytest.fixture
def make_entry() -> Callable[..., SessionEntry]:
    """An entry by id and type, fields as in the file; for a message the keywords are those of the message."""
    return entry


@pytest.fixture
def make_tree() -> Callable[..., SampleTree]:
    """A tree from `{id: parent id}`, children in this order; an entry not given is a user message saying its id."""

    def make(parents: Mapping[str, str | None], leaf: str | None = None, *entries: Any, **labels: str) -> SampleTree:
        tree = SampleTree(leaf_id=leaf, labels=labels)
        given = {one.id: one for one in entries}
        tree.add((given.get(entry_id) or entry(entry_id) for entry_id in parents), parents)
        return tree

    return make


@pytest.fixture
def load_case() -> Callable[[int], SampleTree]:
    """The session of a case: well-formed but for its times; the leaf is its last entry."""

    def load(number: int) -> SampleTree:
        lines = (DATA / f"case-{number}.jsonl").read_text(encoding="utf-8").split("\n")
        entries = [decode_entry(line.encode()) for line in lines[1:] if line]
        tree = SampleTree(leaf_id=entries[-1].id)
        tree.add(entries, {one.id: one.parent_id for one in entries})
        for one in entries:
            if isinstance(one, LabelEntry) and one.target_id:
                tree.labels.pop(one.target_id, None)
                if one.label:
                    tree.labels[one.target_id] = one.label
        return tree

    return load
