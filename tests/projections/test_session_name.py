"""The session's name (F-55, F-73)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Factory = Callable[..., Any]


def info(*name: Any) -> dict[str, Any]:
    return {"type": "session_info", **({"name": name[0]} if name else {})}


def title(text: Any) -> dict[str, Any]:
    return {"type": "title_change", "title": text}


@pytest.mark.parametrize(("stored", "name"), [(None, None), ("", None), ("  ", None), (" a b ", "a b")])
def test_without_an_entry_the_headers_title_is_the_name(fed_log: Factory, stored: Any, name: str | None) -> None:
    """F-73 as settled: trimmed."""
    assert fed_log([], title=stored).projector.name.name == name


@pytest.mark.parametrize(
    ("bodies", "name"),
    [
        ([info("one")], "one"),
        ([info("one"), info(" two\n")], "two"),
        ([info("one"), title("two")], "two"),
        ([title("one"), info("two")], "two"),
        ([info("one"), info(""), info("  "), info(None), info(), title("")], "one"),
        ([info("one"), info(5), title(None)], "one"),
        ([info()], "head"),
    ],
)
def test_the_last_name_that_is_not_empty_counts(
    fed_log: Factory, chain: Factory, bodies: list[dict[str, Any]], name: str
) -> None:
    """F-55, F-73 as settled: `session_info` and `title_change` alike, after the header's title."""
    assert fed_log(chain(*bodies), title="head").feed().projector.name.name == name


def test_file_order_decides_not_the_branch_nor_the_time(fed_log: Factory, chain: Factory) -> None:
    """F-55."""
    fed = fed_log([*chain(info("trunk"), first=9), *chain(info("side"), first=1)]).feed()
    assert fed.projector.name.name == "side"
    assert fed.ids(fed.projector.name.entries) == ["e9", "e1"]
