"""The table is aligned and says what is missed; the JSON document keeps its keys."""

from __future__ import annotations

import json

import pytest

from bench.report import FORMAT, document, number, table
from bench.rows import CaseResult, Growth, Point, Target, measured, slope
from bench.settings import Settings

GROWTH = Growth("ms", [Point(10, [1.0, 2.0]), Point(100, [10.0, 30.0])])
RESULTS = [
    CaseResult("open", [measured("first", "ms", [3.0, 1.0], Target("≤", 0.5), note="20 entries", group="open")]),
    CaseResult("linear", [slope("open", GROWTH, Target("≤", 1.05))]),
    CaseResult("list", failure="ended with status 1"),
]


def test_a_missed_target_is_said_in_capitals_and_a_failure_in_words() -> None:
    head, *lines = table(RESULTS).splitlines()
    assert head.split() == ["figure", "best", "median", "spread", "unit", "target", "ok", "note"]
    [first] = [line for line in lines if line.startswith("open: first")]
    assert first.split() == ["open:", "first", "1.00", "2.00", "2.00", "ms", "≤", "0.5", "NO", "20", "entries"]
    assert lines[-1] == "did not run: ended with status 1"


def test_one_sample_has_no_spread() -> None:
    assert table([CaseResult("open", [measured("first", "ms", [3.0])])]).splitlines()[-1].split() == [
        *("first", "3.00", "3.00", "ms")
    ]


def test_the_document_is_json_with_every_sample_of_every_size() -> None:
    written = json.loads(json.dumps(document(RESULTS, Settings(entries=20, repeat=2, quick=True))))
    assert written.keys() == {"format", "environment", "settings", "cases"}
    assert written["format"] == FORMAT
    opened, linear, listed = written["cases"]
    assert listed == {"case": "list", "failure": "ended with status 1", "rows": []}
    assert opened["rows"] == [
        {
            "group": "open",
            "figure": "first",
            "unit": "ms",
            "best": 1,
            "median": 2,
            "spread": 2,
            "samples": [3, 1],
            "target": "≤ 0.5",
            "ok": False,
            "note": "20 entries",
            "growth": None,
        }
    ]
    assert linear["rows"][0]["growth"] == {
        "unit": "ms",
        "points": [
            {"entries": 10, "best": 1, "median": 1.5, "samples": [1, 2]},
            {"entries": 100, "best": 10, "median": 20, "samples": [10, 30]},
        ],
    }


@pytest.mark.parametrize(
    ("value", "shown"),
    [(152_340.4, "152,340"), (41.66, "41.7"), (4.166, "4.17"), (0.08264, "0.0826"), (-0.01014, "-0.0101"), (0, "0")],
)
def test_a_number_has_three_digits_that_mean_something(value: float, shown: str) -> None:
    assert number(value) == shown
