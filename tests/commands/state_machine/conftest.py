"""A naive model of a session, and what each kind of append means to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Command = tuple[str, tuple[Any, ...], dict[str, Any]]


def _command(kind: str, text: str, first_kept: str) -> Command:
    """Return the method that appends an entry of a kind, its arguments, and the fields that the model keeps."""
    role = "smol" if text == "one" else None
    shown = {"type": "custom_message", "customType": "note", "content": text, "display": True}
    cut = {"type": "compaction", "summary": text, "firstKeptEntryId": first_kept, "tokensBefore": 7}
    table: dict[str, Command] = {
        "thinking": (
            "append_thinking_level_change",
            (text or None,),
            {"type": "thinking_level_change", "thinkingLevel": text or None},
        ),
        "model": (
            "append_model_change",
            ("acme/c", role),
            {"type": "model_change", "model": "acme/c", "role": role or "default"},
        ),
        "mode": ("append_mode_change", (text,), {"type": "mode_change", "mode": text}),
        "rules": ("append_ttsr_injection", ([text, "x"],), {"type": "ttsr_injection", "injectedRules": [text, "x"]}),
        "custom": ("append_custom_entry", ("note", text), {"type": "custom"}),
        "note": ("append_custom_message_entry", ("note", text, True), shown),
        "compaction": ("append_compaction", (text, first_kept, 7), cut),
        "name": ("set_session_name", (text,), {"type": "session_info", "name": text.strip()}),
    }
    if kind in table:
        return table[kind]
    message: dict[str, Any] = {"role": "user", "content": text}
    if kind == "result":
        message |= {"role": "toolResult", "toolCallId": "t", "toolName": "bash"}
    elif kind != "user":
        message |= {"role": "assistant", "provider": "acme", "model": kind, "usage": {"input": len(text)}}
        message |= {"stopReason": "error" if kind == "failed" else "stop"}
    return "append_message", (message,), {"type": "message", "message": message}


@pytest.fixture
def command() -> Callable[[str, str, str], Command]:
    """Kind of an entry, a text and an id to what is called and what is recorded."""
    return _command


class NaiveSession:
    """A session as a plain list of entries, with no index, no cache and no care for cost.

    An entry has its fields on disk, and `time` in whole seconds; of a model change the role is always there.
    """

    def __init__(self, entries: list[dict[str, Any]], title: str | None = None) -> None:
        self.entries = entries
        self.title = title

    def get(self, entry_id: str | None) -> dict[str, Any] | None:
        return next((entry for entry in self.entries if entry["id"] == entry_id), None)

    def children(self, parent_id: str | None) -> list[str]:
        return [entry["id"] for entry in self.entries if entry["parentId"] == parent_id]

    def oldest_first(self, parent_id: str) -> list[str]:
        times = {entry["id"]: entry["time"] for entry in self.entries}
        return sorted(self.children(parent_id), key=times.__getitem__)

    def path(self, leaf: str | None) -> list[dict[str, Any]]:
        path: list[dict[str, Any]] = []
        while (entry := self.get(leaf)) is not None:
            path.insert(0, entry)
            leaf = entry["parentId"]
        return path

    def labels(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for entry in self.entries:
            if entry["type"] == "label" and entry["label"]:
                found[entry["targetId"]] = entry["label"]
            elif entry["type"] == "label":
                found.pop(entry["targetId"], None)
        return found

    def name(self) -> str | None:
        names = [entry["name"] for entry in self.entries if entry["type"] == "session_info" and entry["name"]]
        return names[-1] if names else self.title

    def input_tokens(self) -> int:
        messages = [entry["message"] for entry in self.entries if entry["type"] == "message"]
        return sum(message.get("usage", {}).get("input", 0) for message in messages)

    def state(self, leaf: str | None) -> tuple[str, str, dict[str, str], list[str]]:
        """Thinking level, mode, models and injected rules (C-10..C-17)."""
        thinking, mode, explicit = "off", "none", False
        models: dict[str, str] = {}
        rules: list[str] = []
        for entry in self.path(leaf):
            match entry["type"]:
                case "thinking_level_change":
                    thinking = entry["thinkingLevel"] or "off"
                case "mode_change":
                    mode = entry["mode"]
                case "ttsr_injection":
                    rules += [rule for rule in entry["injectedRules"] if rule not in rules]
                case "model_change":
                    models[entry["role"]] = entry["model"]
                    explicit = explicit or entry["role"] == "default"
                case "message" if entry["message"]["role"] == "assistant" and not explicit:
                    models["default"] = f"{entry['message']['provider']}/{entry['message']['model']}"
        return thinking, mode, models, rules

    def messages(self, leaf: str | None) -> list[dict[str, Any]]:
        """The messages of the context (C-20..C-41), for logs without tool calls."""
        path = self.path(leaf)
        cuts = [index for index, entry in enumerate(path) if entry["type"] == "compaction"]
        found = []
        if cuts:
            cut = path[cuts[-1]]
            summary = {"role": "compactionSummary", "summary": cut["summary"], "tokensBefore": cut["tokensBefore"]}
            found.append({**summary, "timestamp": cut["time"] * 1000})
            above = path[: cuts[-1]]
            ids = [entry["id"] for entry in above]
            first = ids.index(cut["firstKeptEntryId"]) if cut["firstKeptEntryId"] in ids else len(above)
            path = above[first:] + path[cuts[-1] + 1 :]
        for entry in path:
            message = {"timestamp": entry["time"] * 1000}
            match entry["type"]:
                case "message" if entry["message"].get("stopReason") != "error":
                    found.append(entry["message"])
                case "custom_message":
                    fields = {key: entry[key] for key in ("customType", "content", "display")}
                    found.append({"role": "custom", **fields, **message})
                case "branch_summary" if entry["summary"]:
                    fields = {key: entry[key] for key in ("summary", "fromId")}
                    found.append({"role": "branchSummary", **fields, **message})
        return found

    def fork(self, leaf: str, new_label: Callable[[], dict[str, Any]]) -> NaiveSession:
        """The session of one path (T-60..T-72); `new_label` gives id and time of a fresh label entry."""
        path = self.path(leaf)
        ids = [entry["id"] for entry in path]
        kept: list[dict[str, Any]] = []
        for place, entry in enumerate(path):
            if entry["type"] == "label":
                continue
            copy = {**entry, "parentId": kept[-1]["id"] if kept else None}
            if entry["type"] == "compaction" and entry["firstKeptEntryId"] in ids[:place]:
                first = ids.index(entry["firstKeptEntryId"])
                copy["firstKeptEntryId"] = next(one["id"] for one in path[first:] if one["type"] != "label")
            kept.append(copy)
        named = any(entry["type"] == "session_info" and entry["name"] for entry in kept)
        fork = NaiveSession(kept, self.title if named else self.name())
        for target, text in self.labels().items():
            if fork.get(target) is not None:
                parent = kept[-1]["id"]
                kept.append({"type": "label", "parentId": parent, "targetId": target, "label": text, **new_label()})
        return fork


@pytest.fixture
def naive_session() -> type[NaiveSession]:
    """The model that the state machine compares with."""
    return NaiveSession
