"""A chart of growths: milliseconds by entries, both on logarithmic scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from math import floor, log10

from bench.rows import Point
from bench.svg import FONT, PALETTE, WIDTH, drawing, element, line, text

_LEFT, _RIGHT, _TOP, _BOTTOM = 60, WIDTH - 270, 48, 388
_GRID = 0.3  # opacity
_GAP = FONT + 5  # between the labels of two lines


@dataclass(frozen=True)
class Line:
    """The medians of a growth in milliseconds, and what is written at its end."""

    label: str
    points: Sequence[Point]


def line_chart(title: str, lines: Sequence[Line]) -> str:
    """The SVG of one chart."""
    sizes = sorted({point.entries for one in lines for point in one.points})
    values = [point.median for one in lines for point in one.points]
    low, high = floor(log10(min(values))), floor(log10(max(values))) + 1
    width = log10(sizes[-1] / sizes[0])

    def x(entries: int) -> float:
        return _LEFT + (_RIGHT - _LEFT) * log10(entries / sizes[0]) / width

    def y(value: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * (log10(value) - low) / (high - low)

    parts = []
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts += [line(_LEFT, at, _RIGHT, at, _GRID), text(duration(power), _LEFT - 8, at + 4, "end")]
    for size in sizes:
        parts += [line(x(size), _TOP, x(size), _BOTTOM, _GRID), text(f"{size:,}", x(size), _BOTTOM + 20, "middle")]
    parts.append(text("entries", _RIGHT + 46, _BOTTOM + 20))
    heights = spread_out([y(one.points[-1].median) for one in lines], _GAP)
    for one, height, colour in zip(lines, heights, cycle(PALETTE), strict=False):
        places = [(x(point.entries), y(point.median)) for point in one.points]
        path = " ".join(f"{left:.1f},{top:.1f}" for left, top in places)
        parts.append(element("polyline", points=path, fill="none", stroke=colour, stroke_width=2))
        parts += [element("circle", cx=left, cy=top, r=3, fill=colour) for left, top in places]
        parts.append(line(_RIGHT + 4, places[-1][1], _RIGHT + 18, height))
        parts.append(element("circle", cx=_RIGHT + 24, cy=height, r=4, fill=colour))
        parts.append(text(one.label, _RIGHT + 34, height + 4))
    return drawing(title, _BOTTOM + 32, parts)


def duration(power: int) -> str:
    """Ten to that power of milliseconds."""
    for unit, smallest in (("s", 3), ("ms", 0), ("µs", -3), ("ns", -6)):
        if power >= smallest:
            return f"{10 ** (power - smallest):,} {unit}"
    return f"1e{power} ms"


def spread_out(heights: Sequence[float], gap: float) -> list[float]:
    """Move heights that are closer than the gap apart, downwards, in their order."""
    moved = list(heights)
    last = float("-inf")
    for at in sorted(range(len(heights)), key=heights.__getitem__):
        moved[at] = last = max(heights[at], last + gap)
    return moved
