"""How large a run is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """`entries` of the main session, `repeat` processes for each measurement; `quick`: less of everything."""

    entries: int
    repeat: int
    quick: bool

    @property
    def repeat_long(self) -> int:
        """Processes for each measurement of the cases that take longest."""
        return 1 if self.quick else self.repeat

    @property
    def sizes(self) -> tuple[int, ...]:
        """The entries of the sessions that slopes are fitted to."""
        return (5_000, 15_000, 50_000) if self.quick else (10_000, 30_000, 100_000, 300_000, 1_000_000)

    @property
    def chain(self) -> int:
        """The depth of the deepest chain."""
        return 40_000 if self.quick else 160_000

    @property
    def sessions(self) -> int:
        """How many sessions the directory holds that is listed."""
        return 1_000 if self.quick else 10_000

    @property
    def peer_messages(self) -> int:
        """The length of the conversation that every peer keeps."""
        return 200 if self.quick else 1_000

    def appends(self, durability: str, callers: int) -> int:
        """How many appends one sample makes: about half a second of them."""
        full = {("always", 1): 2_000, ("always", 10): 10_000}.get((durability, callers), 50_000)
        return full // 10 if self.quick else full
