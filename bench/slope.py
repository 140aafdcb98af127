"""How a figure grows with the size of a session."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from statistics import linear_regression


def fitted_slope(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The slope of the line through the points on logarithmic scales, by least squares.

    1: twice the size takes twice as long; 0: the size does not matter. Raises `statistics.StatisticsError` for
    fewer than two sizes.
    """
    return linear_regression([log(size) for size in sizes], [log(value) for value in values]).slope
