"""The session picker: which session to open."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from os.path import expanduser
from pathlib import Path

from textual import work

from ...eventstore.catalogue import SessionInfo
from ...eventstore.errors import SessionFileError
from ...projections.folding import fold
from ...projections.listing import list_sessions
from ..cells import cell_width, clean, fit, head
from ..counted import counted
from ..session_table import age_text, session_name
from ..tool_call_text import shorten_home
from .search_screen import Item, SearchScreen

_COUNTED_FIRST = 50
"""Sessions whose names and branches are looked up after the list is there; then always twice as many."""
_SHORTEST_NAME = 10


class SessionPicker(SearchScreen[Path]):
    """Ends with the file of the chosen session, or None."""

    def __init__(self, directory: Path) -> None:
        super().__init__("Open which session?")
        self._directory = directory
        self._reading = True
        self._failure = ""

    def on_mount(self) -> None:
        """Read the directory while the screen is there."""
        self._search.focus()
        self._read()

    @work
    async def _read(self) -> None:
        """Show what the files tell at once, then look names up slice by slice; it ends with the screen."""
        limit = 0
        while self._reading:
            try:
                sessions = await list_sessions(self._directory, limit=limit)
            except SessionFileError as error:
                self._failure = f"{error.strerror}: {error.path.name}"
                self.draw_foot()
                return
            self._reading = limit < len(sessions)
            limit = 2 * limit or _COUNTED_FIRST
            now = datetime.now(UTC)
            self.fill([_item(info, now) for info in sessions])

    def foot(self, shown: int, total: int) -> str:
        """Say how many are found, and where; or why there are none."""
        if self._failure:
            return self._failure
        found = f"{shown:,} of {total:,} sessions"
        if self._reading:
            return f"{found}  ·  reading …" if total else "reading …"
        return f"{found} in {self._directory}"


def _item(info: SessionInfo, now: datetime) -> Item:
    if info.fault is not None:
        line = clean(f"damaged  {info.fault}  {info.path.name}")
        return Item(None, fold(line), lambda width: head(line, 8 * width))
    name = session_name(info, info.path.name)
    parts = [age_text(info.modified, now)]
    if info.branch_count is not None:
        parts.append(counted(info.branch_count, "branch", "branches"))
    facts = "  ".join(parts)
    place = clean(shorten_home(info.cwd or "", expanduser("~")))
    return Item(info.path, fold(f"{name}  {facts}  {place}"), partial(_line, name, facts, place))


def _line(name: str, facts: str, place: str, width: int) -> str:
    """Return a session's line: its name as far as there is room beside what is told of it."""
    room = max(_SHORTEST_NAME, width - cell_width(facts) - 2)
    return "  ".join(filter(None, (fit(name, room), facts, head(place, 8 * width))))
