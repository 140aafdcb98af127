"""Entry ids by number, without a dict so large that its growth would stall the loop (design D3)."""

from __future__ import annotations

from collections.abc import Sequence

_SEGMENT = 1 << 16


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

    def get_many(self, ids: Sequence[str | None]) -> list[int]:
        """Return the number of each id, 0 for None and for what is not known."""
        newest = self._segments[-1].get
        return [newest(entry_id) or self.get(entry_id) if entry_id is not None else 0 for entry_id in ids]

    def are_new(self, ids: Sequence[str]) -> bool:
        """Tell whether all ids differ and none is known."""
        return len(set(ids)) == len(ids) and all(segment.keys().isdisjoint(ids) for segment in self._segments)

    def add(self, ids: Sequence[str], first_seq: int) -> None:
        """Number ids from `first_seq` on."""
        if len(self._segments[-1]) >= _SEGMENT:
            self._segments.append({})
        self._segments[-1].update(zip(ids, range(first_seq, first_seq + len(ids)), strict=True))
