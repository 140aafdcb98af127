"""Older versions read as version 3, line by line (F-100..F-104); the disk follows with the next append (F-105)."""

from __future__ import annotations

from array import array
from hashlib import blake2b

from .header import CURRENT_VERSION
from .json_text import decode_json, encode_json
from .splice import field_text, remove_field, replace_field


def derive_entry_id(position: int, line: bytes, attempt: int) -> str:
    """Return the id of a version 1 entry: the same at every open, another for each attempt.

    `position`: that of the record among the parsed records, header 0; `line`: its bytes without newline.
    """
    return blake2b(b"%d %d " % (position, attempt) + line, digest_size=4).hexdigest()


def _rename_hook_message(line: bytes) -> bytes:
    """Version 2 to 3: the role `hookMessage` is called `custom` (F-103)."""
    if b"hookMessage" not in line:
        return line
    try:
        message = field_text(line, "message") if field_text(line, "type") == b'"message"' else None
        if message is None or not message.startswith(b"{") or field_text(message, "role") != b'"hookMessage"':
            return line
    except ValueError:
        # A damaged line stays as it is.
        return line
    return replace_field(line, "message", replace_field(message, "role", b'"custom"'))


class Migration:
    """Reads the records of a version 1 or 2 file, in file order, as version 3.

    Ids of version 1 are derived while the file is read, so that a line can be migrated again at any time.
    """

    def __init__(self, version: int) -> None:
        self._first = version < 2
        self._ids: list[str | None] = [None]  # by position among the parsed records; None for headers
        self._taken: set[str] = set()
        self._positions = array("I", [0])  # by sequence number

    def admit(self, line: bytes) -> bytes:
        """Return the next record of the file in version 3; what is no entry comes back as it is."""
        if not self._first:
            return _rename_hook_message(line)
        try:
            record = decode_json(line)
        except ValueError:
            return line
        if not isinstance(record, dict):
            return line
        position = len(self._ids)
        if record.get("type") == "session" or not isinstance(record.get("type"), str):
            self._ids.append(None)
            return line
        attempt = 0
        while (entry_id := derive_entry_id(position, line, attempt)) in self._taken:
            attempt += 1
        self._taken.add(entry_id)
        self._ids.append(entry_id)
        self._positions.append(position)
        try:
            return self.line(len(self._positions) - 1, line)
        except ValueError:
            # It nests too deeply to be changed: a damaged line.
            self._ids[position] = None
            self._positions.pop()
            return b"{"

    def line(self, seq: int, line: bytes) -> bytes:
        """Return an entry that was admitted before in version 3, from its bytes in the file."""
        if not self._first:
            return _rename_hook_message(line)
        position, before = self._positions[seq], self._positions[seq - 1]
        changed = replace_field(line, "id", encode_json(self._ids[position]))
        changed = replace_field(changed, "parentId", encode_json(self._ids[before]))
        return _rename_hook_message(self._move_anchor(changed, position))

    def _move_anchor(self, line: bytes, position: int) -> bytes:
        """Turn a compaction's index anchor into an id anchor; the index field goes in every case (F-102)."""
        if field_text(line, "type") != b'"compaction"' or (anchor := field_text(line, "firstKeptEntryIndex")) is None:
            return line
        line = remove_field(line, "firstKeptEntryIndex")
        index = decode_json(anchor)
        if isinstance(index, bool) or not isinstance(index, int | float) or not 0 <= index <= position:
            return line
        kept = self._ids[int(index)] if index == int(index) else None
        return replace_field(line, "firstKeptEntryId", encode_json(kept)) if kept is not None else line


def migrate_header(line: bytes) -> bytes:
    """Return a header line with the current version."""
    return replace_field(line, "version", b"%d" % CURRENT_VERSION)
