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
from .counted import counted
from .managed_session import opened_to_summarize, opened_to_write
from .output import print_written
from .session_target import SessionTarget, json_option, session_argument
from .summarizer_option import DIGEST, SummarizerChoice, summarizer_option
from .text_argument import label_text, utf8

_instructions_option = click.option(
    "--instructions", metavar="TEXT", help="A further focus of the summary, for a model."
)


@click.command("navigate")
@session_argument
@click.argument("entry_id", metavar="ID")
@click.option("--summarize", is_flag=True, help="Store a summary of the branch that is left.")
@summarizer_option
@_instructions_option
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
    run(
        _navigate,
        target,
        entry_id,
        (summarizer or SummarizerChoice(DIGEST)) if summarize else None,
        utf8("--instructions", instructions or ""),
        label_text("--label", label),
        as_json,
    )


async def _navigate(
    target: SessionTarget,
    entry_id: str,
    summarizer: SummarizerChoice | None,
    instructions: str,
    label: str | None,
    as_json: bool,
) -> None:
    summarize = summarizer is not None
    async with (
        (opened_to_summarize if summarize else opened_to_write)(target) as session,
        (summarizer or SummarizerChoice(DIGEST)).made() as made,
    ):
        is_leaf, before = session.leaf_id == entry_id, session.entry_count
        result = await AgentSession(session, summarizer=made).navigate_tree(
            entry_id, summarize=summarize, custom_instructions=instructions or None, label=label
        )
        leaf_id, stored = session.leaf_id, session.entry_count > before
    summary = result.summary_entry
    record = {
        "leaf_id": leaf_id,
        "editor_text": result.editor_text,
        "editor_images": len(result.editor_images or ()),
        "summary_id": summary.id if summary is not None else None,
        "stored": stored,
    }
    lines = [f"leaf: {clean(leaf_id) if leaf_id is not None else '(above all roots)'}"]
    if summary is not None:
        lines += [f"summary: {summary.id}", *_indented(summary.summary)]
    if result.editor_text is not None:
        lines += _text_lines("text", result.editor_text, len(result.editor_images or ()))
    print_written(f"entry {leaf_id}" if stored else "nothing", lines, record if as_json else None)
    if as_json:
        return
    if is_leaf:
        click.echo("Nothing was stored: it is the current leaf already.", err=True)
    elif not stored and not summarize:
        click.echo("Nothing was stored: a leaf alone is not. --summarize or --label stores something there.", err=True)
    elif summarize and summary is None:
        what = "No summary" if stored else "Nothing"
        click.echo(f"{what} was stored: nobody said anything on the branch that is left.", err=True)


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
        images = len(result.selected_images or ())
        record = {
            "path": str(path),
            "id": session.session_id,
            "parent_session": parent,
            "editor_text": result.selected_text,
            "editor_images": images,
        }
    shown = clean(str(path))
    print_written(shown, [shown, *_text_lines("text", result.selected_text, images)], record if as_json else None)


async def _no_lines() -> AsyncIterator[Sequence[bytes]]:
    return
    yield []


@click.command("compact")
@session_argument
@summarizer_option
@_instructions_option
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
    instructions = utf8("--instructions", instructions or "")
    run(_compact, target, summarizer or SummarizerChoice(DIGEST), instructions, keep, as_json)


async def _compact(
    target: SessionTarget, summarizer: SummarizerChoice, instructions: str, keep: int | None, as_json: bool
) -> None:
    settings = AgentSettings()
    if keep is not None:
        settings = AgentSettings(compaction=CompactionSettings(keep_recent_tokens=keep))
    async with opened_to_summarize(target) as session, summarizer.made() as made:
        result = await AgentSession(session, summarizer=made, settings=settings).compact(instructions or None)
    record = {
        "id": result.entry_id,
        "first_kept_entry_id": result.first_kept_entry_id,
        "tokens_before": result.tokens_before,
        "summary": result.summary,
    }
    lines = [
        f"compaction: {result.entry_id}",
        f"first kept: {clean(result.first_kept_entry_id)}",
        f"tokens before: {result.tokens_before:,}",
        *_text_lines("summary", result.summary),
    ]
    print_written(f"entry {result.entry_id}", lines, record if as_json else None)


def _text_lines(title: str, text: str, images: int = 0) -> list[str]:
    more = f" (with {counted(images, 'image')})" if images else ""
    return [f"{title}{more}:", *_indented(text)]


def _indented(text: str) -> list[str]:
    return [f"  {line}".rstrip() for line in clean_lines(text)]
