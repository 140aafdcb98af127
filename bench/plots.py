"""The plots of a run: a case whose figures grow gets a chart of lines, one whose figures compare one of bars."""

from __future__ import annotations

from bench.bar_chart import bar_chart
from bench.line_chart import Line, line_chart
from bench.report import number
from bench.rows import CaseResult, Row

_TITLES = {
    "linear": "Time by length of the session: twice the entries, twice the time",
    "bounded": "Time by length of the session: at a leaf it does not matter",
    "open": "Opening a session, less is better",
    "peers": "The same work by the peers, less is better",
}


def plots(results: list[CaseResult]) -> dict[str, str]:
    """File name to SVG, for each case that has something to draw."""
    drawn = {}
    for result in results:
        title = _TITLES.get(result.name, result.name)
        lines = [line for row in result.rows if (line := _line(row))]
        groups: dict[str, list[Row]] = {}
        for row in result.rows:
            if row.group:
                groups.setdefault(row.group, []).append(row)
        if lines:
            drawn[f"{result.name}.svg"] = line_chart(title, lines)
        elif groups:
            drawn[f"{result.name}.svg"] = bar_chart(title, groups)
    return drawn


def _line(row: Row) -> Line | None:
    if row.growth is None or row.growth.unit != "ms":
        return None
    return Line(f"{row.figure} (slope {number(round(row.median, 2))})", row.growth.points)
