"""The texts that a summarizing model gets, and those that stand around its answer."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from msgspec import Struct


@cache
def _text(name: str) -> str:
    return (files(__package__) / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


class Prompts(Struct, frozen=True):
    """Texts in the place of our own, each by its name: `Prompts(branch_summary="Sum up in one sentence.")`.

    `system`: who the model is. `branch_summary`, `compaction`, `compaction_update` (there is an earlier
    summary) and `turn_prefix` (the beginning of a turn that is cut): the instructions. `branch_preamble`
    stands before the summary of a branch.
    """

    system: str | None = None
    branch_summary: str | None = None
    branch_preamble: str | None = None
    compaction: str | None = None
    compaction_update: str | None = None
    turn_prefix: str | None = None

    def text(self, name: str) -> str:
        """Return a text by its name, from the file of that name unless it was replaced."""
        own: str | None = getattr(self, name)
        return own if own is not None else _text(name)


def with_focus(instructions: str, focus: str | None) -> str:
    """Return instructions with what else is asked for."""
    return f"{instructions}\n\nAdditional focus: {focus}" if focus else instructions
