"""Usage of all branches together (T-95..T-98)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Raw, Struct

from ..eventstore.entries import BranchSummaryEntry, CompactionEntry, Number
from ..eventstore.envelope import Envelope, StateEnvelope, UsageEnvelope, usage_of
from ..eventstore.json_text import decode_json


class Usage(Struct, frozen=True):
    """Token counts, and cost in the currency of the files. Orchestration is not part of `input`."""

    input: Number = 0
    output: Number = 0
    cache_read: Number = 0
    cache_write: Number = 0
    total_tokens: Number = 0
    cost: Number = 0
    premium_requests: Number = 0
    orchestration_input: Number = 0
    orchestration_output: Number = 0
    orchestration_cache_read: Number = 0


class UsageTotals:
    """Sums what assistant messages, `task` results, compactions and branch summaries say they used."""

    def __init__(self) -> None:
        self._sums: list[Number] = [0] * len(Usage.__struct_fields__)

    @property
    def total(self) -> Usage:
        """A snapshot (T-98)."""
        return Usage(*self._sums)

    def apply(self, seq: int, envelope: Envelope) -> None:
        """Take in one recorded entry."""
        self.apply_batch(seq, [envelope])

    def apply_batch(self, first_seq: int, envelopes: Sequence[Envelope]) -> None:
        """Take in recorded entries in order."""
        tokens_in: Number
        tokens_out: Number
        cache_read: Number
        cache_write: Number
        total: Number
        cost: Number
        tokens_in = tokens_out = cache_read = cache_write = total = cost = 0
        for envelope in envelopes:
            message = envelope.message
            if message is None:
                if type(envelope) is StateEnvelope and isinstance(
                    envelope.state, CompactionEntry | BranchSummaryEntry
                ):
                    self._add_details(envelope.state.details)
                continue
            usage = message.usage
            if usage is None:
                if message.tool_name == "task" and message.role == "toolResult" and envelope.type == "message":
                    self._add_details(_decode(message.details))
                continue
            if message.role != "assistant" or envelope.type != "message":
                continue
            tokens_in += usage.input or 0
            tokens_out += usage.output or 0
            cache_read += usage.cache_read or 0
            cache_write += usage.cache_write or 0
            total += usage.total_tokens or 0
            if usage.cost is not None:
                cost += usage.cost.total or 0
            if usage.premium_requests is not None or usage.orchestration is not None:
                self._add_rare(usage)
        for index, value in enumerate((tokens_in, tokens_out, cache_read, cache_write, total, cost)):
            self._sums[index] += value

    def _add_details(self, details: object) -> None:
        usage = usage_of(details.get("usage")) if isinstance(details, dict) else None
        if usage is None:
            return
        cost = usage.cost.total if usage.cost is not None else 0
        plain = (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total_tokens, cost)
        for index, value in enumerate(plain):
            self._sums[index] += value or 0
        self._add_rare(usage)

    def _add_rare(self, usage: UsageEnvelope) -> None:
        parts = usage.orchestration
        rare = (usage.premium_requests,) + ((parts.input, parts.output, parts.cache_read) if parts is not None else ())
        for index, value in enumerate(rare, 6):
            self._sums[index] += value or 0


def _decode(details: Raw) -> object:
    text = bytes(details)
    try:
        return decode_json(text) if text else None
    except ValueError:
        return None
