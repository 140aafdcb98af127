"""The envelope of an entry: what projections need of every line; the body stays on disk (design D1)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from .entries import (
    BranchSummaryEntry,
    CompactionEntry,
    LabelEntry,
    MessageEntry,
    ModeChangeEntry,
    ModelChangeEntry,
    Number,
    ResetBoundaryEntry,
    ServiceTierChangeEntry,
    SessionEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
    TitleChangeEntry,
    TtsrInjectionEntry,
    decode_entry,
)
from .json_text import decode_json, encode_json
from .report import FaultKind

StateEntry = (
    ThinkingLevelChangeEntry
    | ModelChangeEntry
    | ModeChangeEntry
    | ServiceTierChangeEntry
    | TtsrInjectionEntry
    | CompactionEntry
    | BranchSummaryEntry
    | LabelEntry
    | SessionInfoEntry
    | TitleChangeEntry
    | ResetBoundaryEntry
)
"""Entries that projections fold whole; they are rare."""

STATE_TYPES = frozenset(str(member.__struct_config__.tag) for member in StateEntry.__args__)


class NoEntryError(ValueError):
    """Raised when a line holds no entry. Attributes: `kind` (of the fault), `detail`."""

    def __init__(self, kind: FaultKind, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class CostEnvelope(Struct, frozen=True, gc=False):
    total: Number | None = None


class OrchestrationEnvelope(Struct, frozen=True, rename="camel", gc=False):
    input: Number | None = None
    output: Number | None = None
    cache_read: Number | None = None


class UsageEnvelope(Struct, frozen=True, rename="camel", gc=False):
    """Token counts and cost of one call (F-66)."""

    input: Number | None = None
    output: Number | None = None
    cache_read: Number | None = None
    cache_write: Number | None = None
    total_tokens: Number | None = None
    cost: CostEnvelope | None = None
    premium_requests: Number | None = None
    orchestration: OrchestrationEnvelope | None = None


class MessageEnvelope(Struct, frozen=True, rename="camel", gc=False):
    """What projections need of every message."""

    role: str
    provider: str | None = None
    model: str | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    usage: UsageEnvelope | None = None
    details: Raw = Raw()


class Envelope(Struct, frozen=True, rename="camel", gc=False):
    """What projections need of every entry. `timestamp` is the stored value, of whatever spelling."""

    type: str
    id: str
    parent_id: str | None = None
    timestamp: str | Number | None = None
    message: MessageEnvelope | None = None


class StateEnvelope(Envelope, frozen=True, kw_only=True):
    """The envelope of an entry that projections fold whole: its body is in `state`."""

    state: StateEntry


envelope_decoder = msgspec.json.Decoder(Envelope)


def decode_envelope(line: bytes) -> tuple[Envelope, FaultKind | None]:
    """Return the envelope of one line, however odd its fields are, and `bad-parent` where its parent is odd.

    Raises `NoEntryError` for a line that holds no entry.
    """
    fault: FaultKind | None = None
    try:
        envelope = envelope_decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        envelope, fault = _decode_tolerantly(line)
    if envelope.type == "session":
        raise NoEntryError("second-header", "a second header")
    if envelope.type in STATE_TYPES:
        envelope = with_state(envelope, line)
    return envelope, fault


def with_state(envelope: Envelope, line: bytes) -> Envelope:
    """Return the envelope together with its decoded body, or as it is where the body is of the wrong kind."""
    return envelope_of(entry, envelope) if isinstance(entry := decode_entry(line), StateEntry) else envelope


def envelope_of(entry: SessionEntry, base: Envelope | None = None) -> Envelope:
    """Return the envelope of an entry that is in memory."""
    message = _message_envelope(entry.message) if isinstance(entry, MessageEntry) else None
    base = base or Envelope(entry.type, entry.id, entry.parent_id, entry.timestamp, message)
    if isinstance(entry, StateEntry):
        return StateEnvelope(base.type, base.id, base.parent_id, base.timestamp, state=entry)
    return base


def usage_of(fields: object) -> UsageEnvelope | None:
    """Return the usage in a decoded object, numbers of the wrong kind left out; None where there is none."""
    if not isinstance(fields, dict):
        return None
    cost, orchestration = fields.get("cost"), fields.get("orchestration")
    return UsageEnvelope(
        input=_number(fields.get("input")),
        output=_number(fields.get("output")),
        cache_read=_number(fields.get("cacheRead")),
        cache_write=_number(fields.get("cacheWrite")),
        total_tokens=_number(fields.get("totalTokens")),
        cost=CostEnvelope(_number(cost.get("total"))) if isinstance(cost, dict) else None,
        premium_requests=_number(fields.get("premiumRequests")),
        orchestration=OrchestrationEnvelope(
            _number(orchestration.get("input")),
            _number(orchestration.get("output")),
            _number(orchestration.get("cacheRead")),
        )
        if isinstance(orchestration, dict)
        else None,
    )


def _decode_tolerantly(line: bytes) -> tuple[Envelope, FaultKind | None]:
    try:
        fields = decode_json(line)
    except ValueError as error:
        raise NoEntryError("malformed", str(error)) from None
    if not isinstance(fields, dict):
        raise NoEntryError("not-object", f"a JSON {type(fields).__name__}, no object")
    if fields.get("type") == "session":
        raise NoEntryError("second-header", "a second header")
    entry_id, entry_type = fields.get("id"), fields.get("type")
    if not isinstance(entry_id, str) or not isinstance(entry_type, str):
        raise NoEntryError("no-id", "no string id and type")
    parent_id, timestamp = fields.get("parentId"), fields.get("timestamp")
    odd_parent = not isinstance(parent_id, str) and parent_id is not None
    odd_time = isinstance(timestamp, bool) or not isinstance(timestamp, str | int | float)
    envelope = Envelope(
        entry_type,
        entry_id,
        None if odd_parent else parent_id,
        None if odd_time else timestamp,
        _message_envelope(fields.get("message")) if entry_type == "message" else None,
    )
    return envelope, "bad-parent" if odd_parent else None


def _message_envelope(message: Any) -> MessageEnvelope | None:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return None

    def text(key: str) -> str | None:
        value = message.get(key)
        return value if isinstance(value, str) else None

    details = message.get("details")
    return MessageEnvelope(
        role=message["role"],
        provider=text("provider"),
        model=text("model"),
        tool_name=text("toolName"),
        tool_call_id=text("toolCallId"),
        usage=usage_of(message.get("usage")),
        details=Raw(encode_json(details)) if message.get("toolName") == "task" else Raw(),
    )


def _number(value: object) -> Number | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
