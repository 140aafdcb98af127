"""The list of sessions as a table of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ..eventstore.catalogue import SessionInfo
from .cells import cell_width, clean, fit
from .counted import counted

_ID_LENGTH = 8
"""Characters of an id that are shown at least."""
NAME_WIDTH = 60
"""Cells that the longest name takes where rows may be as long as they like."""
_NAME_AT_LEAST = 16
_ID_ROOM = 36
_GAP = "  "


class _Column(NamedTuple):
    title: str
    cells: list[str]

    @property
    def width(self) -> int:
        return max(map(cell_width, (self.title, *self.cells)))


def session_table(
    sessions: Sequence[SessionInfo], short_ids: Sequence[str], *, now: datetime, width: int | None
) -> Iterator[str]:
    """Yield a head and a row for each session, at most `width` cells; None: names of up to `NAME_WIDTH`.

    Where there is little room, columns are left out: branches first, then size, messages and age.
    """
    rows = list(zip(sessions, short_ids, strict=True))
    columns = [
        _Column("MESSAGES", [_count(info.message_count) for info, _ in rows]),
        _Column("BRANCHES", [_count(info.branch_count) for info, _ in rows]),
        _Column("SIZE", [size_text(info.size) for info, _ in rows]),
        _Column("AGE", [age_text(info.modified, now) for info, _ in rows]),
    ]
    ids = _Column("ID", [clean(short_id) for _, short_id in rows])
    names = _Column("NAME", [session_name(info, short_id) for info, short_id in rows])

    id_room = min(ids.width, _ID_ROOM)  # a path may be longer, and is cut

    def room() -> int:
        used = id_room + sum(column.width + len(_GAP) for column in columns) + len(_GAP)
        return NAME_WIDTH if width is None else width - used

    for title in ("BRANCHES", "SIZE", "MESSAGES", "AGE"):
        if room() >= _NAME_AT_LEAST:
            break
        columns = [column for column in columns if column.title != title]
    name_width = max(1, min(names.width, room(), NAME_WIDTH if width is None else width))
    for row in range(-1, len(rows)):
        parts = [_padded(fit(_cell(names, row), name_width), name_width)]
        parts += [_cell(column, row).rjust(column.width) for column in columns]
        line = _GAP.join([*parts, _cell(ids, row)]).rstrip()
        yield line if width is None else fit(line, width)


def damaged_rows(damaged: Iterable[SessionInfo], directory: Path, *, width: int | None) -> Iterator[str]:
    """Yield a row for each file that is no session, with the reason."""
    for info in damaged:
        line = clean(f"damaged  {_shown_path(info.path, directory)}: {info.fault}")
        yield line if width is None else fit(line, width)


def _shown_path(path: Path, directory: Path) -> str:
    """Return a path as it is below the sessions directory."""
    return str(path.relative_to(directory) if path.is_relative_to(directory) else path)


def shortest_ids(sessions: Sequence[SessionInfo]) -> dict[Path, str]:
    """Return the beginning of each session's id that names no other one, the path where two have the same id."""
    ordered = sorted((info for info in sessions if info.id is not None), key=lambda info: info.id or "")
    found: dict[Path, str] = {}
    for place, info in enumerate(ordered):
        own = info.id or ""
        neighbours = [
            other.id or "" for other in (*ordered[max(0, place - 1) : place], *ordered[place + 1 : place + 2])
        ]
        if own in neighbours or not own:
            found[info.path] = str(info.path)
        else:
            shared = max((_shared(own, other) for other in neighbours), default=0)
            found[info.path] = own[: max(_ID_LENGTH, shared + 1)]
    return found


def _shared(one: str, other: str) -> int:
    """The number of characters with which both begin."""
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def size_text(size: int) -> str:
    """Return bytes as `512 B`, `1.5 kB`, `20 MB`."""
    number, unit = float(size), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if number < 999.5 or unit == "TB":
            break
        number /= 1000
    return f"{number:.1f} {unit}" if unit != "B" and number < 9.95 else f"{number:.0f} {unit}"


def age_text(moment: datetime, now: datetime) -> str:
    """Return how long ago a moment was, in its largest unit: `now`, `5m`, `3h`, `2d`, `6w`, `1y`."""
    seconds = (now - moment).total_seconds()
    for unit, length in (("y", 365 * 86400), ("w", 7 * 86400), ("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= length * (2 if unit == "w" else 1):
            return f"{int(seconds // length)}{unit}"
    return "now"


def session_name(info: SessionInfo, short_id: str) -> str:
    """Return a session's clean name, else the beginning of its id, else `short_id`, and what is odd about its file."""
    name = clean(info.name or "").strip() or clean((info.id or "")[:_ID_LENGTH]) or clean(short_id)
    notes = ["link"] if info.is_link else []
    if info.fault_count:
        notes.append(counted(info.fault_count, "fault"))
    return f"{name} ({', '.join(notes)})" if notes else name


def _count(count: int | None) -> str:
    return f"{count:,}" if count is not None else "?"


def _cell(column: _Column, row: int) -> str:
    return column.cells[row] if row >= 0 else column.title


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_width(text))
