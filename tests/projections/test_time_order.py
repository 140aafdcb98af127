"""The order of children: oldest first by instant, then by place (T-28)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

Factory = Callable[..., Any]

NOON_MS = 1_770_033_600_000  # 2026-02-02T12:00:00Z


@pytest.fixture(scope="session")
def order_of(fed_log: Factory) -> Callable[..., list[int]]:
    """Returns the order of children with these times, by their place."""

    def order(times: list[Any], *, batches: bool = False) -> list[int]:
        custom = {"type": "custom", "customType": "c"}
        top = {**custom, "id": "top", "parentId": None, "timestamp": "2026-01-01T00:00:00.000Z"}
        children = [{**custom, "id": str(n), "parentId": "top", "timestamp": time} for n, time in enumerate(times)]
        fed = fed_log([top, *children])
        for _ in range(len(fed.lines) if batches else 1):
            fed.feed(1 if batches else None)
        tree = fed.projector.tree
        assert tree.children(1) == list(range(2, len(times) + 2))
        return [int(entry_id) for entry_id in fed.ids(tree.ordered_children(1))]

    return order


def test_children_are_sorted_oldest_first_whatever_their_place(order_of: Factory) -> None:
    """T-28: as instants, not as text."""
    assert order_of(["2026-02-02T12:00:02.000Z", "2026-02-02T12:00:00.000Z", "2026-02-02T12:00:01.000Z"]) == [1, 2, 0]
    assert order_of(["2026-02-02T12:00:00.001Z", "2026-02-02T12:00:00.000Z"]) == [1, 0]


@pytest.mark.parametrize(
    "spelling",
    [
        "2026-02-02T12:00:00Z",
        "2026-02-02T12:00:00.000Z",
        "2026-02-02T12:00:00",
        "2026-02-02 12:00:00",
        "2026-02-02T12:00:00.000+00:00",
        "2026-02-02T14:30:00+02:30",
        "2026-02-02T02:00:00.000-10:00",
        "20260202T120000Z",
        NOON_MS,
        float(NOON_MS),
    ],
)
def test_all_spellings_of_an_instant_are_ties(order_of: Factory, spelling: Any) -> None:
    """T-28: without an offset UTC, a number is milliseconds; ties stand in file order."""
    canonical = "2026-02-02T12:00:00.000Z"
    assert order_of([canonical, spelling, canonical]) == order_of([spelling, canonical, spelling]) == [0, 1, 2]
    assert order_of(["2026-02-02T12:00:00.001Z", spelling, "2026-02-02T11:59:59.999Z"]) == [2, 1, 0]


@pytest.mark.parametrize("unreadable", ["yesterday", "", None, True, [], 1e300, "2026-13-01T00:00:00.000Z"])
def test_an_unreadable_time_takes_that_of_the_nearest_earlier_sibling(order_of: Factory, unreadable: Any) -> None:
    """T-28 as settled: the nearest earlier one that has a time, else it sorts first."""
    one, two, three = (f"2026-02-02T12:00:0{second}.000Z" for second in (1, 2, 3))
    assert order_of([two, unreadable, three, one]) == [3, 0, 1, 2]
    assert order_of([three, unreadable, unreadable, one]) == [3, 0, 1, 2]
    assert order_of([unreadable, two, one]) == [0, 2, 1]
    assert order_of([unreadable, unreadable]) == [0, 1]
    assert order_of([two, one, unreadable, unreadable]) == [1, 2, 3, 0]


def test_times_before_1970_and_at_the_ends_of_the_calendar_are_readable(order_of: Factory) -> None:
    """T-28."""
    ends = ["9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00.000Z", 0, -1, "1969-12-31T23:59:59.998Z"]
    assert order_of(ends) == [1, 4, 3, 2, 0]


def test_a_number_and_a_text_of_the_same_millisecond_are_ties(order_of: Factory) -> None:
    """T-28: for every millisecond, not only for whole seconds."""
    assert order_of([546_216_336_512, "1987-04-23T22:45:36.512Z"]) == [0, 1]


moments = st.datetimes(datetime(2026, 1, 1), datetime(2026, 1, 1, 0, 0, 1)).map(
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
)
zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.tuples(moments, zones, st.sampled_from(["offset", "z", "bare", "odd"])), max_size=8))
def test_the_order_is_that_of_the_instants(
    rows: list[tuple[datetime, timezone, str]], order_of: Callable[..., list[int]]
) -> None:
    """T-28: in any mixture of spellings, in one batch or one by one."""
    times = []
    keys = []
    known = datetime.min.replace(tzinfo=UTC)
    for place, (moment, zone, spelling) in enumerate(rows):
        moment = moment.replace(tzinfo=UTC)
        if spelling == "odd":
            times.append("odd")
        else:
            known = moment
            text = moment.isoformat(timespec="milliseconds")
            spelled = {"offset": moment.astimezone(zone).isoformat(), "z": text[:-6] + "Z", "bare": text[:-6]}
            times.append(spelled[spelling])
        keys.append((known, place))
    expected = [place for _, place in sorted(keys)]
    assert order_of(times) == order_of(times, batches=True) == expected
