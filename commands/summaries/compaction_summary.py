"""The summary of a compaction: what is asked, and how the answers become one text (K-50..K-56)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from .answer_details import answer_details
from .compaction_preparation import CompactionPreparation
from .file_operations import with_files
from .prompts import Prompts, with_focus
from .summarizer import SummaryRequest, SummaryResult
from .transcript import prompt

NO_HISTORY: Final = "No prior history."
TURN_CONTEXT: Final = "**Turn Context (split turn):**"
_MOST_TOKENS: Final = 16_384


class CompactionRequests(Struct, frozen=True):
    """What has to be summarized. `history_text` stands where no model is needed for the history."""

    history: SummaryRequest | None
    history_text: str
    turn_prefix: SummaryRequest | None


def compaction_requests(
    preparation: CompactionPreparation,
    history_said: str,
    turn_prefix_said: str,
    prompts: Prompts,
    *,
    context_window: int,
    custom_instructions: str | None = None,
    context: Sequence[str] = (),
    prompt_override: str | None = None,
) -> CompactionRequests:
    """Decide what to ask, with the transcripts of both lists of messages.

    `context` and `prompt_override` come from the hook `session.compacting`.
    `context_window`: of the model, in tokens, for the length of the answers; 0 where it is not known.
    """
    reserve = preparation.settings.summary_reserve(context_window)
    previous = preparation.previous_summary
    instructions = prompt_override or prompts.text("compaction_update" if previous else "compaction")
    instructions = with_focus(instructions, custom_instructions)
    between = [f"<previous-summary>\n{previous}\n</previous-summary>"] if previous else []
    if context:
        lines = "\n".join(f"- {line}" for line in context)
        between.append(f"<additional-context>\n{lines}\n</additional-context>")
    system = prompts.text("system")
    history = None
    messages = preparation.messages_to_summarize
    if asked := prompt(history_said, instructions, *between):
        history = SummaryRequest("history", system, asked, _most_tokens(0.8 * reserve), messages, previous)
    prefix = None
    messages = preparation.turn_prefix_messages
    if asked := prompt(turn_prefix_said, prompts.text("turn_prefix")):
        prefix = SummaryRequest("turn_prefix", system, asked, _most_tokens(0.5 * reserve), messages)
    return CompactionRequests(history, previous or NO_HISTORY, prefix)


def _most_tokens(share: float) -> int:
    return max(1, min(int(share), _MOST_TOKENS))


def compaction_result(
    preparation: CompactionPreparation,
    requests: CompactionRequests,
    history: SummaryResult | None,
    turn_prefix: SummaryResult | None,
) -> tuple[str, Mapping[str, Any]]:
    """Return the summary and the details of the compaction entry from the answers to the requests."""
    text = history.text.strip() if history is not None else requests.history_text
    if turn_prefix is not None:
        text = "\n\n".join([text, "---", TURN_CONTEXT, turn_prefix.text.strip()])
    answers = [answer for answer in (history, turn_prefix) if answer is not None]
    operations = preparation.file_operations
    return with_files(text, operations), {**answer_details(answers), **operations.details()}
