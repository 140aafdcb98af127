"""Waiting for what a session does in the background, where that would decide what is measured."""

from __future__ import annotations

import asyncio


async def settled() -> None:
    """Wait for all other tasks of the loop: after a first open, one of them writes an index."""
    if others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)
