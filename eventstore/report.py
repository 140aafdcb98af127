"""What is wrong with a session file: found when it is opened, and by `verify` (F-81..F-87)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

FaultKind = Literal[
    "malformed",
    "not-object",
    "no-id",
    "second-header",
    "duplicate-id",
    "orphan",
    "cycle",
    "bad-parent",
    "bad-timestamp",
    "label-target",
    "bad-body",
    "bad-utf8",
    "first-kept",
    "tool-pair",
]
"""Up to `label-target`: found at open. The last four: only by `verify`, which decodes everything."""

_SKIPPED = frozenset({"malformed", "not-object", "no-id", "second-header"})


class Fault(Struct, frozen=True):
    """One fault. `line` is 1-based; `id` is the entry's id where it has one; `detail` is for people."""

    line: int
    kind: FaultKind
    id: str | None
    detail: str


class Report(Struct, frozen=True):
    """All faults of a session, in the order of their lines."""

    faults: list[Fault]

    @property
    def skipped_lines(self) -> list[int]:
        """Numbers of the lines that hold no entry; they stay in the file."""
        return [fault.line for fault in self.faults if fault.kind in _SKIPPED]

    @property
    def orphans(self) -> list[str]:
        """Ids of the entries whose parent is not in the file (T-27)."""
        return [fault.id for fault in self.faults if fault.kind == "orphan" and fault.id is not None]

    @property
    def duplicates(self) -> list[str]:
        """Ids that stand on more than one line, each once (F-87)."""
        return list(dict.fromkeys(f.id for f in self.faults if f.kind == "duplicate-id" and f.id is not None))
