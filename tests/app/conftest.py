"""What the tests of the command and of its rows share."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from wcwidth import wcswidth

OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e]")


@pytest.fixture(params=[120, 79, 40, 20, 7, 2, 1])
def width(request: pytest.FixtureRequest) -> int:
    """The columns of a terminal."""
    columns: int = request.param
    return columns


@pytest.fixture
def fits() -> Callable[[str, int], bool]:
    """Tells whether a row takes one to so many columns, and holds nothing that a terminal obeys."""
    return lambda row, width: OBEYED.search(row) is None and 0 < wcswidth(row) <= width
