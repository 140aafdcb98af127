"""The session that most cases read: of any size, with a window of about 1,000 messages at its leaf."""

from __future__ import annotations

from bench.fixtures import session
from bench.generate import KEPT, chat_session

_WINDOW = 1000


def main_session(entries: int) -> str:
    """The path of a session of that many entries; the last 900 or so are the same for every size."""
    return str(session(chat_session, entries=entries, tail=_WINDOW - KEPT))
