"""A session opened to be written by one command."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ..commands.session_manager import SessionManager
from ..eventstore.errors import UnsupportedVersionError
from ..eventstore.header import CURRENT_VERSION


@asynccontextmanager
async def opened_for_writing(path: Path) -> AsyncIterator[SessionManager]:
    """Open a session; nothing is written yet.

    Raises `UnsupportedVersionError` for a version that we may not write: a fork of it would be one of version 3.
    """
    async with await SessionManager.open(path) as session:
        if session.file_version > CURRENT_VERSION:
            raise UnsupportedVersionError(path, session.file_version)
        yield session
