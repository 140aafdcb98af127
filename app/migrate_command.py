"""`sessiontree migrate`: an old session brought to version 3 on the disk."""

from __future__ import annotations

import click

from .async_run import run
from .cells import clean
from .managed_session import opened_to_write
from .output import print_json, print_lines
from .session_target import SessionTarget, json_option, session_argument


@click.command("migrate")
@session_argument
@json_option
def migrate_command(target: SessionTarget, as_json: bool) -> None:
    """Write version 3 in place: to a new file, synced, that then takes the old one's name.

    Entries keep their content, damaged lines stay where they are. Reading and appending need no migration before.
    """
    run(_migrate, target, as_json)


async def _migrate(target: SessionTarget, as_json: bool) -> None:
    async with opened_to_write(target) as session:
        path = session.session_file
        before = session.file_version
        migrated = await session.migrate()
        after = session.file_version
    if as_json:
        print_json({"path": path, "migrated": migrated, "version_before": before, "version": after})
    elif migrated:
        print_lines([clean(f"{path}: was version {before}, is version {after} now")])
    else:
        print_lines([clean(f"{path}: is version {after} already, nothing to do")])
