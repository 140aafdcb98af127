"""Which entries a fork keeps, and what it changes in them (T-60..T-72); decided without I/O."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping

from msgspec import Struct

from ..eventstore.errors import EntryNotFoundError
from ..eventstore.json_text import encode_json
from ..eventstore.splice import replace_field
from ..projections.projector import Projector
from . import drafts


class ForkPlan(Struct, frozen=True):
    """`kept`: numbers of the entries that are copied, root first; `changes`: fields that differ in the copy.

    `labels`: target to label, in the order of the label map. `has_name`: a kept entry holds the session's name.
    """

    kept: list[int]
    changes: Mapping[int, Mapping[str, str | None]]
    labels: Mapping[str, str]
    has_name: bool


def plan_fork(projector: Projector, leaf_id: str) -> ForkPlan:
    """Decide a fork that ends with an entry. Raises `EntryNotFoundError` (T-60).

    Label entries are left out. What hung on one is re-linked to the nearest kept ancestor, and a compaction
    whose first kept entry was one points at the next kept entry (T-61, T-71 as settled).
    """
    tree, states = projector.tree, projector.states
    path = tree.path(tree.find(leaf_id))
    if not path:
        raise EntryNotFoundError(leaf_id)
    kept: list[int] = []
    changes: dict[int, dict[str, str | None]] = {}
    next_kept: dict[str, str] = {}
    dropped: list[str] = []
    for seq in path:
        if tree.kind(seq).type == "label":
            dropped.append(tree.ids[seq])
            continue
        if dropped:
            changes.setdefault(seq, {})["parentId"] = tree.ids[kept[-1]] if kept else None
        for label_id in dropped:
            next_kept[label_id] = tree.ids[seq]
        dropped.clear()
        kept.append(seq)
        if tree.kind(seq).type == "compaction" and (compaction := states.compaction(seq)) is not None:
            first = compaction.first_kept_entry_id
            if first in next_kept:
                changes.setdefault(seq, {})["firstKeptEntryId"] = next_kept[first]
    ids = {tree.ids[seq] for seq in kept}
    labels = {target: text for target, text in projector.labels.by_target.items() if target in ids}
    return ForkPlan(kept, changes, labels, not set(kept).isdisjoint(projector.name.entries))


def forked_line(plan: ForkPlan, seq: int, line: bytes) -> bytes:
    """Return a kept line as it stands in the fork: byte for byte, but for what the plan changes."""
    for name, value in plan.changes.get(seq, {}).items():
        line = replace_field(line, name, encode_json(value))
    return line


def label_lines(
    plan: ForkPlan, last_id: str | None, timestamp: str, new_id: Callable[[Container[str]], str]
) -> list[bytes]:
    """Return fresh label entries for the labels that stay, as a chain below the last kept entry (T-65).

    `new_id` gets the ids that are taken here, beside those of the session.
    """
    lines: dict[str, bytes] = {}
    for target, text in plan.labels.items():
        entry_id = new_id(lines)
        lines[entry_id] = drafts.label(target, text).line(entry_id, last_id, timestamp)
        last_id = entry_id
    return list(lines.values())
