"""Sessions against a naive model: whatever is done in whatever order, both say the same.

`SESSIONTREE_EXAMPLES` and `SESSIONTREE_STEPS` make it a soak.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from sessiontree import ConcurrencyError, Cursor, EntryConflictError, SessionManager, SessionTreeNode

Record = dict[str, Any]
Call = Callable[[Cursor], Awaitable[str]]

EXAMPLES = int(os.environ.get("SESSIONTREE_EXAMPLES", "100"))
STEPS = int(os.environ.get("SESSIONTREE_STEPS", "30"))


class Naive:
    """A session as plain lists and dicts, with no index, no cache and no care for cost."""

    def __init__(self, entries: list[Record], title: str | None = None) -> None:
        self.entries = entries
        self.title = title

    def get(self, entry_id: str | None) -> Record | None:
        return next((entry for entry in self.entries if entry["id"] == entry_id), None)

    def children(self, parent_id: str | None) -> list[str]:
        return [entry["id"] for entry in self.entries if entry["parentId"] == parent_id]

    def path(self, leaf: str | None) -> list[Record]:
        entry = self.get(leaf)
        return [] if entry is None else [*self.path(entry["parentId"]), entry]

    def nested(self, parent_id: str | None) -> list[Any]:
        ids = self.children(parent_id)
        if parent_id is not None:
            ids.sort(key=lambda entry_id: (self.get(entry_id) or {})["time"])
        return [[entry_id, self.labels().get(entry_id), self.nested(entry_id)] for entry_id in ids]

    def labels(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for entry in self.entries:
            if entry["type"] == "label":
                found[entry["targetId"]] = found.pop(entry["targetId"]) if not entry["label"] and False else ""
                if entry["label"]:
                    found[entry["targetId"]] = entry["label"]
                else:
                    del found[entry["targetId"]]
        return found

    def name(self) -> str | None:
        names = [entry["name"] for entry in self.entries if entry["type"] == "session_info" and entry["name"]]
        return names[-1] if names else self.title

    def tokens(self) -> int:
        messages = [entry["message"] for entry in self.entries if entry["type"] == "message"]
        return sum(message.get("usage", {}).get("input", 0) for message in messages)

    def context(self, leaf: str | None) -> tuple[list[Record], str, dict[str, str], str, list[str]]:
        path = self.path(leaf)
        thinking, mode = "off", "none"
        chosen: dict[str, str] = {}
        spoken: dict[str, str] = {}
        rules: list[str] = []
        start, messages = path, []
        for index, entry in enumerate(path):
            match entry["type"]:
                case "thinking_level_change":
                    thinking = entry["thinkingLevel"] or "off"
                case "model_change":
                    chosen[entry["role"]] = entry["model"]
                case "mode_change":
                    mode = entry["mode"]
                case "ttsr_injection":
                    rules += [rule for rule in entry["injectedRules"] if rule not in rules]
                case "message" if entry["message"]["role"] == "assistant" and "default" not in chosen:
                    spoken["default"] = entry["message"]["provider"] + "/" + entry["message"]["model"]
                case "compaction":
                    ids = [above["id"] for above in path[:index]]
                    kept = path[ids.index(entry["firstKeptEntryId"]) : index] if entry["firstKeptEntryId"] in ids else []
                    start = [entry, *kept, *path[index + 1 :]]
        for index, entry in enumerate(start):
            match entry["type"]:
                case "message" if entry["message"].get("stopReason") != "error":
                    messages.append(entry["message"])
                case "custom_message":
                    message = {"role": "custom", "customType": "note", "content": entry["content"], "display": True}
                    messages.append({**message, "timestamp": entry["time"] * 1000})
                case "branch_summary" if entry["summary"]:
                    message = {"role": "branchSummary", "summary": entry["summary"], "fromId": entry["fromId"]}
                    messages.append({**message, "timestamp": entry["time"] * 1000})
                case "compaction" if index == 0 and start is not path:
                    message = {"role": "compactionSummary", "summary": entry["summary"], "tokensBefore": 1}
                    messages.append({**message, "timestamp": entry["time"] * 1000})
        return messages, thinking, {**spoken, **chosen}, mode, rules

    def fork(self, leaf: str, time: int, new_id: Callable[[], str]) -> Naive:
        path = self.path(leaf)
        kept: list[Record] = []
        for index, entry in enumerate(path):
            if entry["type"] == "label":
                continue
            copy = {**entry, "parentId": kept[-1]["id"] if kept else None}
            if entry["type"] == "compaction" and entry["firstKeptEntryId"] in [above["id"] for above in path[:index]]:
                while (self.get(copy["firstKeptEntryId"]) or {})["type"] == "label":
                    place = [above["id"] for above in path].index(copy["firstKeptEntryId"])
                    copy["firstKeptEntryId"] = path[place + 1]["id"]
            kept.append(copy)
        named = any(entry["type"] == "session_info" and entry["name"] for entry in kept)
        fork = Naive(kept, self.title if named else self.name())
        for target, text in self.labels().items():
            if fork.get(target):
                parent = kept[-1]["id"]
                row = {"type": "label", "targetId": target, "label": text}
                kept.append({**row, "id": new_id(), "parentId": parent, "time": time})
        return fork


def shown(nodes: list[SessionTreeNode]) -> list[Any]:
    return [[node.entry.id, node.label, shown(node.children)] for node in nodes]


texts = st.sampled_from(["", "one", "two", "\u2028 é", "three\n"])
KINDS = [
    "user",
    "assistant",
    "failed",
    "result",
    "thinking",
    "model",
    "mode",
    "rules",
    "custom",
    "custom_message",
    "compaction",
    "name",
]
kinds = st.sampled_from(KINDS)
picks = st.integers(0, 1000)


def command(kind: str, text: str, target: str) -> tuple[Call, Record]:
    """Return the call that appends an entry of a kind, and what the model records for it."""
    usage = {"input": len(text) + 1}
    messages: dict[str, Record] = {
        "user": {"role": "user", "content": text},
        "assistant": {"role": "assistant", "content": text, "provider": "acme", "model": "m", "usage": usage},
        "failed": {"role": "assistant", "content": text, "provider": "acme", "model": "f", "stopReason": "error"},
        "result": {"role": "toolResult", "toolCallId": "t", "toolName": "bash", "content": text},
    }
    match kind:
        case "thinking":
            level = text or None
            return lambda c: c.append_thinking_level_change(level), {
                "type": "thinking_level_change",
                "thinkingLevel": level,
            }
        case "model":
            role = "smol" if len(text) == 3 else None
            return lambda c: c.append_model_change("acme/c", role), {
                "type": "model_change",
                "model": "acme/c",
                "role": role or "default",
            }
        case "mode":
            return lambda c: c.append_mode_change(text), {"type": "mode_change", "mode": text}
        case "rules":
            return lambda c: c.append_ttsr_injection([text, "all"]), {
                "type": "ttsr_injection",
                "injectedRules": [text, "all"],
            }
        case "custom":
            return lambda c: c.append_custom_entry("note", text), {"type": "custom"}
        case "custom_message":
            return lambda c: c.append_custom_message_entry("note", text, True), {
                "type": "custom_message",
                "content": text,
            }
        case "compaction":
            return lambda c: c.append_compaction(text, target, 1), {
                "type": "compaction",
                "summary": text,
                "firstKeptEntryId": target,
            }
        case "name":
            return lambda c: c.set_session_name(text), {"type": "session_info", "name": text.strip()}
    message = messages[kind]
    return lambda c: c.append_message(message), {"type": "message", "message": message}
