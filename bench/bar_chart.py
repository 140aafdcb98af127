"""A chart of figures that can be compared: a panel for each group, a bar for each figure, less is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle

from bench.report import number
from bench.rows import Row
from bench.svg import FONT, PALETTE, WIDTH, drawing, element, text

_LABELS, _VALUES = 230, 90
_BAR, _STEP, _PANEL = 14, 22, 40


def bar_chart(title: str, groups: Mapping[str, Sequence[Row]]) -> str:
    """The SVG of the medians; every panel has a scale of its own, a figure one colour in all of them."""
    figures = list(dict.fromkeys(row.figure for rows in groups.values() for row in rows))
    colours = dict(zip(figures, cycle(PALETTE), strict=False))
    parts: list[str] = []
    top = float(_PANEL)
    for group, rows in groups.items():
        longest = max(row.median for row in rows)
        parts.append(text(f"{group}, {rows[0].unit}", 0, top + FONT))
        for place, row in enumerate(rows, 1):
            at = top + place * _STEP
            length = (WIDTH - _LABELS - _VALUES) * row.median / longest
            parts.append(text(row.figure, _LABELS - 10, at + FONT - 1, "end"))
            parts.append(
                element("rect", x=_LABELS, y=at, width=max(length, 1.0), height=_BAR, fill=colours[row.figure])
            )
            parts.append(text(number(row.median), _LABELS + length + 8, at + FONT - 1))
        top += _STEP * len(rows) + _PANEL
    return drawing(title, top, parts)
