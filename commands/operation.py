"""The one navigation, branch or compaction that may run on a session (case 50)."""

from __future__ import annotations

from typing import Final

from ..eventstore.abort import AbortController, AbortSignal


class Operation:
    """What runs now: its name, and the signal that ends it."""

    def __init__(self, name: str, signal: AbortSignal | None) -> None:
        self.name: Final = name
        self.controller: Final = AbortController()
        own = self.controller.signal
        self.signal: Final = AbortSignal.any([own, signal]) if signal is not None else own
