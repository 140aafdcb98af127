"""`/export`: the conversation as a text file."""

from __future__ import annotations

from pathlib import Path

import aiofiles

from ...commands.agent_session import AgentSession
from ..cells import clean
from ..transcript import transcript


async def export(agent: AgentSession, name: str) -> str:
    """Write the context to a new file, by default named by the session's id; return what to say of it.

    Nothing is overwritten. Raises `OSError`.
    """
    lines = transcript(await agent.get_context())
    try:
        path = Path(name or f"{agent.session.session_id}.txt").expanduser()
        async with aiofiles.open(path, "x", encoding="utf-8") as file:
            await file.write("\n".join(lines) + "\n")
    except (RuntimeError, ValueError) as error:
        raise OSError(f"{clean(name)}: {error}") from error
    return f"written to {path}"
