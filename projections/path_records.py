"""The records of path states by number, those of an indexed session decoded when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any

import msgspec
from msgspec import Struct

from ..eventstore.index.index_file import IndexFile
from ..eventstore.index.index_writer import IndexWriter
from ..eventstore.index.packed import pack, unpack
from ..eventstore.index.stored_texts import StoredTexts


class InjectedRules(Struct, frozen=True):
    """The names that one entry injected, and those before it on its path."""

    before: InjectedRules | None
    names: list[str]


class PathRecord(Struct, frozen=True):
    """What holds after the last entry at or above that changed it. `cut`: a compaction or reset boundary, or 0."""

    cut: int = 0
    thinking_level: str = "off"
    configured_thinking_level: str | None = None
    models: Mapping[str, str] = {}
    default_is_explicit: bool = False
    mode: str = "none"
    mode_data: dict[str, Any] | None = None
    service_tier: Mapping[str, str] | None = None
    rules: InjectedRules | None = None

    def injected_rules(self) -> list[str]:
        """Return the names injected on the path, first seen first (C-17, T-33)."""
        groups = []
        rules = self.rules
        while rules is not None:
            groups.append(rules.names)
            rules = rules.before
        return list(dict.fromkeys(name for names in reversed(groups) for name in names))


class _StoredRecord(Struct, frozen=True, array_like=True):
    """A record without its rules, whose number is `rules`, 0 for none."""

    record: PathRecord
    rules: int


class _StoredRules(Struct, frozen=True, array_like=True):
    """`before`: the number of the rules before, 0 for none. The first rules have the number 1."""

    before: int
    names: list[str]


class PathRecords:
    """A list of records that begins with the empty one."""

    def __init__(self) -> None:
        self._added: list[PathRecord] = [PathRecord()]
        self._known = 0
        self._stored: StoredTexts | None = None
        self._stored_rules: StoredTexts | None = None
        self._decoded: dict[int, PathRecord] = {}
        self._decoded_rules: dict[int, InjectedRules | None] = {0: None}

    def restore(self, file: IndexFile) -> None:
        """Begin with what an index holds."""
        self._added = []
        self._stored, self._stored_rules = StoredTexts(file, "records"), StoredTexts(file, "rules")
        self._known = len(self._stored)

    async def store(self, writer: IndexWriter) -> None:
        """Write the records there are now."""
        # Each record adds to the rules of an earlier one, so that what is before has its number.
        numbers = {id(rules): number for number, rules in self._decoded_rules.items()}
        count = len(self._added)
        added_rules: list[bytes] = []
        known_rules = len(self._stored_rules) if self._stored_rules is not None else 0

        def added() -> Iterator[bytes]:
            for record in islice(self._added, count):
                rules = record.rules
                if id(rules) not in numbers:
                    assert rules is not None
                    added_rules.append(pack(_StoredRules(numbers[id(rules.before)], rules.names)))
                    numbers[id(rules)] = known_rules + len(added_rules)
                yield pack(_StoredRecord(msgspec.structs.replace(record, rules=None), numbers[id(rules)]))

        await writer.add_texts("records", chain(self._stored or (), added()))
        await writer.add_texts("rules", chain(self._stored_rules or (), added_rules))

    def __len__(self) -> int:
        return self._known + len(self._added)

    def __getitem__(self, number: int) -> PathRecord:
        if number >= self._known:
            return self._added[number - self._known]
        record = self._decoded.get(number)
        if record is None:
            assert self._stored is not None
            stored: _StoredRecord = unpack(self._stored[number], _StoredRecord)
            record = msgspec.structs.replace(stored.record, rules=self._rules(stored.rules))
            self._decoded[number] = record
        return record

    def _rules(self, number: int) -> InjectedRules | None:
        waiting: list[tuple[int, list[str]]] = []
        while number not in self._decoded_rules:
            assert self._stored_rules is not None
            stored: _StoredRules = unpack(self._stored_rules[number - 1], _StoredRules)
            waiting.append((number, stored.names))
            number = stored.before
        rules = self._decoded_rules[number]
        while waiting:
            number, names = waiting.pop()
            rules = self._decoded_rules[number] = InjectedRules(rules, names)
        return rules

    def append(self, record: PathRecord) -> int:
        """Add a record; return its number."""
        self._added.append(record)
        return len(self) - 1
