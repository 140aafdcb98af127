"""Ids of entries and sessions."""

from __future__ import annotations

import re
from uuid import UUID

import pytest

from sessiontree.eventstore import ids
from sessiontree.eventstore.ids import new_entry_id, new_session_id


def test_an_entry_id_is_8_hex_characters() -> None:
    """F-21: and a thousand of them differ."""
    found = {new_entry_id(lambda _: False) for _ in range(1000)}
    assert len(found) == 1000
    assert all(re.fullmatch("[0-9a-f]{8}", entry_id) for entry_id in found)


def test_an_entry_id_that_is_taken_is_drawn_again() -> None:
    """F-22"""
    asked: list[str] = []

    def is_taken(entry_id: str) -> bool:
        asked.append(entry_id)
        return len(asked) < 100

    assert new_entry_id(is_taken) == asked[-1]
    assert len(asked) == len(set(asked)) == 100


def test_after_a_hundred_collisions_the_id_is_longer_and_unique() -> None:
    """F-22"""
    asked: list[str] = []

    def is_taken(entry_id: str) -> bool:
        asked.append(entry_id)
        return True

    found = {new_entry_id(is_taken) for _ in range(2)}
    assert (len(asked), len(found)) == (200, 2)
    assert all(re.fullmatch("[0-9a-f]{32}", entry_id) for entry_id in found)


def test_a_forked_child_draws_ids_of_its_own() -> None:
    """F-21: what was drawn ahead is the parent's."""
    new_entry_id(lambda _: False)
    ahead = list(ids._drawn)
    ids.forget_drawn_ids()
    assert not {new_entry_id(lambda _: False) for _ in range(len(ahead))} & set(ahead)


@pytest.mark.parametrize("seconds", [0, 0.001, 1_771_237_230.123, 281_474_976_710.655])
def test_a_session_id_is_a_uuid_of_version_7_with_its_time_in_front(seconds: float) -> None:
    """F-20, X-26: lowercase and hyphenated; the first 48 bits are milliseconds."""
    session_id = new_session_id(seconds)
    uuid = UUID(session_id)
    assert session_id == str(uuid) == session_id.lower()
    assert (uuid.version, uuid.variant) == (7, "specified in RFC 4122")
    assert abs((uuid.int >> 80) - seconds * 1000) <= 1


def test_session_ids_of_the_same_time_differ_and_those_of_later_times_sort_behind() -> None:
    """F-20"""
    same = {new_session_id(1_771_237_230) for _ in range(1000)}
    assert len(same) == 1000
    assert max(same) < min(new_session_id(1_771_237_230.002) for _ in range(10))
