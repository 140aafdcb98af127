"""Copies of stored JSON that can always be encoded."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest

from sessiontree.projections.sendable import sendable_copy, sendable_text


@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        ("plain", "plain"),
        ("日本 😀", "日本 😀"),
        ("cut \ud83d here", "cut \ufffd here"),
        ("end \ud83d", "end \ufffd"),
        ("\udc00x\udc00", "\ufffdx\ufffd"),
        ("\ud83d\ud83d\ude00", "\ufffd😀"),
        ("", ""),
    ],
)
def test_each_lone_surrogate_becomes_one_replacement_character(stored: str, sent: str) -> None:
    assert sendable_text(stored) == sent


def test_a_copy_cleans_keys_and_values_at_every_depth_and_shares_no_container() -> None:
    stored: dict[str, Any] = {
        "a": [{"\ud800": "x\udfff"}, ("t", 1.5)],
        "n": None,
        "f": float("inf"),
        "b": True,
    }
    copy = sendable_copy(stored)
    assert copy == {"a": [{"\ufffd": "x\ufffd"}, ["t", 1.5]], "n": None, "f": None, "b": True}
    json.dumps(copy, ensure_ascii=False, allow_nan=False).encode()
    copy["a"][0]["new"] = 1
    copy["a"].append(2)
    assert stored["a"] == [{"\ud800": "x\udfff"}, ("t", 1.5)]


def test_read_only_mappings_and_keys_that_are_no_strings_are_copied_too() -> None:
    assert sendable_copy(MappingProxyType({1: MappingProxyType({"é": "\ud800"})})) == {1: {"é": "\ufffd"}}


def test_nesting_beyond_the_recursion_limit_is_copied() -> None:
    deep: Any = "core \ud800"
    for _ in range(20_000):
        deep = [deep]
    copy = sendable_copy(deep)
    for _ in range(20_000):
        (copy,) = copy
        (deep,) = deep
    assert copy == "core \ufffd"
