"""What the tests of indexed sessions share: small sessions are indexed too, in a cache of the test's own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sessiontree import SessionManager
from sessiontree.projections import session_index


@pytest.fixture(autouse=True)
def pays_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Small sessions are indexed too, in a cache of the test's own."""
    monkeypatch.setattr(session_index, "PAYS_FROM", 1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def path(write_file: Callable[..., Path]) -> Path:
    """A session of 40 entries, a chain `e0` to `e39`, written long ago."""
    path = write_file([{"id": f"e{number}", "parentId": f"e{number - 1}" if number else None} for number in range(40)])
    os.utime(path, ns=(10**18, 10**18))
    return path


class Indexes:
    """Makes indexes, and looks at what became of them."""

    async def look(self, path: Path) -> None:
        """Open a session and close it: then it is indexed."""
        async with await SessionManager.open(path):
            pass

    def covered(self, session: SessionManager) -> int:
        """Bytes of the session that came from an index, or are in one now."""
        index = session._log._index
        assert index is not None
        return index.covered

    async def is_used(self, path: Path) -> bool:
        """Tell whether a session would begin with an index."""
        session = await SessionManager.open(path, read_only=True)
        index = session._log._index
        assert index is not None
        used = index._file is not None
        await session.close()
        return used

    def leftovers(self, directory: Path) -> list[str]:
        """Names of files that are half written."""
        return [file.name for file in directory.rglob("*") if file.name.endswith(".tmp")]


@pytest.fixture
def indexes() -> Indexes:
    """Makes indexes, and looks at what became of them."""
    return Indexes()
