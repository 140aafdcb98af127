"""The session of a command, and progress while it is worked on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ..commands.session_manager import SessionManager
from .progress import Progress
from .session_target import SessionTarget


@asynccontextmanager
async def opened_to_read(target: SessionTarget, progress: Progress | None = None) -> AsyncIterator[SessionManager]:
    """Open a session; no lock is taken and nothing is written. `progress`: the caller's, to show counts on."""
    async with (
        progress or Progress("reading the session"),
        await SessionManager.open(await target.find(), read_only=True) as session,
    ):
        yield session


@asynccontextmanager
async def opened_to_write(target: SessionTarget) -> AsyncIterator[SessionManager]:
    """Open a session; the first append locks it."""
    async with Progress("writing the session"), await SessionManager.open(await target.find()) as session:
        yield session


@asynccontextmanager
async def opened_to_summarize(target: SessionTarget) -> AsyncIterator[SessionManager]:
    """Open a session and lock it: no model is to be asked for a summary that could not be stored."""
    async with Progress("writing the summary"), await SessionManager.open(await target.find()) as session:
        await session.acquire()
        yield session
