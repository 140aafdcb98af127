"""One row of the result: a figure with its samples, and its target where one is set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal


@dataclass(frozen=True)
class Target:
    """At most, or at least, the limit; the best sample is judged, or the median."""

    sense: Literal["≤", "≥"]
    limit: float
    judged: Literal["best", "median"] = "best"

    def __str__(self) -> str:
        return f"{self.sense} {self.limit:g}"


@dataclass(frozen=True)
class Row:
    """A figure: best, median and raw samples in `unit`. For a ratio the samples are those of each round."""

    figure: str
    unit: str
    best: float
    median: float
    samples: list[float]
    target: Target | None = None
    note: str = ""

    @property
    def ok(self) -> bool | None:
        """Whether the target is reached; None where there is none."""
        if self.target is None:
            return None
        judged = self.best if self.target.judged == "best" else self.median
        return judged <= self.target.limit if self.target.sense == "≤" else judged >= self.target.limit


@dataclass(frozen=True)
class CaseResult:
    """The rows of one case, or the reason why it did not run."""

    name: str
    rows: list[Row] = field(default_factory=list)
    failure: str | None = None


def measured(
    figure: str,
    unit: str,
    samples: Sequence[float],
    target: Target | None = None,
    *,
    note: str = "",
    choose: Callable[[Sequence[float]], float] = min,
) -> Row:
    """A row of samples; `choose` says which is the best."""
    return Row(figure, unit, choose(samples), median(samples), list(samples), target, note)


def ratio(
    figure: str,
    over: Sequence[float],
    under: Sequence[float],
    target: Target | None = None,
    *,
    note: str = "",
    choose: Callable[[Sequence[float]], float] = min,
) -> Row:
    """A row of the ratio of two rows of samples: best by best, median by median."""
    rounds = [a / b for a, b in zip(over, under, strict=True)]
    return Row(figure, "×", choose(over) / choose(under), median(over) / median(under), rounds, target, note)
