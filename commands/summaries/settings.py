"""What an agent session is told about its model, and when and how it summarizes."""

from __future__ import annotations

from math import floor
from typing import Final, Literal

from msgspec import Struct

from .prompts import Prompts
from .token_estimate import Estimate, estimate_tokens

DEFAULT_RESERVE: Final = 16_384
"""Tokens."""


class Model(Struct, frozen=True):
    """The model that the agent runs on. `context_window`: tokens; 0 where it is not known."""

    provider: str
    id: str
    context_window: int = 0


class CompactionSettings(Struct, frozen=True):
    """When a session is compacted, and how much is kept (K-01..K-04). Tokens throughout.

    `enabled`, and the strategy `"off"`, concern the automatic check alone. `reserve_tokens`: room for prompt
    and answer, 16,384 by default. `threshold_tokens`, else `threshold_percent` of the window, take its place
    where they are above 0.
    """

    enabled: bool = True
    strategy: Literal["context-full", "off"] = "context-full"
    reserve_tokens: int | None = None
    keep_recent_tokens: int = 20_000
    threshold_percent: float = -1
    threshold_tokens: int = -1

    def threshold(self, window: int) -> int:
        """Return the tokens above which a context of a window has to be compacted (K-11)."""
        if self.threshold_tokens > 0:
            return min(max(self.threshold_tokens, 1), window - 1)
        if self.threshold_percent > 0:
            return floor(window * min(max(self.threshold_percent, 1), 99) / 100)
        return min(max(window - self.budget_reserve(window), 0), window - 1)

    def budget_reserve(self, window: int) -> int:
        """Return what is kept free of a window: a share of it where the reserve would take all (K-12)."""
        share = floor(0.15 * window)
        effective = max(share, self.reserve_tokens if self.reserve_tokens is not None else DEFAULT_RESERVE)
        leaves_nothing = self.reserve_tokens is None and effective >= window - max(1, share)
        return max(1, share) if leaves_nothing or effective >= window else effective

    def summary_reserve(self, window: int) -> int:
        """Return the room from which the length of a summary follows: the reserve, less in a tiny window (K-52)."""
        reserve = self.reserve_tokens if self.reserve_tokens is not None else DEFAULT_RESERVE
        return min(reserve, self.budget_reserve(window)) if window > 0 else reserve

    def is_due(self, tokens: int, window: int) -> bool:
        """Tell whether a context of so many tokens is to be compacted by the automatic check (K-10, K-11)."""
        return self.is_automatic and window > 0 and tokens > self.threshold(window)

    @property
    def is_automatic(self) -> bool:
        """Whether there is an automatic check."""
        return self.enabled and self.strategy != "off"


class BranchSummarySettings(Struct, frozen=True):
    """`reserve_tokens`: kept free of the summarizing model's window (N-60)."""

    reserve_tokens: int = DEFAULT_RESERVE


class AgentSettings(Struct, frozen=True):
    """How an agent session summarizes. `estimate_tokens`: of one message in the file's form (K-20)."""

    compaction: CompactionSettings = CompactionSettings()
    branch_summary: BranchSummarySettings = BranchSummarySettings()
    prompts: Prompts = Prompts()
    estimate_tokens: Estimate = estimate_tokens
