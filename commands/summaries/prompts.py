"""The texts that a summarizing model gets, and those that stand around its answer."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from msgspec import UNSET, Struct, UnsetType


@cache
def _text(name: str) -> str:
    return (files(__package__) / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


class Prompts(Struct, frozen=True):
    """Texts in the place of our own, each by its name: `Prompts(branch_summary="Sum up in one sentence.")`.

    `system`: who the model is. `branch_summary`, `compaction`, `compaction_update` (there is an earlier
    summary) and `turn_prefix` (the beginning of a turn that is cut): the instructions. `branch_preamble`
    stands before the summary of a branch.
    """

    system: str | UnsetType = UNSET
    branch_summary: str | UnsetType = UNSET
    branch_preamble: str | UnsetType = UNSET
    compaction: str | UnsetType = UNSET
    compaction_update: str | UnsetType = UNSET
    turn_prefix: str | UnsetType = UNSET

    def text(self, name: str) -> str:
        """Return a text by its name, from the file of that name unless it was replaced."""
        own: str | UnsetType = getattr(self, name)
        return _text(name) if isinstance(own, UnsetType) else own
