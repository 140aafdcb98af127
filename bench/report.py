"""The results as an aligned table and as JSON."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict

from bench.fixtures import CACHE
from bench.rows import CaseResult, Growth, Row
from bench.settings import Settings

FORMAT = 1
"""The version of the JSON document; docs/benchmarks.md describes it."""

_HEAD = ("figure", "best", "median", "spread", "unit", "target", "ok", "note")
_RIGHT = {1, 2, 3}  # the columns of numbers


def table(results: list[CaseResult]) -> str:
    """One block a case, all with the same columns."""
    cells = {result.name: [_cells(row) for row in result.rows] for result in results}
    lines = [_HEAD, *(line for block in cells.values() for line in block)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    return "\n".join(_table_lines(results, cells, widths))


def document(results: list[CaseResult], settings: Settings) -> dict[str, object]:
    """Everything that was measured, raw samples included, as one JSON object."""
    return {
        "format": FORMAT,
        "environment": environment(),
        "settings": asdict(settings),
        "cases": [
            {
                "case": result.name,
                "failure": result.failure,
                "rows": [_row_document(row) for row in result.rows],
            }
            for result in results
        ],
    }


def environment() -> dict[str, object]:
    """What the figures depend on beside the code."""
    return {
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpus": os.cpu_count(),
        "sessions": str(CACHE),
    }


def _table_lines(
    results: list[CaseResult], cells: dict[str, list[tuple[str, ...]]], widths: list[int]
) -> Iterator[str]:
    yield _aligned(_HEAD, widths)
    for result in results:
        yield f"--- {result.name} ".ljust(sum(widths) + 2 * len(widths), "-")
        for line in cells[result.name]:
            yield _aligned(line, widths)
        if result.failure is not None:
            yield f"did not run: {result.failure}"


def _aligned(line: tuple[str, ...], widths: list[int]) -> str:
    padded = (
        cell.rjust(width) if column in _RIGHT else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(line, widths, strict=True))
    )
    return "  ".join(padded).rstrip()


def _cells(row: Row) -> tuple[str, ...]:
    ok = {None: "", True: "yes", False: "NO"}[row.ok]
    target = str(row.target) if row.target else ""
    spread = number(row.spread) if len(row.samples) > 1 else ""
    return (row.name, number(row.best), number(row.median), spread, row.unit, target, ok, row.note)


def number(value: float) -> str:
    """Three digits that mean something: 152,340; 41.7; 0.0826; -0.0101."""
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}" if size >= 1 else f"{value:.3g}"


def _row_document(row: Row) -> dict[str, object]:
    return {
        "group": row.group,
        "figure": row.figure,
        "unit": row.unit,
        "best": row.best,
        "median": row.median,
        "spread": row.spread,
        "samples": row.samples,
        "target": str(row.target) if row.target else None,
        "ok": row.ok,
        "note": row.note,
        "growth": _growth_document(row.growth) if row.growth is not None else None,
    }


def _growth_document(growth: Growth) -> dict[str, object]:
    points = [
        {"entries": point.entries, "best": point.best, "median": point.median, "samples": point.samples}
        for point in growth.points
    ]
    return {"unit": growth.unit, "points": points}
