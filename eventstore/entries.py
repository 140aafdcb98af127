"""The entries of a session, one frozen Struct for each type (F-40..F-56)."""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec
from msgspec import Struct, field

from .json_text import decode_json

Number = int | float


class SessionEntry(Struct, frozen=True, gc=False, rename="camel", tag_field="type", kw_only=True):
    """Base of all entries. `parent_id` is None for a root, and for a parent that is no string.

    `timestamp` is what the file holds: an ISO 8601 string, or a number of milliseconds, or None.
    Entries are shared between callers and must not be changed, nor the dicts in them.
    """

    id: str
    parent_id: str | None = None
    timestamp: str | Number | None = None

    @property
    def type(self) -> str:
        """The entry's type as the file spells it."""
        return str(self.__struct_config__.tag)


class MessageEntry(SessionEntry, frozen=True, gc=False, tag="message"):
    """A message in the file's own form, camelCase keys (F-40, F-60..F-66). Raises `ValueError` without a role."""

    message: dict[str, Any]

    def __post_init__(self) -> None:
        # For msgspec this is a field of the wrong kind.
        if not isinstance(self.message.get("role"), str):
            raise ValueError("a message without a string role")

    @property
    def role(self) -> str:
        """The message's role."""
        return str(self.message["role"])


class ThinkingLevelChangeEntry(SessionEntry, frozen=True, gc=False, tag="thinking_level_change"):
    """A change of the thinking level; None reads as `off` (F-41)."""

    thinking_level: str | None = None
    configured: str | None = None


class ModelChangeEntry(SessionEntry, frozen=True, gc=False, tag="model_change"):
    """A change of model, in either spelling: `model` and `role`, or `provider` and `model_id` (F-42)."""

    model: str | None = None
    role: str | None = None
    provider: str | None = None
    model_id: str | None = None

    @property
    def full_model(self) -> str | None:
        """`provider/model`; `model` wins where both spellings stand (F-42)."""
        if self.model:
            return self.model
        return f"{self.provider}/{self.model_id}" if self.provider and self.model_id else None


class ServiceTierChangeEntry(SessionEntry, frozen=True, gc=False, tag="service_tier_change"):
    """A change of service tier: a map by provider family, a legacy string, or None (F-43)."""

    service_tier: dict[str, Any] | str | None = None


class _FromExtension(SessionEntry, frozen=True, gc=False, kw_only=True):
    """The flag that pi spells `fromHook` and oh-my-pi `fromExtension`."""

    stored_from_extension: bool | None = field(default=None, name="fromExtension")
    stored_from_hook: bool | None = field(default=None, name="fromHook")

    @property
    def from_extension(self) -> bool | None:
        """True when an extension wrote the summary, None when the file does not say."""
        return self.stored_from_extension if self.stored_from_extension is not None else self.stored_from_hook


class CompactionEntry(_FromExtension, frozen=True, gc=False, tag="compaction"):
    """A summary that replaces what stands before `first_kept_entry_id` on its path (F-44)."""

    summary: str
    first_kept_entry_id: str | None = None
    tokens_before: Number | None = None
    details: Any = None
    short_summary: str | None = None
    preserve_data: dict[str, Any] | None = None
    warning: str | None = None


class BranchSummaryEntry(_FromExtension, frozen=True, gc=False, tag="branch_summary"):
    """A summary of a branch that was left; `from_id` is the new position or `"root"` (F-45)."""

    summary: str
    from_id: str | None = None
    details: Any = None


class CustomEntry(SessionEntry, frozen=True, gc=False, tag="custom"):
    """Data of an extension, never in the context (F-46)."""

    custom_type: str
    data: Any = None


class CustomMessageEntry(SessionEntry, frozen=True, gc=False, tag="custom_message"):
    """A message of an extension that is part of the context (F-47)."""

    custom_type: str
    content: str | list[Any]
    display: bool | None = None
    details: Any = None
    attribution: str | None = None


class LabelEntry(SessionEntry, frozen=True, gc=False, tag="label"):
    """Sets or, without text, clears the label of `target_id` (F-48)."""

    target_id: str | None = None
    label: str | None = None


