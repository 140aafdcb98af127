"""Sample trees for the tests of the row model: a shape, its entries and labels, and their rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sessiontree.app.tool_call_text import tool_calls
from sessiontree.app.tree_lines import VisibleRows
from sessiontree.eventstore.entries import LabelEntry, MessageEntry, SessionEntry, decode_entry

DATA = Path(__file__).parent / "data"


@dataclass
class SampleTree:
    """A `TreeShape` with the entries and labels that its rows are made of."""

    leaf_id: str | None = None
    root_ids: list[str] = field(default_factory=list)
    children: dict[str, list[str]] = field(default_factory=dict)
    entries: dict[str, SessionEntry] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)

    def ordered_child_ids(self, entry_id: str) -> list[str]:
        return self.children.get(entry_id, [])

    def add(self, entry: SessionEntry, parent_id: str | None) -> None:
        self.entries[entry.id] = entry
        siblings = self.root_ids if parent_id is None else self.children.setdefault(parent_id, [])
        siblings.append(entry.id)

    def rows(self, width: int | None = None, **options: Any) -> list[tuple[str, str]]:
        """The id and the line of each row; options as `VisibleRows` takes them."""
        calls = tool_calls(entry.message for entry in self.entries.values() if isinstance(entry, MessageEntry))
        rows = VisibleRows(calls, self.labels, self.leaf_id, **options)
        for entry in self.entries.values():
            rows.add(entry)
        return list(rows.lines(rows.lay_out(self), width))

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
        for entry_id, parent_id in parents.items():
            tree.add(given.get(entry_id) or entry(entry_id), parent_id)
        return tree

    return make


@pytest.fixture
def load_case() -> Callable[[int], SampleTree]:
    """The session of a case: well-formed but for its times; the leaf is its last entry."""

    def load(number: int) -> SampleTree:
        tree = SampleTree()
        lines = (DATA / f"case-{number}.jsonl").read_text(encoding="utf-8").split("\n")
        for one in [decode_entry(line.encode()) for line in lines[1:] if line]:
            tree.add(one, one.parent_id)
            tree.leaf_id = one.id
            if isinstance(one, LabelEntry) and one.target_id:
                tree.labels.pop(one.target_id, None)
                if one.label:
                    tree.labels[one.target_id] = one.label
        for siblings in tree.children.values():
            siblings.sort(key=_instants(tree, siblings).__getitem__)
        return tree

    return load


def _instants(tree: SampleTree, siblings: list[str]) -> dict[str, datetime]:
    """T-28: the instants that siblings are sorted by; an unreadable one is that of the sibling before it."""
    instants = {}
    latest = datetime.min.replace(tzinfo=UTC)
    for entry_id in siblings:
        try:
            latest = datetime.fromisoformat(str(tree.entries[entry_id].timestamp))
        except ValueError:
            pass
        instants[entry_id] = latest
    return instants
