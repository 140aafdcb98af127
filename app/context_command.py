"""`sessiontree context`: what an agent continues from at a leaf."""

from __future__ import annotations

from typing import Any

import click

from ..projections.anthropic_messages import to_anthropic_messages
from ..projections.context import SessionContext
from ..projections.openai_messages import to_openai_messages
from .async_run import run
from .managed_session import opened_to_read
from .output import print_json, print_lines
from .session_target import SessionTarget, json_option, session_argument
from .transcript import transcript

_FORMATS = ("messages", "openai", "anthropic", "text")


@click.command("context")
@session_argument
@click.option("--leaf", "leaf_id", metavar="ID", help="The entry to continue from; by default the last one.")
@click.option("--format", "form", type=click.Choice(_FORMATS), default=None, help="How to print it; by default text.")
@json_option
def context_command(target: SessionTarget, leaf_id: str | None, form: str | None, as_json: bool) -> None:
    """Show the context that an agent continues from, rebuilt from the last compaction on the path.

    "messages" is a JSON list of messages in the file's own form, "openai" and "anthropic" are JSON that those APIs
    take. --json alone gives the messages together with the settings that hold at the leaf.
    """
    if form == "text" and as_json:
        raise click.UsageError("--format text is no JSON.", click.get_current_context())
    context = run(_build, target, leaf_id)
    if form == "text" or (form is None and not as_json):
        print_lines(transcript(context))
    else:
        print_json(_converted(context, form))


async def _build(target: SessionTarget, leaf_id: str | None) -> SessionContext:
    async with opened_to_read(target) as session:
        if leaf_id is not None:
            session.branch(leaf_id)
        return await session.build_session_context()


def _converted(context: SessionContext, form: str | None) -> Any:
    if form == "openai":
        return to_openai_messages(context.messages)
    if form == "anthropic":
        return to_anthropic_messages(context.messages)
    return context.messages if form == "messages" else context
