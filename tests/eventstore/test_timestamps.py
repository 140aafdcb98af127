"""Times of entries: how they are written, and what is read as an instant."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessiontree.eventstore.catalogue import _moment
from sessiontree.eventstore.timestamps import format_instant, instant_ms

MOMENT = 1_771_237_230_000.0  # 2026-02-16T10:20:30Z


@pytest.mark.parametrize(
    "seconds", [0, 1_771_237_230, 1_771_237_230.0004, 1_771_237_230.9999, 0.9999999, 253_402_300_799.9]
)
def test_a_time_is_written_in_utc_with_milliseconds_and_z(seconds: float) -> None:
    """F-23"""
    written = format_instant(seconds)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", written)
    instant = instant_ms(written)
    assert instant is not None
    assert abs(instant - seconds * 1000) <= 1


def test_the_written_form_is_that_of_the_format() -> None:
    """F-23"""
    assert format_instant(MOMENT / 1000) == "2026-02-16T10:20:30.000Z"
    assert format_instant(MOMENT / 1000 + 0.123) == "2026-02-16T10:20:30.123Z"


@pytest.mark.parametrize(
    "value",
    [
        "2026-02-16T10:20:30.000Z",
        "2026-02-16T10:20:30Z",
        "2026-02-16T10:20:30",
        "2026-02-16 10:20:30",
        "2026-02-16T10:20:30.000000+00:00",
        "2026-02-16T12:20:30+02:00",
        "2026-02-16T05:50:30-0430",
        "20260216T102030Z",
        1_771_237_230_000,
        1_771_237_230_000.0,
    ],
)
def test_iso_8601_and_milliseconds_are_read(value: object) -> None:
    """T-28 as settled: without an offset it is UTC."""
    assert instant_ms(value) == MOMENT


def test_a_date_alone_is_its_midnight_and_fractions_count() -> None:
    """T-28"""
    assert instant_ms("2026-02-16") == MOMENT - (10 * 3600 + 20 * 60 + 30) * 1000
    assert instant_ms("2026-02-16T10:20:30.25Z") == MOMENT + 250
    assert instant_ms(-1.5) == -1.5


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        "",
        "yesterday",
        "2026-02-30T10:20:30Z",
        "2026-02-16T25:00:00Z",
        "1771237230000",
        "Mon Feb 16 2026",
        "\ud83d",
        float("nan"),
        float("inf"),
        -float("inf"),
        10**400,
        -(10**400),
        1e18,
        [],
        {},
        b"2026-02-16",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
    ],
)
def test_anything_else_cannot_be_read(value: object) -> None:
    """T-28: also what lies outside of the years 1 to 9999."""
    assert instant_ms(value) is None


@given(
    st.text()
    | st.integers()
    | st.floats()
    | st.datetimes(timezones=st.timezones() | st.none()).map(lambda moment: moment.isoformat())
)
@example(-62_135_596_800_000)
@example(253_402_300_799_999)
@example("0001-01-01T00:00:00Z")
@example("9999-12-31T23:59:59.999999Z")
def test_what_is_read_can_be_shown_and_compared(value: object) -> None:
    """T-28, F-92: every instant is a moment of the calendar."""
    instant = instant_ms(value)
    if instant is not None:
        assert isinstance(instant, float)
        assert abs(_moment(instant).timestamp() * 1000 - instant) < 1