class TtsrInjectionEntry(SessionEntry, frozen=True, gc=False, tag="ttsr_injection"):
    """Names of rules that were injected (F-49)."""

    injected_rules: list[str]


class ModeChangeEntry(SessionEntry, frozen=True, gc=False, tag="mode_change"):
    """A change of mode; `"none"` leaves it (F-50)."""

    mode: str
    data: dict[str, Any] | None = None


class SessionInitEntry(SessionEntry, frozen=True, gc=False, tag="session_init"):
    """How a subagent's session began (F-51)."""

    system_prompt: str | None = None
    task: str | None = None
    tools: list[Any] | None = None
    output_schema: Any = None
    output_schema_mode: Any = None
    restrict_tool_names: Any = None
    spawns: Any = None
    read_summarize: Any = None


class TitleChangeEntry(SessionEntry, frozen=True, gc=False, tag="title_change"):
    """A change of the session's title, for the record (F-52)."""

    title: str
    source: str | None = None
    previous_title: str | None = None
    trigger: str | None = None


class CredentialPinEntry(SessionEntry, frozen=True, gc=False, tag="credential_pin"):
    """Which credential a provider was pinned to, as a hash (F-53)."""

    provider: str | None = None
    hash: str | None = None


class ResetBoundaryEntry(SessionEntry, frozen=True, gc=False, tag="reset_boundary"):
    """Only what follows is in the context (F-54, C-34)."""


class SessionInfoEntry(SessionEntry, frozen=True, gc=False, tag="session_info"):
    """The session's name (F-55)."""

    name: str | None = None


class UnknownEntry(SessionEntry, frozen=True, gc=False, tag=""):
    """An entry of a type we do not know, or of a known type with fields of the wrong kind (F-56).

    It stands in the tree, adds nothing to the context, and keeps its line byte for byte.
    """

    stored_type: str
    line: bytes

    @property
    def type(self) -> str:
        """The entry's type as the file spells it."""
        return self.stored_type


KnownEntry = (
    MessageEntry
    | ThinkingLevelChangeEntry
    | ModelChangeEntry
    | ServiceTierChangeEntry
    | CompactionEntry
    | BranchSummaryEntry
    | CustomEntry
    | CustomMessageEntry
    | LabelEntry
    | TtsrInjectionEntry
    | ModeChangeEntry
    | SessionInitEntry
    | TitleChangeEntry
    | CredentialPinEntry
    | ResetBoundaryEntry
    | SessionInfoEntry
)

KNOWN_TYPES: frozenset[str] = frozenset(str(member.__struct_config__.tag) for member in KnownEntry.__args__)

_decoder = msgspec.json.Decoder(KnownEntry)


def decode_entry(line: bytes) -> SessionEntry:
    """Return the entry of one line with all its fields.

    Raises `ValueError` for what is no JSON, no object, or has no string `id` and `type`.
    """
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return _decode_tolerantly(line)


def _decode_tolerantly(line: bytes) -> SessionEntry:
    fields = decode_json(line)
    if not isinstance(fields, dict) or not clean_base(fields):
        raise ValueError("no object with a string id and type")
    if fields["type"] in KNOWN_TYPES:
        with contextlib.suppress(msgspec.ValidationError):
            entry: SessionEntry = msgspec.convert(fields, KnownEntry)
            return entry
    return UnknownEntry(
        id=fields["id"],
        parent_id=fields["parentId"],
        timestamp=fields["timestamp"],
        stored_type=fields["type"],
        line=line,
    )


def clean_base(fields: dict[str, Any]) -> bool:
    """Set a parent or time of the wrong kind to None, in place; tell whether `id` and `type` are strings."""
    if not isinstance(fields.get("parentId"), str):
        fields["parentId"] = None
    timestamp = fields.get("timestamp")
    if isinstance(timestamp, bool) or not isinstance(timestamp, str | int | float):
        fields["timestamp"] = None
    return isinstance(fields.get("id"), str) and isinstance(fields.get("type"), str)
