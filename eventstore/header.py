"""The header, the first record of a session file, and the title slot that may stand before it (F-02, F-10, F-70)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypedDict, Unpack

import msgspec
from msgspec import Struct

from .errors import NotASessionError
from .json_text import decode_json, encode_json

CURRENT_VERSION = 3
HEADER_LIMIT = 1 << 20
"""Bytes from the start of the file within which the whole header line has to stand."""

BOM = b"\xef\xbb\xbf"


class SessionHeader(Struct, frozen=True, kw_only=True):
    """What the header line says. `version` is that of the file; `fields` are all its fields as stored."""

    id: str
    version: int
    timestamp: str | None = None
    cwd: str | None = None
    parent_session: str | None = None
    title: str | None = None
    title_source: str | None = None
    additional_directories: list[str] | None = None
    fields: dict[str, Any]


class HeaderPlace(Struct, frozen=True):
    """Where the header stands: its 1-based line, the offset and length of the line with its newline."""

    header: SessionHeader
    line: int
    offset: int
    length: int
    skipped: list[tuple[int, bytes]]
    """Damaged lines before the header: (line number, bytes)."""


class HeaderDetails(TypedDict, total=False):
    """What a header may say besides id, time and working directory; None stands for nothing."""

    parent_session: str | None
    title: str | None
    title_source: str | None
    additional_directories: list[str] | None


def make_header(session_id: str, timestamp: str, cwd: str, **details: Unpack[HeaderDetails]) -> SessionHeader:
    """Return the header of a new session of the current version."""
    fields: dict[str, Any] = {
        "type": "session",
        "version": CURRENT_VERSION,
        "id": session_id,
        "timestamp": timestamp,
        "cwd": cwd,
        "parentSession": details.get("parent_session"),
        "title": details.get("title"),
        "titleSource": details.get("title_source"),
        "additionalDirectories": details.get("additional_directories"),
    }
    return _header_of({key: value for key, value in fields.items() if value is not None}, CURRENT_VERSION)


def encode_header(header: SessionHeader) -> bytes:
    """Return the header's line without its newline."""
    return encode_json(header.fields)


def parse_version(fields: dict[str, Any]) -> int | None:
    """Return the header's version, 1 where it has none (F-100), None where it is no whole number of at least 1."""
    version = fields.get("version", 1)
    if isinstance(version, bool) or not isinstance(version, int | float):
        return None
    return int(version) if version >= 1 and version % 1 == 0 else None


def is_title_slot(record: object) -> bool:
    """Tell whether a parsed first line is a title slot, of any width (F-72)."""
    return (
        isinstance(record, dict)
        and record.get("type") == "title"
        and record.get("v") == 1
        and record.get("v") is not True
        and all(isinstance(record.get(key), str) for key in ("title", "updatedAt", "pad"))
        and record.get("source") in (None, "auto", "user")
    )


def find_header(prefix: bytes, path: str | os.PathLike[str], *, whole_file: bool) -> HeaderPlace:
    """Find the header in the first bytes of a file.

    `prefix`: at most `HEADER_LIMIT` bytes from offset 0; `whole_file`: nothing follows them. A byte order
    mark, blank and damaged lines before the header are passed over (F-81, F-84), a title slot on the first
    line is folded in (F-73). Raises `NotASessionError` naming the line (F-82, F-89).
    """
    offset = len(BOM) if prefix.startswith(BOM) else 0
    number = 0
    slot: dict[str, Any] | None = None
    skipped: list[tuple[int, bytes]] = []
    while offset < len(prefix):
        end = prefix.find(b"\n", offset)
        if end < 0 and not whole_file:
            break
        end = len(prefix) if end < 0 else end + 1
        line, start, offset = prefix[offset:end], offset, end
        number += 1
        if not line.strip():
            continue
        try:
            record = decode_json(line)
        except ValueError:
            record = None
        if number == 1 and is_title_slot(record):
            slot = record
        elif not isinstance(record, dict):
            skipped.append((number, line))
        else:
            header = _parse_header(record, slot, path, number)
            return HeaderPlace(header, number, start, end - start, skipped)
    raise NotASessionError(path, 1, "no session header was found")


def _parse_header(
    record: dict[str, Any], slot: dict[str, Any] | None, path: str | os.PathLike[str], line: int
) -> SessionHeader:
    if record.get("type") != "session" or not isinstance(record.get("id"), str):
        raise NotASessionError(path, line, "the first record is no session header with a string id")
    version = parse_version(record)
    if version is None:
        raise NotASessionError(path, line, f"version {record['version']!r} is no whole number of at least 1")
    header = _header_of(record, version)
    if slot is None:
        return header
    return msgspec.structs.replace(header, title=slot["title"] or None, title_source=slot.get("source"))


def _header_of(record: dict[str, Any], version: int) -> SessionHeader:
    def text(key: str) -> str | None:
        value = record.get(key)
        return value if isinstance(value, str) else None

    directories = record.get("additionalDirectories")
    known = isinstance(directories, list) and all(isinstance(item, str) for item in directories)
    return SessionHeader(
        id=record["id"],
        version=version,
        timestamp=text("timestamp"),
        cwd=text("cwd") or None,
        parent_session=text("parentSession"),
        title=text("title"),
        title_source=text("titleSource"),
        additional_directories=directories if known else None,
        fields=record,
    )


def session_file_name(header: SessionHeader) -> str:
    """Return the file name of a new session (F-24). Raises `ValueError` for an id that is no plain name."""
    stamp = (header.timestamp or "").replace(":", "-").replace(".", "-")
    name = f"{stamp}_{header.id}.jsonl"
    if Path(name).name != name or "\0" in name:
        raise ValueError(f"session id {header.id!r} cannot be part of a file name")
    return name
