"""One row of the result: a figure with its samples, and its target where one is set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from bench.slope import fitted_slope


@dataclass(frozen=True)
class Target:
    """At most, or at least, the limit; the best sample is judged, or the median."""

    sense: Literal["≤", "≥"]
    limit: float
    judged: Literal["best", "median"] = "best"

    def __str__(self) -> str:
        return f"{self.sense} {self.limit:g}"


@dataclass(frozen=True)
class Point:
    """A figure at one size of a session; the samples are in rounds."""

    entries: int
    samples: list[float]

    @property
    def best(self) -> float:
        return min(self.samples)

    @property
    def median(self) -> float:
        return median(self.samples)


@dataclass(frozen=True)
class Growth:
    """A figure in `unit` at each size, the smallest first: what a slope was fitted to."""

    unit: str
    points: list[Point]

    @classmethod
    def of(cls, unit: str, sizes: Sequence[int], samples: Iterable[list[float]]) -> Growth:
        """The growth of a figure with these samples at these sizes."""
        return cls(unit, [Point(*point) for point in zip(sizes, samples, strict=True)])


@dataclass(frozen=True)
class Row:
    """A figure: best, median and raw samples in `unit`. For a ratio or a slope the samples are those of each round.

    Rows of one case and one `group` can be compared with one another.
    """

    figure: str
    unit: str
    best: float
    median: float
    samples: list[float]
    target: Target | None = None
    note: str = ""
    group: str = ""
    growth: Growth | None = None

    @property
    def name(self) -> str:
        """The figure with the group that it belongs to."""
        return f"{self.group}: {self.figure}" if self.group else self.figure

    @property
    def spread(self) -> float:
        """The largest sample minus the smallest."""
        return max(self.samples) - min(self.samples)

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
    group: str = "",
    choose: Callable[[Sequence[float]], float] = min,
) -> Row:
    """A row of samples; `choose` says which is the best."""
    return Row(figure, unit, choose(samples), median(samples), list(samples), target, note, group)


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


def slope(figure: str, growth: Growth, target: Target) -> Row:
    """A row of the slope of a growth on logarithmic scales: of the best samples, of the medians, of each round."""
    points = growth.points
    sizes = [point.entries for point in points]
    return Row(
        figure,
        "slope",
        fitted_slope(sizes, [point.best for point in points]),
        fitted_slope(sizes, [point.median for point in points]),
        [fitted_slope(sizes, values) for values in zip(*(point.samples for point in points), strict=True)],
        target,
        f"{sizes[0]:,} to {sizes[-1]:,} entries",
        growth=growth,
    )
