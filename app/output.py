"""What the commands print: lines for people, JSON for programs."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterable
from itertools import islice
from typing import Any

import click
import msgspec

from ..eventstore.json_text import encode_json

_LINES_AT_ONCE = 512

# C1, DEL, bidirectional controls, as UTF-8. In JSON text they stand in strings only, so their escapes mean the same.
_UNSAFE = re.compile(rb"\xc2[\x80-\x9f]|\x7f|\xd8\x9c|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]")


def terminal_width() -> int | None:
    """Return the cells of a row on the terminal, None where standard output is none: rows are as long as they are."""
    return max(1, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None


def print_lines(lines: Iterable[str]) -> None:
    """Print clean lines. Raises `BrokenPipeError` when the reader is gone."""
    rest = iter(lines)
    while batch := list(islice(rest, _LINES_AT_ONCE)):
        sys.stdout.write("\n".join(batch) + "\n")
    sys.stdout.flush()


def print_json(value: Any, *, pretty: bool = True) -> None:
    """Print one JSON value as UTF-8, indented or on one line; no character that a terminal obeys is in it."""
    text = encode_json(value)
    if pretty:
        try:
            text = msgspec.json.format(text, indent=2)
        except msgspec.DecodeError:  # a lone surrogate; it stays an escape
            plain = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
            text = plain.encode("utf-8", "backslashreplace")
    print_json_text(text)


def print_written(what: str, lines: Iterable[str], record: Any = None) -> None:
    """Print clean lines, or a record as JSON, about `what` was written.

    Raises `BrokenPipeError`, and `click.ClickException` where it could not be printed: it is written all the same.
    """
    try:
        if record is None:
            print_lines(lines)
        else:
            print_json(record)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise click.ClickException(f"{what} was written, but it could not be printed: {error.strerror}") from error


def print_json_text(text: bytes) -> None:
    """Print JSON text that is there already; bytes that are not UTF-8 become U+FFFD."""
    text = text.decode("utf-8", "replace").encode("utf-8")
    sys.stdout.flush()
    rest = memoryview(_UNSAFE.sub(_escaped, text) + b"\n")
    while rest:  # unbuffered, a write may take a part
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()


def _escaped(found: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(found[0].decode("utf-8"))
