"""The seeded generator of realistic sessions, of any size, in bounded memory."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench.figures import Figures
from bench.messages import Messages
from bench.profile import PROFILES, Profile

COMPACT_EVERY = 2000
"""Entries on the path between two compactions."""
KEPT = 100
"""About how many entries before it a compaction keeps."""
FARTHEST_BRANCH = 50
"""How many entries a branch goes back at most."""

# A turn has about eight entries; these are chances for each turn.
_BRANCH_SUMMARY = 1 / 3
_LABEL = 8 / 300
_CUSTOM = 8 / 100
_CUSTOM_MESSAGE = 8 / 400
_SETTINGS = 8 / 500

START_MS = 1_767_607_200_000  # 2026-01-05T10:00:00.000Z
_REMEMBERED = 512  # entries of the path that are kept in mind: more than KEPT and all branches in a row need
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class _Step(NamedTuple):
    entry_id: str
    opens_turn: bool  # a user message: a compaction may keep from here on
    ends_turn: bool  # a branch may start below it: no tool call is open
    since_compaction: int


class _Chat:
    """The conversation as it is written: ids, times, and the end of the current path."""

    def __init__(self, seed: int, entries: int, tail: int, profile: Profile) -> None:
        self._rng = Random(seed)
        self._seed = seed
        self._entries = entries
        self._branch = profile.branch
        huge = profile.huge_results
        self._huge_at = deque(entries * (2 * number + 1) // (2 * huge) for number in range(huge))
        self._calm_from = entries - tail if tail else entries + 1
        self._messages = Messages(self._rng, profile.result_lines)
        self._written = 0
        self._time_ms = START_MS + seed * 60_000
        self._path: deque[_Step] = deque(maxlen=_REMEMBERED)

    def lines(self) -> Iterator[bytes]:
        yield encode_line(session_header(self._seed, "/home/dev/project"))
        entries = self._endless_entries()
        for _ in range(self._entries):
            yield encode_line(next(entries))

    def _endless_entries(self) -> Iterator[dict[str, object]]:
        yield self._entry("model_change", model=self._messages.model, role="default")
        yield self._entry("thinking_level_change", ends=True, thinkingLevel="medium")
        calm = False
        while True:
            yield from self._turn()
            if calm:
                continue
            if self._written >= self._calm_from:
                # The same texts close every session of this seed and tail, however long it is.
                calm = True
                self._rng.seed(self._seed)
                yield self._compaction()
                continue
            yield from self._between_turns()

    def _turn(self) -> Iterator[dict[str, object]]:
        yield self._entry("message", opens=True, message=self._messages.user(self._time_ms))
        for _ in range(int(7 * self._rng.random())):
            call_id = f"call_{self._written:08x}"
            yield self._entry("message", message=self._messages.assistant(self._time_ms, call_id))
            huge = self._huge_is_due()
            yield self._entry("message", message=self._messages.tool_result(self._time_ms, call_id, huge=huge))
        yield self._entry("message", ends=True, message=self._messages.assistant(self._time_ms, None))

    def _huge_is_due(self) -> bool:
        if not self._huge_at or self._written < self._huge_at[0]:
            return False
        self._huge_at.popleft()
        return True

    def _between_turns(self) -> Iterator[dict[str, object]]:
        rng, text = self._rng, self._messages.text
        if self._path[-1].since_compaction >= COMPACT_EVERY:
            yield self._compaction()
        if rng.random() < _LABEL:
            yield self._entry("label", ends=True, targetId=rng.choice(self._path).entry_id, label=text.word())
        if rng.random() < _CUSTOM:
            yield self._entry("custom", ends=True, customType="todo", data={"items": text.prose(1, 4).split("\n")})
        if rng.random() < _CUSTOM_MESSAGE:
            content = text.prose(1, 6)
            yield self._entry("custom_message", ends=True, customType="note", content=content, display=True)
        if rng.random() < _SETTINGS:
            level = rng.choice(("off", "low", "medium", "high"))
            yield self._entry("thinking_level_change", ends=True, thinkingLevel=level)
            yield self._entry("model_change", ends=True, model=self._messages.next_model(), role="default")
        if rng.random() < self._branch and self._go_back() and rng.random() < _BRANCH_SUMMARY:
            origin = self._path[-1].entry_id
            yield self._entry("branch_summary", ends=True, fromId=origin, summary=text.prose(4, 16))

    def _go_back(self) -> bool:
        """Move the leaf to the end of an earlier turn; False when none is near enough."""
        steps = list(self._path)[-1 - FARTHEST_BRANCH :]
        back = [len(steps) - 1 - at for at, step in enumerate(steps[:-1]) if step.ends_turn]
        if not back:
            return False
        for _ in range(self._rng.choice(back)):
            self._path.pop()
        return True

    def _compaction(self) -> dict[str, object]:
        steps = list(self._path)
        older = [step for step in steps[:-KEPT] if step.opens_turn]
        kept = older[-1] if older else steps[0]
        entry = self._entry(
            "compaction",
            ends=True,
            summary=self._messages.text.prose(20, 60),
            firstKeptEntryId=kept.entry_id,
            tokensBefore=100_000 + int(80_000 * self._rng.random()),
        )
        self._path[-1] = self._path[-1]._replace(since_compaction=0)
        return entry

    def _entry(self, kind: str, *, opens: bool = False, ends: bool = False, **fields: object) -> dict[str, object]:
        """The next entry, a child of the leaf; it is the new leaf."""
        above = self._path[-1] if self._path else None
        entry_id = unique_id(self._written, self._seed)
        self._written += 1
        self._time_ms += 1000 + int(40_000 * self._rng.random())
        since = above.since_compaction + 1 if above else 0
        self._path.append(_Step(entry_id, opens, ends, since))
        parent_id = above.entry_id if above else None
        return {
            "type": kind,
            "id": entry_id,
            "parentId": parent_id,
            "timestamp": iso(self._time_ms),
            **fields,
        }


def chat_lines(entries: int, *, tail: int = 0, seed: int = 1, profile: str = "chat") -> Iterator[bytes]:
    """The lines of a session of that profile, header first: of `chat`, `entries` entries of about 1.5 kB.

    Turns of user, assistant and tool result messages; settings, labels, custom entries; a branch about every
    200 entries, at most 50 back; a compaction every 2,000 entries of the path, kept from about 100 back.
    With `tail`, the last `tail` entries are one compaction and turns without a branch: the context at the
    leaf then has about `tail + 100` messages, the same ones after the compaction for every size.
    """
    return _Chat(seed, entries, tail, PROFILES[profile]).lines()


def chat_session(directory: str, entries: int, tail: int = 0, seed: int = 1, profile: str = "chat") -> Figures:
    """Write `chat_lines` to `session.jsonl` in the directory; returns its size in bytes."""
    lines = chat_lines(entries, tail=tail, seed=seed, profile=profile)
    return {"bytes": write_lines(Path(directory, "session.jsonl"), lines)}


def write_lines(path: Path, lines: Iterable[bytes]) -> int:
    """Stream the lines to a new file; returns the bytes written."""
    size = 0
    with open(path, "xb", buffering=1 << 20) as file:
        for line in lines:
            size += file.write(line)
    return size


def session_header(number: int, cwd: str) -> dict[str, object]:
    """A version 3 header; sessions of different numbers have different ids and times."""
    session_id = f"00000000-0000-7000-8000-{number:012d}"
    return {
        "type": "session",
        "version": 3,
        "id": session_id,
        "timestamp": iso(START_MS + number * 60_000),
        "cwd": cwd,
    }


def unique_id(number: int, seed: int) -> str:
    """Eight hex characters, unlike for all numbers below 2**32: an odd factor permutes them."""
    return f"{(number * 0x9E3779B1 ^ seed * 0x85EBCA6B) & 0xFFFFFFFF:08x}"


def iso(time_ms: int) -> str:
    """Unix milliseconds as ISO 8601 in UTC with `Z`."""
    return f"{datetime.fromtimestamp(time_ms // 1000, UTC):%Y-%m-%dT%H:%M:%S}.{time_ms % 1000:03d}Z"


def encode_line(value: dict[str, object]) -> bytes:
    """The line of a header or an entry, spelled as JavaScript does: no spaces, no escapes of non-ASCII."""
    return _encode(value).encode() + b"\n"
