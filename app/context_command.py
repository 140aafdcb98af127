"""`sessiontree context`: what an agent continues from at a leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .async_run import run
from .session_target import SessionTarget, json_option, session_argument

if TYPE_CHECKING:
    from ..projections.context import SessionContext

FORMATS = ("messages", "openai", "anthropic", "text")


@click.command("context", short_help="Show the rebuilt context of a leaf.")
@session_argument
@click.option("--leaf", "leaf_id", metavar="ID", help="The entry to continue from; by default the last one.")
@click.option("--format", "form", type=click.Choice(FORMATS), default=None, help="How to print it; by default text.")
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
        from .output import print_lines
        from .transcript import transcript

        print_lines(transcript(context))
    else:
        from .output import print_json

        print_json(_converted(context, form))


async def _build(target: SessionTarget, leaf_id: str | None) -> SessionContext:
    from .managed_session import opened_to_read

    async with opened_to_read(target) as session:
        if leaf_id is not None:
            session.branch(leaf_id)
        return await session.build_session_context()


def _converted(context: SessionContext, form: str | None) -> Any:
    if form == "openai":
        from ..projections.openai_messages import to_openai_messages

        return to_openai_messages(context.messages)
    if form == "anthropic":
        from ..projections.anthropic_messages import to_anthropic_messages

        return to_anthropic_messages(context.messages)
    return context.messages if form == "messages" else context
