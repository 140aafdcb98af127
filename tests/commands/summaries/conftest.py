"""What the tests of summaries share: paths given as bodies."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from sessiontree import SessionEntry
from sessiontree.eventstore.entries import decode_entry


@pytest.fixture(scope="session")
def path() -> Callable[..., list[SessionEntry]]:
    """Makes the entries of a path, `e1`, `e2`, …; a body with a role is a message, any other is an entry's."""

    def make(*bodies: dict[str, Any], first: int = 1) -> list[SessionEntry]:
        entries = []
        for number, body in enumerate(bodies, first):
            fields = {"type": "message", "message": body} if "role" in body else body
            parent = f"e{number - 1}" if number > first else None
            base = {"id": f"e{number}", "parentId": parent, "timestamp": "2026-01-05T10:00:00.000Z"}
            entries.append(decode_entry(json.dumps({**base, **fields}).encode()))
        return entries

    return make
