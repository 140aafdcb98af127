"""What a command wants to record: an entry's type and fields, decided without I/O (T-11, design D9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ..eventstore.entries import UnknownEntry, decode_entry
from ..eventstore.errors import InvalidEntryError
from ..eventstore.json_text import decode_json, encode_json

_RUNTIME_ROLES = frozenset({"branchSummary", "compactionSummary"})
_FIELDS_FIRST = frozenset({"custom", "custom_message"})
MOST_NESTED = 400
"""Levels of lists and dicts in an entry. How many can be read again depends on the stack of the one who reads."""


class Draft(Struct, frozen=True):
    """An entry before it has an id, a parent and a time. `fields` have their names on disk."""

    type: str
    fields: dict[str, Any]

    def line(self, entry_id: str, parent_id: str | None, timestamp: str) -> bytes:
        """Return the entry's line without newline (F-05, F-06). Raises `InvalidEntryError`."""
        place = {"id": entry_id, "parentId": parent_id, "timestamp": timestamp}
        parts = (self.fields, place) if self.type in _FIELDS_FIRST else (place, self.fields)
        fields = {"type": self.type, **parts[0], **parts[1]}
        try:
            line = encode_json(fields)
        except (TypeError, ValueError) as error:
            raise InvalidEntryError(f"a {self.type} entry cannot be written as JSON: {error}") from error
        if line.count(b"[") + line.count(b"{") > MOST_NESTED and nests_deeper(fields, MOST_NESTED):
            raise InvalidEntryError(f"a {self.type} entry nests deeper than {MOST_NESTED} levels")
        if self.type != "message" and isinstance(decode_entry(line), UnknownEntry):
            raise InvalidEntryError(f"a field of a {self.type} entry is of the wrong kind")
        return line

    def is_content_of(self, line: bytes) -> bool:
        """Tell whether a recorded line has the same type and fields, whatever its place in the tree."""
        stored, own = decode_json(line), decode_json(self.line("", None, ""))
        for fields in (stored, own):
            for name in ("id", "parentId", "timestamp"):
                fields.pop(name, None)
        return bool(stored == own)


def nests_deeper(value: object, levels: int) -> bool:
    """Tell whether lists and dicts nest deeper than so many levels."""
    layer = [value]
    while layer and levels:
        layer = [item for part in layer for item in _parts(part)]
        levels -= 1
    return bool(layer)


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _optional(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _need_text(value: object, name: str) -> None:
    if not isinstance(value, str):
        raise InvalidEntryError(f"{name} must be a string, not {type(value).__name__}")


def message(message: Mapping[str, Any]) -> Draft:
    """F-40. Summaries come from their own commands, never as messages (F-67)."""
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise InvalidEntryError("a message must be a dict with a string role")
    if message["role"] in _RUNTIME_ROLES:
        raise InvalidEntryError(f"role {message['role']} is made by the context: append the summary itself")
    return Draft("message", {"message": message})


def thinking_level_change(level: str | None, configured: str | None) -> Draft:
    """F-41."""
    return Draft("thinking_level_change", {"thinkingLevel": level, **_optional(configured=configured)})


def model_change(model: str, role: str | None) -> Draft:
    """F-42, in both spellings when the role is the default one."""
    _need_text(model, "model")
    fields: dict[str, Any] = {"model": model, **_optional(role=role)}
    provider, slash, model_id = model.partition("/")
    if role in (None, "default") and slash and provider and model_id:
        fields |= {"provider": provider, "modelId": model_id}
    return Draft("model_change", fields)


def mode_change(mode: str, data: Mapping[str, Any] | None) -> Draft:
    """F-50."""
    _need_text(mode, "mode")
    return Draft("mode_change", {"mode": mode, **_optional(data=data)})


def ttsr_injection(rules: Sequence[str]) -> Draft:
    """F-49."""
    if isinstance(rules, str) or not all(isinstance(rule, str) for rule in rules):
        raise InvalidEntryError("rules must be a list of strings")
    return Draft("ttsr_injection", {"injectedRules": list(rules)})


def service_tier_change(tier: Mapping[str, str] | str | None) -> Draft:
    """F-43."""
    return Draft("service_tier_change", {"serviceTier": tier})


def custom_entry(custom_type: str, data: Any) -> Draft:
    """F-46."""
    _need_text(custom_type, "custom_type")
    return Draft("custom", {"customType": custom_type, **_optional(data=data)})


def custom_message_entry(custom_type: str, content: str | list[Any], display: bool, details: Any) -> Draft:
    """F-47."""
    _need_text(custom_type, "custom_type")
    if not isinstance(content, str | list):
        raise InvalidEntryError("content must be a string or a list of blocks")
    return Draft(
        "custom_message",
        {"customType": custom_type, "content": content, "display": bool(display), **_optional(details=details)},
    )


def compaction(
    summary: str,
    first_kept_entry_id: str,
    tokens_before: int | float,
    details: Any,
    from_extension: bool | None,
    short_summary: str | None,
    preserve_data: Mapping[str, Any] | None,
) -> Draft:
    """F-44. A first kept id that is not on the path is stored all the same (K-81)."""
    _need_text(summary, "summary")
    _need_text(first_kept_entry_id, "first_kept_entry_id")
    if isinstance(tokens_before, bool) or not isinstance(tokens_before, int | float):
        raise InvalidEntryError("tokens_before must be a number")
    return Draft(
        "compaction",
        {
            "summary": summary,
            **_optional(shortSummary=short_summary),
            "firstKeptEntryId": first_kept_entry_id,
            "tokensBefore": tokens_before,
            **_optional(details=details, preserveData=preserve_data),
            **_from_extension(from_extension),
        },
    )


def branch_summary(from_id: str | None, summary: str, details: Any, from_extension: bool | None) -> Draft:
    """F-45, T-42: `fromId` is the new position, `"root"` for None."""
    _need_text(summary, "summary")
    fields = {"fromId": from_id if from_id is not None else "root", "summary": summary, **_optional(details=details)}
    return Draft("branch_summary", fields | _from_extension(from_extension))


def _from_extension(from_extension: bool | None) -> dict[str, Any]:
    """Both homes' spellings; nothing where it is not said, false where it is said (T-43)."""
    return _optional(fromExtension=from_extension, fromHook=from_extension)


def label(target_id: str, label: str | None) -> Draft:
    """F-48: no text clears the label."""
    if label is not None:
        _need_text(label, "label")
    return Draft("label", {"targetId": target_id, **_optional(label=label)})


def session_info(name: str) -> Draft:
    """F-55."""
    _need_text(name, "name")
    return Draft("session_info", {"name": name.strip()})
