"""`sessiontree verify`: every fault of a session file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import click

from .async_run import run
from .session_target import SessionTarget, json_option, session_argument

if TYPE_CHECKING:
    from ..eventstore.report import Fault


@click.command("verify", short_help="Check every line of a session.")
@session_argument
@json_option
@click.pass_context
def verify_command(ctx: click.Context, target: SessionTarget, as_json: bool) -> None:
    """Decode every line and name every fault by line and kind; the exit status is 1 when there are any."""
    from .output import print_json, print_lines

    found = run(_check, target)
    if as_json:
        print_json(found._asdict())
    else:
        print_lines(_lines(found))
    if found.faults:
        ctx.exit(1)


class _Found(NamedTuple):
    path: str
    version: int
    entries: int
    faults: list[Fault]


async def _check(target: SessionTarget) -> _Found:
    from ..projections.verification import verify
    from .progress import Progress
    from .stored_session import opened

    async with Progress("checking the session") as progress, opened(await target.find()) as session:
        report = await verify(session.store, session.projector, progress=progress)
        store, tree = session.store, session.projector.tree
        return _Found(str(store.path), store.file_version, tree.entry_count, report.faults)


def _lines(found: _Found) -> Iterator[str]:
    from ..eventstore.header import CURRENT_VERSION
    from .cells import clean

    for fault in found.faults:
        whose = f" ({fault.id})" if fault.id is not None else ""
        yield clean(f"line {fault.line}: {fault.kind}{whose}: {fault.detail}")
    if found.version > CURRENT_VERSION:
        newer = f"version {found.version}, newer than version {CURRENT_VERSION}"
        yield f"note: this is {newer}: it can be read, not written"
    entries = "1 entry" if found.entries == 1 else f"{found.entries:,} entries"
    faults = "1 fault" if len(found.faults) == 1 else f"{len(found.faults):,} faults"
    yield f"{faults} in {entries}" if found.faults else f"ok: {entries}"
