"""What the tests of projections share: logs given as dicts, folded batch by batch, and random odd logs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import strategies as st

from sessiontree.eventstore.entries import SessionEntry, decode_entry
from sessiontree.eventstore.header import make_header
from sessiontree.eventstore.memory_store import MemoryEventStore
from sessiontree.eventstore.scanner import scan_chunk
from sessiontree.eventstore.store import EntryBatch
from sessiontree.projections.context import SessionContext, build_context, context_window
from sessiontree.projections.projector import Projector
from sessiontree.projections.tree import ROOT

Fields = dict[str, Any]


class FedLog:
    """A projector over entries given as dicts; `feed` folds the next so many of them, all by default."""

    def __init__(self, entries: Iterable[Fields], title: str | None = None) -> None:
        self.lines = [json.dumps(entry).encode() for entry in entries]
        self.projector = Projector(MemoryEventStore(make_header("s", "", "", title=title), self.lines))

    def feed(self, count: int | None = None) -> FedLog:
        start = self.projector.position
        stop = len(self.lines) if count is None else start + count
        if chunk := b"".join(line + b"\n" for line in self.lines[start:stop]):
            self.projector.apply(EntryBatch(start + 1, scan_chunk(chunk, 0, 1).envelopes))
        return self

    def add(self, *entries: Fields) -> FedLog:
        self.lines += [json.dumps(entry).encode() for entry in entries]
        return self.feed()

    def ids(self, seqs: Iterable[int]) -> list[str]:
        return [self.projector.tree.ids[seq] for seq in seqs]

    def seq(self, entry_id: str | None) -> int:
        return self.projector.tree.find(entry_id) if entry_id is not None else ROOT

    def bodies(self, seqs: Iterable[int]) -> dict[int, SessionEntry]:
        return {seq: decode_entry(self.lines[seq - 1]) for seq in seqs}

    def context(self, leaf: str | None, **options: bool) -> SessionContext:
        window = context_window(self.projector.tree, self.projector.states, self.seq(leaf))
        return build_context(window, self.bodies(window.needed), **options)


@pytest.fixture(scope="session")
def fed_log() -> Callable[..., FedLog]:
    """Makes a log that is fed by the test."""
    return FedLog


@pytest.fixture(scope="session")
def chain() -> Callable[..., list[Fields]]:
    """Makes entries of these bodies, each the child of the one before: `e1`, `e2`, …, one second apart."""

    def make(*bodies: Fields, first: int = 1, parent: str | None = None) -> list[Fields]:
        entries = []
        for number, body in enumerate(bodies, first):
            moment = (datetime(2026, 1, 5, 10) + timedelta(seconds=number)).isoformat(timespec="milliseconds") + "Z"
            entries.append({"id": f"e{number}", "parentId": parent, "timestamp": moment, **body})
            parent = str(entries[-1]["id"])
        return entries

    return make


_FIRST = 1_767_225_600_000  # 2026-01-01T00:00:00Z
_TIMES: list[tuple[Any, float | None]] = [
    ("2026-01-01T00:00:00.000Z", _FIRST),
    ("2026-01-01T00:00:00.001Z", _FIRST + 1),
    ("2025-12-31T23:59:59.999Z", _FIRST - 1),
    ("2026-01-01T02:00:00.001+02:00", _FIRST + 1),
    ("2025-12-31T19:00:00-05:00", _FIRST),
    ("2026-01-01T00:00:00", _FIRST),
    ("2026-01-01", _FIRST),
    ("1987-04-23T22:45:36.512Z", 546_216_336_512),
    (_FIRST + 1, _FIRST + 1),
    (_FIRST + 0.5, _FIRST + 0.5),
    (0, 0),
    ("yesterday", None),
    ("", None),
    (None, None),
    (True, None),
    (1e300, None),
]
_RULES = st.lists(st.sampled_from(["r1", "r2", "r3"]), max_size=3)
_TIERS: list[tuple[Any, dict[str, str] | None]] = [
    (None, None),
    ("priority", {"openai": "priority", "anthropic": "priority", "google": "priority"}),
    ("openai-only", {"openai": "priority"}),
    ("claude-only", {"anthropic": "priority"}),
    ("auto", {"openai": "auto"}),
    ("default", {"openai": "default"}),
    ("flex", {"openai": "flex"}),
    ("scale", {"openai": "scale"}),
    ("unheard-of", None),
    ("", None),
    ({}, None),
    ({"openai": "flex", "google": "auto", "other": "flex"}, {"openai": "flex", "google": "auto"}),
    ({"openai": "fast", "anthropic": None}, None),
]
# Of the wrong kind: such an entry stands in the tree and adds nothing.
_BAD: list[Fields] = [
    {"type": "message"},
    {"type": "message", "message": {"content": "no role"}},
    {"type": "message", "message": "text"},
    {"type": "compaction", "summary": 5, "firstKeptEntryId": "e1"},
    {"type": "compaction", "firstKeptEntryId": 5, "summary": "s"},
    {"type": "branch_summary", "summary": None},
    {"type": "custom_message", "customType": "note", "content": 5},
    {"type": "thinking_level_change", "thinkingLevel": 5},
    {"type": "model_change", "model": "p/m", "role": 5},
    {"type": "mode_change", "mode": None},
    {"type": "service_tier_change", "serviceTier": 5},
    {"type": "ttsr_injection", "injectedRules": "r1"},
    {"type": "label", "targetId": "e1", "label": 5},
    {"type": "label", "targetId": 5, "label": "x"},
    {"type": "session_info", "name": 5},
    {"type": "title_change", "title": None},
]


def _some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Fields]:
    """Objects with any part of these fields."""
    return st.fixed_dictionaries({}, optional=fields)


_COUNTS = st.integers(0, 9)
# Sums of such fractions are exact, in whatever order.
_SHARES = st.integers(1, 7).map(lambda eighths: eighths / 8)
_USAGE = _some(
    input=_COUNTS,
    output=_COUNTS,
    cacheRead=_COUNTS,
    cacheWrite=_COUNTS,
    totalTokens=_COUNTS,
    cost=_some(total=_SHARES, input=_SHARES),
    premiumRequests=st.one_of(_COUNTS, _SHARES),
    orchestration=_some(input=_COUNTS, output=_COUNTS, cacheRead=_COUNTS),
)
_SPENT = _some(usage=_USAGE)
_BLOCKS = st.sampled_from(
    [
        {"type": "text", "text": "t"},
        {"type": "toolCall", "id": "t1", "name": "task", "arguments": {}},
        {"type": "toolCall", "id": "t2", "name": "bash", "arguments": {}},
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"},
        {"type": "redactedThinking", "data": "xx"},
    ]
)
_ASSISTANT = st.builds(
    lambda content, model, more: {"role": "assistant", "content": content, **model, **more},
    st.lists(_BLOCKS, max_size=3),
    st.sampled_from([{"provider": "a", "model": "m1"}, {"provider": "a", "model": "m2"}, {"provider": "a"}, {}]),
    _some(usage=_USAGE, stopReason=st.sampled_from(["stop", "aborted", "error"])),
)
_RESULT = st.builds(
    lambda call, tool, more: {"role": "toolResult", "toolCallId": call, "toolName": tool, "content": [], **more},
    st.sampled_from(["t1", "t2"]),
    st.sampled_from(["task", "bash"]),
    _some(details=_SPENT, usage=_USAGE),
)
_MESSAGES = st.one_of(
    st.just({"role": "user", "content": "q"}),
    _ASSISTANT,
    _ASSISTANT,
    _RESULT,
    st.just({"role": "custom", "customType": "interrupted-thinking", "content": "go on", "display": False}),
)


def _bodies(ids: list[str]) -> st.SearchStrategy[Fields]:
    """Bodies of entries of every type, on targets from `ids` and one that is nowhere."""
    targets = st.sampled_from([*ids, "ghost"])

    def kind(name: str, must: dict[str, Any] | None = None, /, **may: Any) -> st.SearchStrategy[Fields]:
        return st.fixed_dictionaries({"type": st.just(name), **(must or {})}, optional=may)

    return st.one_of(
        kind("message", {"message": _MESSAGES}),
        kind("message", {"message": _MESSAGES}),
        kind("message", {"message": _MESSAGES}),
        kind(
            "compaction",
            {"summary": st.sampled_from(["", "sum"]), "tokensBefore": _COUNTS},
            firstKeptEntryId=targets,
            shortSummary=st.just("short"),
            details=_SPENT,
        ),
        kind("reset_boundary"),
        kind("branch_summary", {"summary": st.sampled_from(["", "left"]), "fromId": targets}, details=_SPENT),
        kind(
            "custom_message",
            {"customType": st.sampled_from(["note", "interrupted-thinking"]), "content": st.sampled_from(["n", []])},
            display=st.booleans(),
            details=st.just({"k": 1}),
            attribution=st.just("user"),
        ),
        kind(
            "thinking_level_change",
            thinkingLevel=st.sampled_from(["low", None]),
            configured=st.sampled_from(["auto", None]),
        ),
        kind(
            "model_change",
            model=st.sampled_from(["b/m3", "", None]),
            role=st.sampled_from(["default", "smol", "", None]),
        ),
        kind("model_change", {"provider": st.just("c"), "modelId": st.just("m4")}, model=st.just("b/m3")),
        kind("mode_change", {"mode": st.sampled_from(["plan", "none"])}, data=st.just({"step": 1})),
        st.sampled_from(_TIERS).map(
            lambda tier: {"type": "service_tier_change", "serviceTier": tier[0], "means": tier[1]}
        ),
        kind("ttsr_injection", {"injectedRules": _RULES}),
        kind("label", targetId=targets, label=st.sampled_from(["x", "y", "", None])),
        kind("session_info", name=st.sampled_from(["one", " two ", " ", None])),
        kind("title_change", {"title": st.sampled_from(["three", ""])}),
        kind("custom", {"customType": st.just("c")}, data=st.just([1])),
        kind("session_init"),
        kind("credential_pin"),
        kind("from_the_future", message=_MESSAGES, details=_SPENT),
        st.sampled_from(_BAD).map(lambda body: {**body, "bad": True}),
    )


@st.composite
def _odd_logs(draw: st.DrawFn, max_size: int = 14) -> list[Fields]:
    count = draw(st.integers(0, max_size))
    ids = [f"e{number}" for number in range(count)]
    bodies = _bodies(ids)
    entries = []
    for number in range(count):
        near = ids[number - 1] if number else None
        parents = st.one_of(st.just(near), st.just(near), st.sampled_from([*ids, None, "ghost", "", 5]))
        timestamp, instant = draw(st.sampled_from(_TIMES))
        entry = {"type": "", "id": ids[number], "parentId": draw(parents), "timestamp": timestamp, "instant": instant}
        if draw(st.integers(0, 9)) == 9:
            entry["id"] = draw(st.sampled_from(ids))
        entries.append({**entry, **draw(bodies)})
    return entries


@pytest.fixture(scope="session")
def odd_logs() -> st.SearchStrategy[list[Fields]]:
    """Logs with faults of all kinds in ids, parents, times and bodies, and entries of all types.

    Besides its own fields an entry carries `instant`, the milliseconds that its timestamp means or None;
    `bad`, where its body is of the wrong kind; `means`, the families that its service tier stands for.
    """
    return _odd_logs()
