"""Which files a conversation read and changed, by its tool calls (N-61, N-6D, N-6E)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from posixpath import split
from typing import Any, Final

from msgspec import Struct, field

from ...projections.content_blocks import blocks_of

MOST_FILES: Final = 20
"""Files that a summary lists."""

_RANGE = r"\d+(?:-\d*)?"
_SELECTOR = re.compile(rf"(?::(?:raw|conflicts|{_RANGE}(?:,{_RANGE})*))+$")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_BLOCKS = ("files", "read-files", "modified-files")


class FileOperations(Struct, frozen=True):
    """Paths by what was done to them. The sets grow while a conversation is walked."""

    read: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)

    @property
    def read_files(self) -> list[str]:
        """What was read and not changed, sorted."""
        return sorted(self.read - self.changed)

    @property
    def modified_files(self) -> list[str]:
        """What was written or edited, sorted."""
        return sorted(self.changed)

    def details(self) -> dict[str, Any]:
        """What an entry's `details` say of them (N-14)."""
        return {"readFiles": self.read_files, "modifiedFiles": self.modified_files}

    def add_details(self, details: object) -> None:
        """Take in what an earlier summary said in its details; what is no list of paths adds nothing."""
        if isinstance(details, Mapping):
            self.read.update(_paths(details.get("readFiles")))
            self.changed.update(_paths(details.get("modifiedFiles")))

    def add_message(self, message: Mapping[str, Any]) -> None:
        """Take in the tool calls of an assistant message."""
        if message.get("role") != "assistant":
            return
        for block in blocks_of(message.get("content"), "toolCall"):
            arguments = block.get("arguments")
            path = arguments.get("path") if isinstance(arguments, dict) else None
            if not isinstance(path, str) or not path or _URL.match(path):
                continue
            if block.get("name") == "read":
                self.read.add(_SELECTOR.sub("", path) or path)
            elif block.get("name") in ("write", "edit"):
                self.changed.add(path)


def _paths(value: object) -> Iterable[str]:
    return (
        (path for path in value if isinstance(path, str) and path and not _URL.match(path))
        if isinstance(value, list)
        else ()
    )


def with_files(text: str, operations: FileOperations) -> str:
    """Return a summary with the one list of files at its end; lists that it had are left out."""
    body = _without_lists(text).strip()
    paths = sorted(operations.read | operations.changed)
    if not paths:
        return body
    lines = ["<files>"]
    for directory, group in groupby(sorted(paths[:MOST_FILES], key=split), key=lambda path: split(path)[0]):
        if directory:
            lines.append(_shown(directory.rstrip("/")) + "/")
        margin = "  " if directory else ""
        lines += [f"{margin}{_shown(split(path)[1])} ({_mark(operations, path)})" for path in group]
    if len(paths) > MOST_FILES:
        lines.append(f"… and {len(paths) - MOST_FILES} more")
    return "\n".join([body, "", *lines, "</files>"])


def _without_lists(text: str) -> str:
    for block in _BLOCKS:
        parts, at = [], 0
        while (start := text.find(f"<{block}>\n", at)) >= 0 and (end := text.find(f"</{block}>", start)) >= 0:
            parts.append(text[at:start].rstrip())
            at = end + len(f"</{block}>")
        text = "".join([*parts, text[at:]])
    return text


def _shown(name: str) -> str:
    """Return a name that can neither end its line nor the list."""
    return " ".join(name.replace("</", "< /").split())


def _mark(operations: FileOperations, path: str) -> str:
    if path not in operations.changed:
        return "Read"
    return "RW" if path in operations.read else "Write"
