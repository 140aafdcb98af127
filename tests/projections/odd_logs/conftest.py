"""A naive model of what a log means, for the comparison with the library on random odd logs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Fields = dict[str, Any]


class NaiveLog:
    """What a log means by the specification, from dicts, entry by entry. It shares no code with the library.

    Beside its own fields it reads what `odd_logs` adds to an entry: `instant`, `bad`, `means`.
    """

    def __init__(self, entries: list[Fields], title: str | None = None) -> None:
        self.lines = entries
        self.good = [entry for entry in entries if not entry.get("bad")]
        self.title = title
        place = {entry["id"]: index for index, entry in enumerate(entries)}
        self.live = {entry["id"]: entry for index, entry in enumerate(entries) if place[entry["id"]] == index}
        self.parents: dict[str, str | None] = {}
        for entry_id, entry in self.live.items():
            named = entry.get("parentId")
            self.parents[entry_id] = named if isinstance(named, str) and named in self.live else None
        self.cut = [entry_id for entry_id in self.live if self._is_first_of_cycle(entry_id)]
        for entry_id in self.cut:
            self.parents[entry_id] = None

    def _is_first_of_cycle(self, entry_id: str) -> bool:
        members = [entry_id]
        above = self.parents[entry_id]
        while above is not None and above not in members:
            members.append(above)
            above = self.parents[above]
        order = list(self.live)
        return above == entry_id and entry_id == min(members, key=order.index)

    def path(self, leaf: str | None) -> list[str]:
        path: list[str] = []
        while leaf is not None:
            path = [leaf, *path]
            leaf = self.parents[leaf]
        return path

    def children(self, parent: str | None) -> list[str]:
        return [entry_id for entry_id in self.live if self.parents[entry_id] == parent]

    def ordered_children(self, parent: str) -> list[str]:
        keys = []
        instant = float("-inf")
        for position, child in enumerate(self.children(parent)):
            own = self.live[child]["instant"]
            instant = own if own is not None else instant
            keys.append((instant, position, child))
        return [child for _, _, child in sorted(keys)]

    def faults(self) -> list[tuple[int, str, str]]:
        """(Index of the line, kind, id), sorted, but for what a store finds."""
        found = []
        for index, entry in enumerate(self.lines):
            entry_id, parent = entry["id"], entry.get("parentId")
            if self.live[entry_id] is not entry:
                found.append((index, "duplicate-id", entry_id))
            elif isinstance(parent, str) and parent not in self.live:
                found.append((index, "orphan", entry_id))
            elif entry_id in self.cut:
                found.append((index, "cycle", entry_id))
            if entry["instant"] is None:
                found.append((index, "bad-timestamp", entry_id))
            if entry["type"] == "label" and not entry.get("bad") and entry.get("targetId") not in self.live:
                found.append((index, "label-target", entry_id))
        return sorted(found)

    def labels(self) -> dict[str, str]:
        labels: dict[str, str] = {}
        for entry in self.good:
            if entry["type"] == "label" and "targetId" in entry:
                if entry.get("label"):
                    labels[entry["targetId"]] = entry["label"]
                elif entry["targetId"] in labels:
                    del labels[entry["targetId"]]
        return labels

    def name(self) -> str | None:
        names = [self.title or ""]
        for entry in self.good:
            if entry["type"] == "title_change":
                names.append(entry["title"])
            elif entry["type"] == "session_info":
                names.append(entry.get("name") or "")
        said = [name.strip() for name in names if name.strip()]
        return said[-1] if said else None

    def usage(self) -> list[int | float]:
        """In the order of the fields of `Usage`."""
        sums: list[int | float] = [0] * 10
        for entry in self.good:
            message = _message(entry)
            used: Fields = {}
            if entry["type"] in ("compaction", "branch_summary"):
                used = entry.get("details", {}).get("usage", {})
            elif message.get("role") == "assistant":
                used = message.get("usage", {})
            elif message.get("role") == "toolResult" and message.get("toolName") == "task":
                used = message.get("details", {}).get("usage", {})
            plain = [used.get(key, 0) for key in ("input", "output", "cacheRead", "cacheWrite", "totalTokens")]
            apart = [used.get("orchestration", {}).get(key, 0) for key in ("input", "output", "cacheRead")]
            more = [*plain, used.get("cost", {}).get("total", 0), used.get("premiumRequests", 0), *apart]
            sums = [one + other for one, other in zip(sums, more, strict=True)]
        return sums

    def state(self, leaf: str | None) -> Fields:
        """The settings that hold at an entry, by the names of `SessionContext`."""
        thinking, configured, mode, data, tier = "off", None, "none", None, None
        models: dict[str, str] = {}
        chosen = False
        rules: list[str] = []
        for entry in (self.live[entry_id] for entry_id in self.path(leaf)):
            if entry.get("bad"):
                continue
            message = _message(entry)
            if entry["type"] == "thinking_level_change":
                thinking = entry.get("thinkingLevel") or "off"
                configured = entry.get("configured") or entry.get("thinkingLevel")
            elif entry["type"] == "model_change":
                model = entry.get("model") or "/".join(entry[key] for key in ("provider", "modelId") if key in entry)
                role = entry.get("role") or "default"
                if model:
                    models[role] = model
                    chosen = chosen or role == "default"
            elif message.get("role") == "assistant" and "provider" in message and "model" in message:
                if not chosen:
                    models["default"] = message["provider"] + "/" + message["model"]
            elif entry["type"] == "mode_change":
                mode, data = entry["mode"], entry.get("data")
            elif entry["type"] == "service_tier_change":
                tier = entry["means"]
            elif entry["type"] == "ttsr_injection":
                for rule in entry["injectedRules"]:
                    if rule not in rules:
                        rules.append(rule)
        return {
            "thinking_level": thinking,
            "configured_thinking_level": configured,
            "models": models,
            "mode": mode,
            "mode_data": data,
            "injected_ttsr_rules": rules,
            "service_tier": tier,
        }

    def last_model_change_role(self, leaf: str | None) -> str | None:
        for entry in (self.live[entry_id] for entry_id in reversed(self.path(leaf))):
            if entry["type"] == "model_change" and not entry.get("bad"):
                return entry.get("role") or "default"
        return None

    def window(self, leaf: str | None) -> tuple[str | None, list[str]]:
        """The compaction whose summary leads, and the entries of which the context is made."""
        path = self.path(leaf)
        compactions = [index for index, entry_id in enumerate(path) if self._is_a("compaction", entry_id)]
        resets = [index for index, entry_id in enumerate(path) if self._is_a("reset_boundary", entry_id)]
        last = compactions[-1] if compactions else -1
        if resets and resets[-1] > last:
            return None, path[resets[-1] + 1 :]
        if last < 0:
            return None, path
        first_kept = self.live[path[last]].get("firstKeptEntryId")
        kept = path[path.index(first_kept) : last] if first_kept in path[:last] else []
        return path[last], kept + path[last + 1 :]

    def _is_a(self, kind: str, entry_id: str) -> bool:
        return bool(self.live[entry_id]["type"] == kind and not self.live[entry_id].get("bad"))

    def messages(self, leaf: str | None, *, keep_failed_turns: bool = False) -> tuple[list[Fields], list[str]]:
        """The messages of the context, and the ids of the tool calls that were left out."""
        compaction, ids = self.window(leaf)
        messages = [_summary_of(self.live[compaction])] if compaction is not None else []
        for entry in (self.live[entry_id] for entry_id in ids):
            if not entry.get("bad"):
                messages += _messages_of(entry)
        messages, opened = _without_open_calls(messages)
        return messages if keep_failed_turns else _without_failed_turns(messages), opened


def _message(entry: Fields) -> Fields:
    message: Fields = entry["message"] if entry["type"] == "message" else {}
    return message


def _pick(entry: Fields, *keys: str) -> Fields:
    return {key: entry[key] for key in keys if key in entry}


def _summary_of(entry: Fields) -> Fields:
    fields = _pick(entry, "summary", "tokensBefore", "shortSummary")
    return {"role": "compactionSummary", **fields, "timestamp": int(entry["instant"] or 0)}


def _messages_of(entry: Fields) -> list[Fields]:
    timestamp = {"timestamp": int(entry["instant"] or 0)}
    if entry["type"] == "message":
        return [entry["message"]]
    if entry["type"] == "custom_message":
        fields = _pick(entry, "customType", "content", "display", "details", "attribution")
        return [{"role": "custom", **fields, **timestamp}]
    if entry["type"] == "branch_summary" and entry["summary"]:
        return [{"role": "branchSummary", **_pick(entry, "summary", "fromId"), **timestamp}]
    return []


def _calls(message: Fields) -> list[str]:
    if message["role"] != "assistant":
        return []
    return [block["id"] for block in message["content"] if block["type"] == "toolCall"]


def _without_open_calls(messages: list[Fields]) -> tuple[list[Fields], list[str]]:
    answered = [message["toolCallId"] for message in messages if message["role"] == "toolResult"]
    opened = [call for message in messages for call in _calls(message) if call not in answered]
    found = []
    for message in messages:
        if any(call in opened for call in _calls(message)):
            content = [block for block in message["content"] if block["type"] != "redactedThinking"]
            content = [block for block in content if block["type"] != "toolCall" or block["id"] in answered]
            if not content:
                continue
            content = [{key: block[key] for key in block if key != "thinkingSignature"} for block in content]
            message = {**message, "content": content}
        found.append(message)
    return found, opened


def _without_failed_turns(messages: list[Fields]) -> list[Fields]:
    failed = []
    for index, message in enumerate(messages):
        following = messages[index + 1] if index + 1 < len(messages) else {}
        continued = following.get("role") == "custom" and following.get("customType") == "interrupted-thinking"
        if message["role"] == "assistant" and message.get("stopReason") in ("aborted", "error") and not continued:
            failed.append(index)
    found = []
    for index, message in enumerate(messages):
        asked = [earlier for earlier in range(index) if message.get("toolCallId") in _calls(messages[earlier])]
        if index not in failed and (message["role"] != "toolResult" or not asked or asked[-1] not in failed):
            found.append(message)
    return found


@pytest.fixture(scope="session")
def naive_log() -> Callable[..., NaiveLog]:
    """Makes the model of a log."""
    return NaiveLog
