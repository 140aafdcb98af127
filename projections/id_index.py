"""Entry ids by number, without a dict so large that its growth would stall the loop (design D3)."""

from __future__ import annotations

from collections.abc import Sequence

_SEGMENT = 1 << 18


class IdIndex:
    """Id to sequence number; the last number given to an id counts."""

    def __init__(self) -> None:
        self._segments: list[dict[str, int]] = [{}]

    def get(self, entry_id: str) -> int:
        """Return the number of an id, 0 where it is not known."""
        for segment in reversed(self._segments):
            seq = segment.get(entry_id)
            if seq is not None:
                return seq
        return 0

    def add(self, ids: Sequence[str], first_seq: int) -> list[tuple[int, int]]:
        """Number ids from `first_seq` on; return (earlier, later number) of each that had one already."""
        again = [] if self._are_new(ids) else self._numbered_again(ids, first_seq)
        if len(self._segments[-1]) >= _SEGMENT:
            self._segments.append({})
        self._segments[-1].update(zip(ids, range(first_seq, first_seq + len(ids)), strict=True))
        return again

    def _are_new(self, ids: Sequence[str]) -> bool:
        return len(set(ids)) == len(ids) and all(segment.keys().isdisjoint(ids) for segment in self._segments)

    def _numbered_again(self, ids: Sequence[str], first_seq: int) -> list[tuple[int, int]]:
        pairs = []
        here: dict[str, int] = {}
        for seq, entry_id in enumerate(ids, first_seq):
            if earlier := here.get(entry_id) or self.get(entry_id):
                pairs.append((earlier, seq))
            here[entry_id] = seq
        return pairs
