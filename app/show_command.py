"""`sessiontree show`: one entry."""

from __future__ import annotations

import click

from ..commands.session_manager import SessionManager
from ..eventstore.json_text import decode_json
from .async_run import run
from .cells import clean
from .field_lines import field_lines
from .managed_session import opened_to_read
from .output import print_json_text, print_lines
from .session_target import SessionTarget, json_option, session_argument

_SHOWN_ABOVE = frozenset({"type", "id", "parentId", "timestamp"})


@click.command("show")
@session_argument
@click.argument("entry_id", metavar="ID")
@json_option
def show_command(target: SessionTarget, entry_id: str, as_json: bool) -> None:
    """Show one entry of a session, with its label and all its fields.

    --json prints its line as it is stored, as of version 3.
    """
    line, lines = run(_read, target, entry_id)
    if as_json:
        print_json_text(line.strip())
    else:
        print_lines(lines)


async def _read(target: SessionTarget, entry_id: str) -> tuple[bytes, list[str]]:
    async with opened_to_read(target) as session:
        line = await session.get_line(entry_id)
        return line, _lines(session, entry_id, line)


def _lines(session: SessionManager, entry_id: str, line: bytes) -> list[str]:
    shape = session.shape(entry_id)
    label = session.get_label(entry_id)
    children = session.ordered_child_ids(entry_id)
    above = {
        "entry": entry_id,
        "type": shape.type,
        "parent": shape.parent_id if shape.parent_id is not None else "none, it is a root",
        "children": ", ".join(children) if children else "none",
        "time": str(shape.timestamp),
    }
    if label:
        above["label"] = label
    body = {key: value for key, value in decode_json(line).items() if key not in _SHOWN_ABOVE}
    return [*(clean(f"{name:<9} {text}") for name, text in above.items()), "", *field_lines(body)]
