"""Usage of all branches together (T-95..T-98)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from ..eventstore.entries import BranchSummaryEntry, CompactionEntry, Number
from ..eventstore.envelope import NO_ORCHESTRATION, Envelopes, UsageEnvelope, usage_of
from ..eventstore.index.index_file import IndexFile
from .projection import Projection


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

    def in_file_form(self) -> dict[str, Any]:
        """Return the same as messages and details hold it (F-66)."""
        return {
            "input": self.input,
            "output": self.output,
            "cacheRead": self.cache_read,
            "cacheWrite": self.cache_write,
            "totalTokens": self.total_tokens,
            "cost": {"total": self.cost},
            "premiumRequests": self.premium_requests,
            "orchestration": {
                "input": self.orchestration_input,
                "output": self.orchestration_output,
                "cacheRead": self.orchestration_cache_read,
            },
        }


class UsageTotals(Projection):
    """Sums what assistant messages, `task` results, compactions and branch summaries say they used."""

    def __init__(self) -> None:
        self._sums: list[Number] = [0] * len(Usage.__struct_fields__)

    @property
    def total(self) -> Usage:
        """A snapshot (T-98)."""
        return Usage(*self._sums)

    def state(self) -> list[Number]:
        """Return the sums, as they are now."""
        return list(self._sums)

    def restore(self, file: IndexFile) -> None:
        """Begin with what an index holds."""
        self._sums = file.state("usage", list[Number])

    def _fold_batch(self, first_seq: int, envelopes: Envelopes) -> None:
        usages = envelopes.usages
        for _, state in envelopes.states:
            if isinstance(state, CompactionEntry | BranchSummaryEntry):
                usages += _usage_in(state.details)
        if usages:
            self._add(usages)

    def _add(self, usages: Sequence[UsageEnvelope]) -> None:
        *plain, costs, premium, orchestration = zip(*map(astuple, usages), strict=True)
        columns = [*plain, [cost.total for cost in costs], premium]
        if orchestration.count(NO_ORCHESTRATION) < len(usages):
            columns += zip(*map(astuple, orchestration), strict=True)
        for index, column in enumerate(columns):
            self._sums[index] = sum(column, self._sums[index])


def _usage_in(details: object) -> list[UsageEnvelope]:
    usage = usage_of(details.get("usage")) if isinstance(details, dict) else None
    return [usage] if usage is not None else []
