"""The table of sessions: columns, widths, sizes and ages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sessiontree import SessionInfo
from sessiontree.app.session_table import age_text, damaged_rows, session_table, shortest_ids, size_text

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
NAMES = ["计划 👨‍👩‍👧 and ééé so on", "two\x1b[2J\x9b31m\rlines\n", "plain " * 30, "", "\u202eright to left"]


def info(number: int, name: str = "", **fields: Any) -> SessionInfo:
    path = Path(f"/sessions/{number}.jsonl")
    given = {"id": f"019b8d{number:02}-77", "message_count": 12, "branch_count": 3, "fault_count": 0, **fields}
    return SessionInfo(path, (1, 1, 1), 1234, NOW - timedelta(hours=number), name=name, **given)


def test_no_row_is_wider_than_the_terminal_or_holds_a_control_character(
    width: int, fits: Callable[[str, int], bool]
) -> None:
    """Cases 67 and 72."""
    infos = [info(number, name, is_link=bool(number % 2)) for number, name in enumerate(NAMES)]
    ids = [shortest_ids(infos)[one.path] for one in infos]
    rows = list(session_table(infos, ids, now=NOW, width=width))
    rows += damaged_rows([info(9, fault="bad\x1b[31m\nheader")], Path("/sessions"), width=width)
    assert len(rows) == len(infos) + 2
    for row in rows:
        assert fits(row, width)
    if width >= 40:
        assert [row[:4] for row in rows[1:4]] == ["计划 👨", "two[", "plai"]


def columns(width: int | None) -> str:
    return " ".join(next(session_table([info(1, "name " * 20)], ["019b8d01"], now=NOW, width=width)).split())


def test_a_narrow_terminal_shows_fewer_columns() -> None:
    assert columns(None) == columns(80) == "NAME MESSAGES BRANCHES SIZE AGE ID"
    assert columns(56) == "NAME MESSAGES SIZE AGE ID"
    assert columns(46) == "NAME MESSAGES AGE ID"
    assert columns(35) == "NAME AGE ID"
    assert columns(20) == "NAME ID"


def test_the_table_lines_up_whatever_the_names_are_written_in() -> None:
    infos = [info(0, "计划"), info(1, "plan")]
    rows = session_table(infos, ["019b8d00", "019b8d01"], now=NOW, width=80)
    assert list(rows) == [
        "NAME  MESSAGES  BRANCHES    SIZE  AGE  ID",
        "计划        12         3  1.2 kB  now  019b8d00",
        "plan        12         3  1.2 kB   1h  019b8d01",
    ]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9949, "9.9 kB"),
        (9950, "10 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (1_500_000_000, "1.5 GB"),
        (2_000_000_000_000_000, "2000 TB"),
    ],
)
def test_a_size_has_two_or_three_digits_and_a_unit(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("age", "text"),
    [
        ({"seconds": -9}, "now"),
        ({"seconds": 59}, "now"),
        ({"minutes": 59}, "59m"),
        ({"hours": 23}, "23h"),
        ({"days": 13}, "13d"),
        ({"days": 14}, "2w"),
        ({"days": 364}, "52w"),
        ({"days": 800}, "2y"),
    ],
)
def test_an_age_is_given_in_its_largest_unit(age: dict[str, int], text: str) -> None:
    assert age_text(NOW - timedelta(**age), NOW) == text


def test_a_session_that_could_not_be_counted_has_no_number() -> None:
    [_, row] = session_table([info(1, "name", message_count=None)], ["019b8d01"], now=NOW, width=None)
    assert row.split()[:3] == ["name", "?", "3"]


def test_a_path_in_place_of_an_id_leaves_room_for_the_name() -> None:
    [head, row] = session_table([info(1, "name " * 9)], ["/sessions/" + "x" * 90], now=NOW, width=80)
    assert head.split() == ["NAME", "MESSAGES", "SIZE", "AGE", "ID"]
    assert row.startswith("name name name")
