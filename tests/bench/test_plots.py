"""Plots are well-formed SVG of the right marks, in colours that can be read on white and on black."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from bench.line_chart import duration, spread_out
from bench.plots import plots
from bench.rows import CaseResult, Growth, Point, Row, Target, measured, slope
from bench.svg import INK, PALETTE, drawing, element, text

SVG = "{http://www.w3.org/2000/svg}"


def growing(figure: str, unit: str, *values: float) -> Row:
    points = [Point(10_000 * 10**power, [value]) for power, value in enumerate(values)]
    return slope(figure, Growth(unit, points), Target("≤", 1.05))


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("page", ["#ffffff", "#0d1117"])
def test_every_colour_can_be_told_from_a_light_and_from_a_dark_page(page: str) -> None:
    assert contrast(INK, page) > 4
    assert min(contrast(colour, page) for colour in PALETTE) > 3


def test_text_and_attributes_are_escaped_and_coordinates_rounded() -> None:
    written = element("g", text("a < b & c", 1 / 3, 2.0), data_x='"')
    assert "a &lt; b &amp; c" in written
    assert 'x="0.3" y="2"' in written
    assert written.startswith("<g data-x='\"'>")
    assert ElementTree.fromstring(drawing("≤ & ≥", 10, [written])).findtext(f"{SVG}title") == "≤ & ≥"


def test_growths_in_milliseconds_become_lines_with_a_point_for_each_size() -> None:
    rows = [
        growing("open", "ms", 1, 10, 100),
        growing("get_tree", "ms", 3, 30, 400),
        growing("peak", "MB", 20, 30, 50),
    ]
    drawn = plots([CaseResult("linear", rows)])
    assert drawn.keys() == {"linear.svg"}
    root = ElementTree.fromstring(drawn["linear.svg"])
    lines = [line.attrib["points"].split() for line in root.iter(f"{SVG}polyline")]
    assert [len(line) for line in lines] == [3, 3]
    heights = [float(place.split(",")[1]) for place in lines[0]]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.2)
    written = [part.text for part in root.iter(f"{SVG}text")]
    assert {"10,000", "1,000,000", "1 ms", "100 ms", "open (slope 1.00)", "get_tree (slope 1.06)"} <= set(written)


def test_growths_that_stay_the_same_are_drawn_too() -> None:
    root = ElementTree.fromstring(plots([CaseResult("bounded", [growing("append", "ms", 1, 1)])])["bounded.svg"])
    assert len(list(root.iter(f"{SVG}polyline"))) == 1


def test_rows_of_a_group_become_bars_by_their_medians() -> None:
    rows = [
        measured("ours", "ms", [1.0, 2.0, 9.0], group="append"),
        measured("theirs", "ms", [8.0], group="append"),
        measured("ours", "MB", [5.0], group="size"),
        measured("peak memory", "MB", [50.0]),
    ]
    root = ElementTree.fromstring(plots([CaseResult("peers", rows)])["peers.svg"])
    bars = list(root.iter(f"{SVG}rect"))
    widths = [float(bar.attrib["width"]) for bar in bars]
    assert widths[0] == pytest.approx(widths[1] / 4)
    assert widths[1] == widths[2]
    assert bars[0].attrib["fill"] == bars[2].attrib["fill"] != bars[1].attrib["fill"]


def test_a_case_with_nothing_to_compare_has_no_plot() -> None:
    assert plots([CaseResult("list", [measured("list", "ms", [1.0])]), CaseResult("ui", failure="no terminal")]) == {}


@pytest.mark.parametrize(
    ("power", "shown"), [(-4, "100 ns"), (-2, "10 µs"), (0, "1 ms"), (2, "100 ms"), (3, "1 s"), (6, "1,000 s")]
)
def test_a_scale_is_labelled_in_units_of_time(power: int, shown: str) -> None:
    assert duration(power) == shown


def test_labels_that_would_overlap_are_moved_apart_in_their_order() -> None:
    assert spread_out([50, 10, 12, 11], 5) == [50, 10, 20, 15]
