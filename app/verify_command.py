"""`sessiontree verify`: every fault of a session file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import click

from ..eventstore.header import CURRENT_VERSION
from ..eventstore.report import Fault
from .async_run import run
from .cells import clean
from .managed_session import opened_to_read
from .output import print_json, print_lines
from .progress import Progress
from .session_target import SessionTarget, json_option, session_argument


@click.command("verify")
@session_argument
@json_option
@click.pass_context
def verify_command(ctx: click.Context, target: SessionTarget, as_json: bool) -> None:
    """Decode every line and name every fault by line and kind; the exit status is 1 when there are any."""
    found = run(_check, target)
    if as_json:
        print_json(found._asdict())
    else:
        print_lines(_lines(found))
    if found.faults:
        ctx.exit(1)


class _Found(NamedTuple):
    path: str | None
    version: int
    entries: int
    faults: list[Fault]


async def _check(target: SessionTarget) -> _Found:
    progress = Progress("checking the session")
    async with opened_to_read(target, progress) as session:
        report = await session.verify(progress=progress)
        return _Found(session.session_file, session.file_version, session.entry_count, report.faults)


def _lines(found: _Found) -> Iterator[str]:
    for fault in found.faults:
        whose = f" ({fault.id})" if fault.id is not None else ""
        yield clean(f"line {fault.line}: {fault.kind}{whose}: {fault.detail}")
    if found.version > CURRENT_VERSION:
        newer = f"version {found.version}, newer than version {CURRENT_VERSION}"
        yield f"note: this is {newer}: it can be read, not written"
    entries = "1 entry" if found.entries == 1 else f"{found.entries:,} entries"
    faults = "1 fault" if len(found.faults) == 1 else f"{len(found.faults):,} faults"
    yield f"{faults} in {entries}" if found.faults else f"ok: {entries}"
