"""`sessiontree navigate`, `branch` and `compact`: the flows of an agent session, for a person."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import click

from ..commands.agent_session import AgentSession
from ..commands.summaries.settings import AgentSettings, CompactionSettings
from ..eventstore.session_file import write_session_file
from .async_run import run
from .cells import clean, clean_lines
from .managed_session import opened_to_write
from .output import print_json, print_lines
from .session_target import SessionTarget, json_option, session_argument
from .summarizer_option import DIGEST, SummarizerChoice, summarizer_option

_SUMMARIZING = "writing the summary"


@click.command("navigate")
@session_argument
@click.argument("entry_id", metavar="ID")
@click.option("--summarize", is_flag=True, help="Store a summary of the branch that is left.")
@summarizer_option
@click.option("--instructions", metavar="TEXT", help="A further focus of the summary.")
@click.option("--label", metavar="TEXT", help="Label the summary, or the entry where there is none.")
@json_option
def navigate_command(
    target: SessionTarget,
    entry_id: str,
    summarize: bool,
    summarizer: SummarizerChoice | None,
    instructions: str | None,
    label: str | None,
    as_json: bool,
) -> None:
    """Move to an entry; prints the new leaf, and the text to write anew where a user message was chosen.

    A leaf alone is not stored: what is stored is a summary, or a label.
    """
    if not summarize and (summarizer is not None or instructions is not None):
        raise click.UsageError("--summarizer and --instructions need --summarize.", click.get_current_context())
    run(_navigate, target, entry_id, summarize, summarizer, instructions, label, as_json)


async def _navigate(
    target: SessionTarget,
    entry_id: str,
    summarize: bool,
    summarizer: SummarizerChoice | None,
    instructions: str | None,
    label: str | None,
    as_json: bool,
) -> None:
    doing = _SUMMARIZING if summarize else None
    async with (
        (summarizer or SummarizerChoice(DIGEST)).made() as made,
        opened_to_write(target, doing) as session,
    ):
        before = session.entry_count
        agent = AgentSession(session, summarizer=made)
        result = await agent.navigate_tree(
            entry_id, summarize=summarize, custom_instructions=instructions, label=label
        )
        leaf_id, stored = session.leaf_id, session.entry_count > before
    summary_id = result.summary_entry.id if result.summary_entry is not None else None
    if as_json:
        print_json({"leaf_id": leaf_id, "editor_text": result.editor_text, "summary_id": summary_id, "stored": stored})
        return
    lines = [f"leaf: {clean(leaf_id) if leaf_id is not None else '(above all roots)'}"]
    if summary_id is not None:
        lines.append(f"summary: {summary_id}")
    print_lines([*lines, *_text_lines(result.editor_text)])
    if not stored:
        click.echo(_nothing_stored(summarize), err=True)


def _nothing_stored(summarize: bool) -> str:
    if summarize:
        return "Nothing was stored: nobody said anything on the branch that is left."
    return "Nothing was stored: a leaf alone is not written. --summarize or --label stores something there."


@click.command("branch")
@session_argument
@click.argument("entry_id", metavar="ID")
@json_option
def branch_command(target: SessionTarget, entry_id: str, as_json: bool) -> None:
    """Go on from a user message in a new file that ends before it; prints the file, and the text to write anew."""
    run(_branch, target, entry_id, as_json)


async def _branch(target: SessionTarget, entry_id: str, as_json: bool) -> None:
    async with opened_to_write(target) as session:
        parent = session.session_file
        result = await AgentSession(session).branch(entry_id)
        path = Path(str(session.session_file))
        if not path.exists():
            # At a root message the new session is empty, and would have its file with the first append.
            await write_session_file(path, session.header, _no_lines())
        session_id = session.session_id
    if as_json:
        print_json(
            {"path": str(path), "id": session_id, "parent_session": parent, "editor_text": result.selected_text}
        )
    else:
        print_lines([clean(str(path)), *_text_lines(result.selected_text)])


async def _no_lines() -> AsyncIterator[Sequence[bytes]]:
    return
    yield []


@click.command("compact")
@session_argument
@summarizer_option
@click.option("--instructions", metavar="TEXT", help="A further focus of the summary.")
@click.option("--keep", metavar="TOKENS", type=click.IntRange(min=1), help="Keep about so much; 20,000 by default.")
@json_option
def compact_command(
    target: SessionTarget,
    summarizer: SummarizerChoice | None,
    instructions: str | None,
    keep: int | None,
    as_json: bool,
) -> None:
    """Append a compaction: a summary that takes the place of the older part of the path in the context."""
    run(_compact, target, summarizer or SummarizerChoice(DIGEST), instructions, keep, as_json)


async def _compact(
    target: SessionTarget, summarizer: SummarizerChoice, instructions: str | None, keep: int | None, as_json: bool
) -> None:
    settings = AgentSettings()
    if keep is not None:
        settings = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=keep))
    async with summarizer.made() as made, opened_to_write(target, _SUMMARIZING) as session:
        result = await AgentSession(session, summarizer=made, settings=settings).compact(instructions)
    if as_json:
        print_json(
            {
                "id": result.entry_id,
                "first_kept_entry_id": result.first_kept_entry_id,
                "tokens_before": result.tokens_before,
                "summary": result.summary,
            }
        )
        return
    head = [
        f"compaction: {result.entry_id}",
        f"first kept: {clean(result.first_kept_entry_id)}",
        f"tokens before: {result.tokens_before:,}",
    ]
    print_lines([*head, *_text_lines(result.summary, "summary")])


def _text_lines(text: str | None, title: str = "text") -> list[str]:
    return [f"{title}:", *(f"  {line}".rstrip() for line in clean_lines(text))] if text is not None else []
