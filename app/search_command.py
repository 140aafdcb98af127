"""`sessiontree search`: the entries of a session whose text has some words."""

from __future__ import annotations

from contextlib import aclosing

import click

from ..commands.session_manager import SessionManager
from ..projections.folding import words
from ..projections.search import SearchHit
from .async_run import run
from .cells import clean, fit
from .managed_session import opened_to_read
from .output import print_json, print_lines, terminal_width
from .progress import Progress
from .session_target import SessionTarget, json_option, session_argument
from .text_argument import utf8


@click.command("search")
@session_argument
@click.argument("query", metavar="QUERY")
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="Stop after N entries.")
@json_option
@click.pass_context
def search_command(ctx: click.Context, target: SessionTarget, query: str, limit: int | None, as_json: bool) -> None:
    """Print the entries whose text has all words of QUERY, in file order, each as soon as it is found.

    Case, accents' composition and width do not matter, and a word may be a part of one. Searched are messages with
    their thinking, tool calls and results, summaries, labels, names and models. --json prints an object on each
    line. The exit status is 1 when nothing is found.
    """
    query = clean(utf8("QUERY", query))
    if not words(query):
        raise click.UsageError("QUERY has no word.", ctx)
    if not run(_search, target, query, limit, as_json):
        ctx.exit(1)


async def _search(target: SessionTarget, query: str, limit: int | None, as_json: bool) -> int:
    """Print what is found; return how many entries that were."""
    progress = Progress("searching the session")
    width = terminal_width()
    found = 0
    async with opened_to_read(target, progress) as session, aclosing(session.search(query)) as hits:
        async for hit in hits:
            found += 1
            progress.erase()
            if as_json:
                print_json(_record(session, hit), pretty=False)
            else:
                line = _line(session, hit)
                print_lines([line if width is None else fit(line, width)])
            if found == limit:
                break
    return found


def _line(session: SessionManager, hit: SearchHit) -> str:
    shape = session.shape(hit.id)
    return f"{clean(hit.id)}  {clean(shape.role or shape.type)}: {' '.join(clean(hit.excerpt).split())}"


def _record(session: SessionManager, hit: SearchHit) -> dict[str, object]:
    shape = session.shape(hit.id)
    return {
        "id": hit.id,
        "type": shape.type,
        "role": shape.role,
        "timestamp": shape.timestamp,
        "position": hit.position,
        "excerpt": hit.excerpt,
    }
