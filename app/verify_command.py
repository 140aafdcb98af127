"""`sessiontree verify`: every fault of a session file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .async_run import run
from .session_target import SessionTarget, json_option, session_argument

if TYPE_CHECKING:
    from ..eventstore.report import Report


@click.command("verify", short_help="Check every line of a session.")
@session_argument
@json_option
@click.pass_context
def verify_command(ctx: click.Context, target: SessionTarget, as_json: bool) -> None:
    """Decode every line and name every fault by line and kind; the exit status is 1 when there are any."""
    if run(_verify, target, as_json).faults:
        ctx.exit(1)


async def _verify(target: SessionTarget, as_json: bool) -> Report:
    from ..eventstore.header import CURRENT_VERSION
    from ..projections.verification import verify
    from .cells import clean
    from .output import print_json, print_lines
    from .progress import Progress
    from .stored_session import opened

    path = await target.find()
    async with Progress("checking") as progress, opened(path) as session:
        report = await verify(session.store, session.projector, progress=progress)
        version = session.store.file_version
        count = session.projector.tree.entry_count
    if as_json:
        print_json({"path": str(path), "version": version, "entries": count, "faults": report.faults})
        return report
    lines = [
        clean(f"line {f.line}: {f.kind}{f' ({f.id})' if f.id is not None else ''}: {f.detail}") for f in report.faults
    ]
    if version > CURRENT_VERSION:
        lines.append(
            f"note: this is version {version}, newer than version {CURRENT_VERSION}: it can be read, not written"
        )
    entries = "1 entry" if count == 1 else f"{count:,} entries"
    faults = "1 fault" if len(report.faults) == 1 else f"{len(report.faults):,} faults"
    lines.append(f"{faults} in {entries}" if report.faults else f"ok: {entries}")
    print_lines(lines)
    return report
