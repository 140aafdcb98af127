"""The envelope of an entry: what projections need of every line; the body stays on disk (design D1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

import msgspec
from msgspec import Struct

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
    clean_base,
    decode_entry,
)
from .json_text import decode_json
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

_STATE_CLASSES = frozenset(StateEntry.__args__)
STATE_TYPES = frozenset(str(member.__struct_config__.tag) for member in StateEntry.__args__)


class NoEntryError(ValueError):
    """Raised when a line holds no entry. Attributes: `kind` (of the fault), `detail`."""

    def __init__(self, kind: FaultKind, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class CostEnvelope(Struct, frozen=True, gc=False):
    total: Number = 0


class OrchestrationEnvelope(Struct, frozen=True, rename="camel", gc=False):
    input: Number = 0
    output: Number = 0
    cache_read: Number = 0


NO_COST = CostEnvelope()
NO_ORCHESTRATION = OrchestrationEnvelope()


class UsageEnvelope(Struct, frozen=True, rename="camel", gc=False):
    """Token counts and cost of one call; what is missing or no number is 0 (F-66, T-97)."""

    input: Number = 0
    output: Number = 0
    cache_read: Number = 0
    cache_write: Number = 0
    total_tokens: Number = 0
    cost: CostEnvelope = NO_COST
    premium_requests: Number = 0
    orchestration: OrchestrationEnvelope = NO_ORCHESTRATION


class DetailsEnvelope(Struct, frozen=True, gc=False):
    """What a `task` tool says that it used (T-95)."""

    usage: UsageEnvelope | None = None


class MessageEnvelope(Struct, frozen=True, rename="camel", gc=False):
    """What projections need of every message."""

    role: str
    provider: str | None = None
    model: str | None = None
    tool_name: str | None = None
    usage: UsageEnvelope | None = None
    details: DetailsEnvelope | None = None


class Envelope(Struct, frozen=True, rename="camel", gc=False):
    """What projections need of every entry.

    `timestamp` is the stored value, of whatever spelling. `message` is None for every other type.
    """

    type: str
    id: str
    parent_id: str | None = None
    timestamp: str | Number | None = None
    message: MessageEnvelope | None = None


class StateEnvelope(Envelope, frozen=True, kw_only=True):
    """The envelope of an entry that projections fold whole: its body is in `state`."""

    state: StateEntry


class Envelopes(list[Envelope]):
    """Envelopes in order, with what several projections look for picked out once."""

    @classmethod
    def of(cls, envelopes: Sequence[Envelope]) -> Envelopes:
        """Return the envelopes as they are, or wrapped."""
        return envelopes if isinstance(envelopes, cls) else cls(envelopes)

    @cached_property
    def states(self) -> list[tuple[int, StateEntry]]:
        """Position and body of each state entry."""
        return [(index, envelope.state) for index, envelope in enumerate(self) if type(envelope) is StateEnvelope]

    @cached_property
    def _spending(self) -> list[MessageEnvelope]:
        return [
            message
            for envelope in self
            if (message := envelope.message) is not None
            and (message.role == "assistant" or message.tool_name == "task")
        ]

    @cached_property
    def replies(self) -> list[MessageEnvelope]:
        """The messages of assistants."""
        return [message for message in self._spending if message.role == "assistant"]

    @property
    def usages(self) -> list[UsageEnvelope]:
        """What assistant messages and results of `task` tools say they used (T-95)."""
        found = [usage for message in self.replies if (usage := message.usage) is not None]
        if len(self.replies) < len(self._spending):
            details = [message.details for message in self._spending if message.role == "toolResult"]
            found += [detail.usage for detail in details if detail is not None and detail.usage is not None]
        return found


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
    return (envelope if envelope.type == "message" else complete(envelope, line)), fault


def complete(envelope: Envelope, line: bytes) -> Envelope:
    """Return the envelope of what is no message: with its body, where projections fold it whole.

    Raises `NoEntryError` for a header.
    """
    if envelope.type == "session":
        raise NoEntryError("second-header", "a second header")
    if envelope.type in STATE_TYPES:
        try:
            entry: SessionEntry | None = decode_entry(line)
        except ValueError:
            # A body that nests too deeply to be decoded stands like one of an unknown type.
            entry = None
        if entry is not None and type(entry) in _STATE_CLASSES:
            return _state_envelope(envelope, entry)
    return envelope if envelope.message is None else msgspec.structs.replace(envelope, message=None)


def _state_envelope(base: Envelope, entry: SessionEntry) -> StateEnvelope:
    return StateEnvelope(base.type, base.id, base.parent_id, base.timestamp, state=cast(StateEntry, entry))


def envelope_of(entry: SessionEntry) -> Envelope:
    """Return the envelope of an entry that is in memory."""
    message = _message_envelope(entry.message) if isinstance(entry, MessageEntry) else None
    envelope = Envelope(entry.type, entry.id, entry.parent_id, entry.timestamp, message)
    return _state_envelope(envelope, entry) if type(entry) in _STATE_CLASSES else envelope


def usage_of(fields: object) -> UsageEnvelope | None:
    """Return the usage in a decoded object, numbers of the wrong kind left out; None where there is none."""
    if not isinstance(fields, dict):
        return None
    cost, parts = fields.get("cost"), fields.get("orchestration")
    return UsageEnvelope(
        input=_number(fields.get("input")),
        output=_number(fields.get("output")),
        cache_read=_number(fields.get("cacheRead")),
        cache_write=_number(fields.get("cacheWrite")),
        total_tokens=_number(fields.get("totalTokens")),
        cost=CostEnvelope(_number(cost.get("total"))) if isinstance(cost, dict) else NO_COST,
        premium_requests=_number(fields.get("premiumRequests")),
        orchestration=NO_ORCHESTRATION
        if not isinstance(parts, dict)
        else OrchestrationEnvelope(
            _number(parts.get("input")), _number(parts.get("output")), _number(parts.get("cacheRead"))
        ),
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
    odd_parent = not isinstance(fields.get("parentId"), str | None)
    if not clean_base(fields):
        raise NoEntryError("no-id", "no string id and type")
    message = _message_envelope(fields.get("message")) if fields["type"] == "message" else None
    envelope = Envelope(fields["type"], fields["id"], fields["parentId"], fields["timestamp"], message)
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
        usage=usage_of(message.get("usage")),
        details=DetailsEnvelope(usage_of(details.get("usage"))) if isinstance(details, dict) else None,
    )


def _number(value: object) -> Number:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0
