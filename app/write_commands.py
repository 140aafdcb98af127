"""`sessiontree label`, `append` and `fork`: the commands that write."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import click

from ..commands.session_manager import SessionManager
from .async_run import run
from .cells import clean
from .managed_session import opened_to_write
from .output import print_written
from .session_target import SessionTarget, json_option, session_argument
from .text_argument import label_text, utf8

_ROLES = ("user", "assistant", "developer")

_at_option = click.option(
    "--at", "at_id", metavar="ID", help="Append below this entry; by default below the last one."
)


@click.command("label")
@session_argument
@click.argument("entry_id", metavar="ID")
@click.argument("text", metavar="[TEXT]", required=False)
@_at_option
@json_option
def label_command(target: SessionTarget, entry_id: str, text: str | None, at_id: str | None, as_json: bool) -> None:
    """Set the label of an entry, or clear it when no TEXT is given; prints the id of the new label entry."""
    run(_label, target, entry_id, label_text("TEXT", text), at_id, as_json)


async def _label(target: SessionTarget, entry_id: str, label: str | None, at_id: str | None, as_json: bool) -> None:
    async with _writing(target, at_id) as session:
        parent_id = session.leaf_id
        new_id = await session.append_label_change(entry_id, label)
    _print_new(new_id, {"id": new_id, "parent_id": parent_id, "target_id": entry_id, "label": label}, as_json)


@click.command("append")
@session_argument
@click.option("--role", type=click.Choice(_ROLES), required=True, help="Who says it.")
@click.option("--text", metavar="TEXT", required=True, help='What is said; "-" reads it from standard input.')
@_at_option
@json_option
def append_command(target: SessionTarget, role: str, text: str, at_id: str | None, as_json: bool) -> None:
    """Append a message; prints the id of the new entry."""
    text = _from_stdin() if text == "-" else utf8("--text", text)
    if not text.strip():
        raise click.UsageError("There is no text to append.", click.get_current_context())
    run(_append, target, _message(role, text), at_id, as_json)


async def _append(target: SessionTarget, message: dict[str, Any], at_id: str | None, as_json: bool) -> None:
    async with _writing(target, at_id) as session:
        parent_id = session.leaf_id
        new_id = await session.append_message(message)
    _print_new(new_id, {"id": new_id, "parent_id": parent_id}, as_json)


@click.command("fork")
@session_argument
@click.argument("entry_id", metavar="ID")
@json_option
def fork_command(target: SessionTarget, entry_id: str, as_json: bool) -> None:
    """Copy the path to an entry into a new file beside the old one; prints its path.

    Labels that stay are set anew; the old session is left as it is.
    """
    run(_fork, target, entry_id, as_json)


async def _fork(target: SessionTarget, entry_id: str, as_json: bool) -> None:
    async with _writing(target, None) as session:
        parent = session.session_file
        path = await session.create_branched_session(entry_id)
        record = {"path": path, "id": session.session_id, "parent_session": parent}
    _print_new(str(path), record, as_json)


@asynccontextmanager
async def _writing(target: SessionTarget, at_id: str | None) -> AsyncIterator[SessionManager]:
    async with opened_to_write(target) as session:
        if at_id is not None:
            session.branch(at_id)
        yield session


def _print_new(text: str, record: dict[str, Any], as_json: bool) -> None:
    print_written(clean(text), [clean(text)], record if as_json else None)


def _message(role: str, text: str) -> dict[str, Any]:
    """A message in the file's own form (F-60, F-61): replies are lists of blocks everywhere."""
    content: Any = text if role != "assistant" else [{"type": "text", "text": text}]
    message = {"role": role, "content": content}
    if role == "assistant":
        message["stopReason"] = "stop"
    return {**message, "timestamp": int(time.time() * 1000)}


def _from_stdin() -> str:
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise click.UsageError("Standard input is not UTF-8.", click.get_current_context()) from error
