"""Rounds of measurements: what is compared is measured in turn, so that a slow minute falls on all of it."""

from __future__ import annotations

from typing import NamedTuple

from bench.process import Sample, run_fresh


class Call(NamedTuple):
    """A measurement with its parameters, to be run in a fresh process."""

    measure: str
    params: dict[str, object]


class Samples(tuple[Sample, ...]):
    """The samples of one measurement, one a round."""

    def of(self, figure: str, scale: float = 1.0) -> list[float]:
        """That figure of each round, times `scale`."""
        return [sample.figures[figure] * scale for sample in self]

    def same(self, figure: str) -> int:
        """A figure that is the same number in all rounds."""
        (number,) = {int(sample.figures[figure]) for sample in self}
        return number

    @property
    def peak_mb(self) -> list[float]:
        return [sample.peak_mb for sample in self]


def measurement(measure: str, **params: object) -> Call:
    """`MODULE:FUNCTION` of `bench.measure`; the parameters must be JSON."""
    return Call(f"bench.measure.{measure}", params)


def in_turn(repeat: int, *calls: Call) -> list[Samples]:
    """Run each measurement once a round; the samples in the order of `calls`."""
    rounds = [[run_fresh(call.measure, **call.params) for call in calls] for _ in range(repeat)]
    return [Samples(samples) for samples in zip(*rounds, strict=True)]
