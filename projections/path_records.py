"""The records of path states by number, those of an indexed session decoded when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ..eventstore.index.index_file import IndexFile
from ..eventstore.index.index_writer import IndexWriter
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
        """Write all records there are now."""
        numbers: dict[int, int] = {}
        rules: list[bytes] = []
        # Each record adds to the rules of an earlier one at most once, so that what is before has its number.
        kept = list(self)
        for record in kept:
            added = record.rules
            if added is not None and id(added) not in numbers:
                rules.append(_encode(_StoredRules(_number(numbers, added.before), added.names)))
                numbers[id(added)] = len(rules)
        plain = (msgspec.structs.replace(record, rules=None) for record in kept)
        stored = (
            _StoredRecord(record, _number(numbers, whole.rules)) for record, whole in zip(plain, kept, strict=True)
        )
        await writer.add_texts("records", map(_encode, stored))
        await writer.add_texts("rules", rules)

    def __len__(self) -> int:
        return self._known + len(self._added)

    def __iter__(self) -> Iterator[PathRecord]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: int) -> PathRecord:
        if number >= self._known:
            return self._added[number - self._known]
        record = self._decoded.get(number)
        if record is None:
            assert self._stored is not None
            stored = _record_decoder.decode(self._stored[number])
            record = msgspec.structs.replace(stored.record, rules=self._rules(stored.rules))
            self._decoded[number] = record
        return record

    def _rules(self, number: int) -> InjectedRules | None:
        waiting: list[tuple[int, list[str]]] = []
        while number not in self._decoded_rules:
            assert self._stored_rules is not None
            stored = _rules_decoder.decode(self._stored_rules[number - 1])
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


_encode = msgspec.msgpack.Encoder().encode
_record_decoder = msgspec.msgpack.Decoder(_StoredRecord)
_rules_decoder = msgspec.msgpack.Decoder(_StoredRules)


def _number(numbers: Mapping[int, int], rules: InjectedRules | None) -> int:
    return numbers[id(rules)] if rules is not None else 0
