"""What the flows of an agent session cost: navigation, an abort, the preparation of a compaction."""

from __future__ import annotations

import asyncio
import logging
from statistics import median
from time import perf_counter

from openai import AsyncOpenAI

from bench.figures import Figures
from sessiontree import (
    AbortController,
    AgentSession,
    AgentSettings,
    CompactionSettings,
    Hooks,
    OpenAISummarizer,
    SessionManager,
)
from sessiontree.commands.compaction import compaction_window
from sessiontree.commands.summaries.compaction_preparation import prepare_compaction

_MOVES = 50
_HOOKED_MOVES = 1  # the second one would find the bodies in the cache
_ABORTS = 20


async def navigate(path: str, left: int, hooked: bool = False) -> Figures:
    """Leave `left` entries without a summary, and come back, some times each.

    `hooked`: a handler of `session_before_tree` gets what is left. Figures: `leave` and `return` (median, in
    seconds), `left` (as close to it as an assistant's turn allows).
    """
    async with await SessionManager.open(path, read_only=True) as session:
        hooks = Hooks()
        if hooked:
            hooks.on("session_before_tree", lambda event: None)
        agent = AgentSession(session, hooks=hooks)
        leaf_id = session.leaf_id
        assert leaf_id is not None
        path_ids = session.path_ids(limit=left + 20)
        target_id = next(entry_id for entry_id in path_ids if session.shape(entry_id).role == "assistant")
        leaving, returning = [], []
        for _ in range(_HOOKED_MOVES if hooked else _MOVES):
            started = perf_counter()
            await agent.navigate_tree(target_id)
            left_at = perf_counter()
            await agent.navigate_tree(leaf_id)
            leaving.append(left_at - started)
            returning.append(perf_counter() - left_at)
        count = len(session.abandoned_path(leaf_id, target_id).entry_ids)
    return {"leave": median(leaving), "return": median(returning), "left": count}


async def abort(path: str) -> Figures:
    """Abort a summary that a server never answers, 20 times: from firing the signal to the cancelled result.

    Figures: `median` and `worst` in seconds.
    """
    asked = asyncio.Event()

    async def never_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        try:
            while await reader.read(1 << 16):
                pass
        finally:
            writer.close()

    logging.disable()
    server = await asyncio.start_server(never_answer, "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    seconds = []
    async with (
        server,
        AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0) as client,
        await SessionManager.open(path) as session,
    ):
        agent = AgentSession(session, summarizer=OpenAISummarizer(client, "silent"))
        target_id = session.path_ids(limit=100)[0]
        for _ in range(_ABORTS):
            asked.clear()
            controller = AbortController()
            navigation = asyncio.ensure_future(
                agent.navigate_tree(target_id, summarize=True, signal=controller.signal)
            )
            await asked.wait()
            started = perf_counter()
            controller.abort()
            result = await navigation
            seconds.append(perf_counter() - started)
            assert result.aborted
    return {"median": median(seconds), "worst": max(seconds)}


async def prepare(path: str) -> Figures:
    """Prepare a compaction of the leaf's path, bodies read from the disk. Figures: `seconds`, `entries`."""
    settings = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=5_000))
    async with await SessionManager.open(path, read_only=True) as session:
        started = perf_counter()
        window = await compaction_window(session._log, session.leaf_id)
        preparation = prepare_compaction(window, settings.compaction, settings.estimate_tokens)
        seconds = perf_counter() - started
        assert preparation is not None
    return {"seconds": seconds, "entries": len(window.entries)}
