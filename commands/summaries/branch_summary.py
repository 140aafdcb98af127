"""The summary of a branch that is left: what goes in, what is asked, and the text that is stored (N-60..N-6E)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from ...eventstore.entries import BranchSummaryEntry, CompactionEntry, SessionEntry
from ...projections.context import Message, compaction_message, speaking_message
from .answer_details import answer_details
from .file_operations import FileOperations, with_files
from .prompts import Prompts, with_focus
from .settings import BranchSummarySettings
from .summarizer import SummaryRequest, SummaryResult
from .token_estimate import Estimate
from .transcript import is_useless, prompt, result_text, shortened

MOST_TOKENS: Final = 2_048
"""Of the summary."""
_DEFAULT_WINDOW: Final = 128_000
_SUMMARIES_FIT: Final = 0.9
"""The share of the budget up to which a summary may break it."""


class BranchMaterial(Struct, frozen=True):
    """What of a branch is summarized: messages in the file's form, oldest first."""

    messages: list[Message]
    file_operations: FileOperations


def branch_budget(window: int, settings: BranchSummarySettings) -> int:
    """Return the tokens that a branch may take in a model's window, 0 or less for any number (N-60)."""
    return (window or _DEFAULT_WINDOW) - settings.reserve_tokens


def branch_material(entries: Sequence[SessionEntry], budget: int, estimate: Estimate) -> BranchMaterial:
    """Choose the newest messages of a branch that fit a budget, of tokens; 0 or less is none (N-61..N-65)."""
    operations = FileOperations()
    for entry in entries:
        if isinstance(entry, BranchSummaryEntry) and not entry.from_extension:
            operations.add_details(entry.details)
    chosen: list[Message] = []
    total = 0
    for entry in reversed(entries):
        message = compaction_message(entry) if isinstance(entry, CompactionEntry) else speaking_message(entry)
        if message is None:
            continue
        operations.add_message(message)
        tokens = estimate(_as_in_transcript(message))
        if 0 < budget < total + tokens:
            is_summary = isinstance(entry, CompactionEntry | BranchSummaryEntry)
            if is_summary and total < _SUMMARIES_FIT * budget:
                chosen.append(message)
            break
        chosen.append(message)
        total += tokens
    chosen.reverse()
    return BranchMaterial(chosen, operations)


def _as_in_transcript(message: Message) -> Message:
    if message.get("role") != "toolResult":
        return message
    return {**message, "content": "" if is_useless(message) else shortened(result_text(message))}


def branch_summary_request(
    material: BranchMaterial,
    said: str,
    prompts: Prompts,
    custom_instructions: str | None = None,
    replace_instructions: bool = False,
) -> SummaryRequest | None:
    """Decide what to ask, None where nobody said anything (N-66 as settled). `said`: the transcript of the material.

    Custom instructions are a further focus, or all that is asked (N-6A as settled).
    """
    instructions = with_focus(prompts.text("branch_summary"), custom_instructions)
    if custom_instructions and replace_instructions:
        instructions = custom_instructions
    asked = prompt(said, instructions)
    return SummaryRequest("branch", prompts.text("system"), asked, MOST_TOKENS, material.messages) if asked else None


def branch_summary_result(
    material: BranchMaterial, prompts: Prompts, answer: SummaryResult
) -> tuple[str, Mapping[str, Any]]:
    """Return the text and the details of the branch summary entry (N-14, N-6C)."""
    operations = material.file_operations
    text = f"{prompts.text('branch_preamble')}\n\n{answer.text.strip()}"
    return with_files(text, operations), {**answer_details([answer]), **operations.details()}
