"""Slopes are fitted on logarithmic scales, and a row judges its target by the best sample or by the median."""

from __future__ import annotations

import pytest

from bench.rows import Growth, Point, Target, measured, ratio, slope
from bench.slope import fitted_slope

SIZES = [10_000, 30_000, 100_000]


@pytest.mark.parametrize("power", [0, 0.5, 1, 2])
def test_the_slope_is_the_power_with_which_a_figure_grows(power: float) -> None:
    assert fitted_slope(SIZES, [7 * size**power for size in SIZES]) == pytest.approx(power, abs=1e-9)


def test_one_figure_off_the_line_moves_the_slope_a_little() -> None:
    assert 1 < fitted_slope([1, 10, 100, 1000], [1, 10, 130, 1000]) < 1.05


def test_a_slope_row_fits_best_samples_medians_and_each_round() -> None:
    points = [Point(10, [1.0, 9.0, 2.0]), Point(100, [10.0, 90.0, 200.0])]
    row = slope("open", Growth("ms", points), Target("≤", 1.05))
    assert row.best == pytest.approx(1)
    assert row.median == pytest.approx(1.6532, abs=1e-4)
    assert row.samples == pytest.approx([1, 1, 2])
    assert row.spread == pytest.approx(1)
    assert row.ok is True
    assert row.note == "10 to 100 entries"


def test_the_best_sample_is_judged_unless_the_median_is_asked_for() -> None:
    samples = [1.0, 3.0, 8.0]
    assert measured("open", "ms", samples, Target("≤", 2)).ok is True
    assert measured("open", "ms", samples, Target("≤", 2, "median")).ok is False
    assert measured("append", "/s", samples, Target("≥", 8), choose=max).ok is True
    assert measured("open", "ms", samples).ok is None


def test_the_spread_is_the_largest_sample_minus_the_smallest() -> None:
    assert measured("open", "ms", [3.0, 1.0, 8.0]).spread == 7
    assert measured("open", "ms", [3.0]).spread == 0


def test_a_ratio_is_of_best_to_best_and_of_median_to_median() -> None:
    row = ratio("open ÷ counting", [4.0, 6.0, 9.0], [2.0, 3.0, 1.0])
    assert (row.best, row.median, row.samples) == (4, 3, [2, 2, 9])


def test_a_row_is_named_with_its_group() -> None:
    assert measured("newline counting", "ms", [1.0], group="open").name == "open: newline counting"
    assert measured("open", "ms", [1.0]).name == "open"
