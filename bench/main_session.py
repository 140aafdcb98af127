"""The session that most cases read: of any size, with a window of as many messages as asked for at its leaf."""

from __future__ import annotations

from bench.fixtures import session
from bench.generate import KEPT, chat_session


def main_session(entries: int, window: int = 1000) -> str:
    """The path of a session of that many entries; all but 100 or so of the window is the same for every size."""
    return str(session(chat_session, entries=entries, tail=window - KEPT))
