"""What is asked for a compaction, and how the answers become one summary (K-50..K-56)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from sessiontree import CompactionPreparation, CompactionSettings, Prompts, SummaryRequest, SummaryResult
from sessiontree.commands.summaries.compaction_summary import (
    CompactionRequests,
    compaction_requests,
    compaction_result,
)
from sessiontree.commands.summaries.file_operations import FileOperations
from sessiontree.commands.summaries.transcript import transcript, transcript_parts

Fields = dict[str, Any]

PROMPTS = Prompts(
    system="SYSTEM", compaction="FIRST", compaction_update="UPDATE", turn_prefix="PREFIX", branch_preamble="P"
)
QUESTION: Fields = {"role": "user", "content": "q"}
NOTE: Fields = {"role": "custom", "customType": "note", "content": "n"}
PREPARATION = CompactionPreparation(
    first_kept_entry_id="e9",
    messages_to_summarize=[QUESTION],
    turn_prefix_messages=[],
    recent_messages=[],
    is_split_turn=False,
    tokens_before=7,
    previous_summary=None,
    file_operations=FileOperations(),
    settings=CompactionSettings(),
)
UPDATE = replace(PREPARATION, previous_summary="OLD")
SPLIT = replace(PREPARATION, turn_prefix_messages=[NOTE], is_split_turn=True)
ONLY_PREFIX = replace(SPLIT, messages_to_summarize=[])
HISTORY = SummaryResult(" the history\n")
TURN = SummaryResult("\nthe turn ")


def requests(preparation: CompactionPreparation, *, window: int = 0, **options: Any) -> CompactionRequests:
    history, prefix = (
        transcript(transcript_parts(messages))
        for messages in (preparation.messages_to_summarize, preparation.turn_prefix_messages)
    )
    return compaction_requests(preparation, history, prefix, PROMPTS, context_window=window, **options)


def history(preparation: CompactionPreparation, **options: Any) -> SummaryRequest:
    request = requests(preparation, **options).history
    assert request is not None
    return request


def test_a_first_summary_is_asked_for_with_the_conversation_and_the_instructions() -> None:
    """K-50, K-51, K-52: in the form of a model."""
    assert history(replace(PREPARATION, messages_to_summarize=[QUESTION, NOTE])) == SummaryRequest(
        purpose="history",
        system_prompt="SYSTEM",
        prompt="<conversation>\n[User]: q\n\n[User]: n\n</conversation>\n\nFIRST",
        max_tokens=13_107,
        messages=[QUESTION, NOTE],
        previous_summary=None,
    )
    assert requests(PREPARATION).turn_prefix is None


def test_with_an_earlier_summary_an_update_is_asked_for() -> None:
    """K-50, K-51."""
    request = history(UPDATE)
    assert request.previous_summary == "OLD"
    assert request.prompt == (
        "<conversation>\n[User]: q\n</conversation>\n\n<previous-summary>\nOLD\n</previous-summary>\n\nUPDATE"
    )


def test_what_a_hook_adds_stands_before_the_instructions() -> None:
    """K-50, K-64."""
    request = history(UPDATE, context=["one", "two"])
    assert request.prompt.endswith(
        "</previous-summary>\n\n<additional-context>\n- one\n- two\n</additional-context>\n\nUPDATE"
    )


@pytest.mark.parametrize("preparation", [PREPARATION, UPDATE])
def test_a_hooks_prompt_takes_the_place_of_either_and_what_the_person_wants_is_added(
    preparation: CompactionPreparation,
) -> None:
    """K-51."""
    own = history(preparation).prompt
    instructions = "UPDATE" if preparation.previous_summary else "FIRST"
    overridden = own.removesuffix(instructions) + "MINE"
    assert history(preparation, prompt_override="MINE").prompt == overridden
    assert history(preparation, custom_instructions="tests").prompt == f"{own}\n\nAdditional focus: tests"
    both = history(preparation, prompt_override="MINE", custom_instructions="tests")
    assert both.prompt == f"{overridden}\n\nAdditional focus: tests"
    assert history(preparation, prompt_override="", custom_instructions="").prompt == own


def test_the_beginning_of_a_turn_is_asked_for_beside_the_history() -> None:
    """K-50..K-53: what a person or a hook adds concerns the history alone."""
    asked = requests(
        replace(SPLIT, previous_summary="OLD"), custom_instructions="x", context=["y"], prompt_override="z"
    )
    assert asked.history is not None
    assert asked.turn_prefix == SummaryRequest(
        purpose="turn_prefix",
        system_prompt="SYSTEM",
        prompt="<conversation>\n[User]: n\n</conversation>\n\nPREFIX",
        max_tokens=8_192,
        messages=[NOTE],
    )


@pytest.mark.parametrize(
    ("reserve", "window", "most"),
    [
        (None, 0, (13_107, 8_192)),
        (None, 200_000, (13_107, 8_192)),
        (None, 10_000, (1_200, 750)),
        (2_001, 0, (1_600, 1_000)),
        (20_480, 0, (16_384, 10_240)),
        (100_000, 0, (16_384, 16_384)),
    ],
)
def test_the_length_of_the_answers_follows_from_the_reserve(
    reserve: int | None, window: int, most: tuple[int, int]
) -> None:
    """K-52, X-129: of a short summary there is none, nobody reads it here."""
    asked = requests(replace(SPLIT, settings=CompactionSettings(reserve_tokens=reserve)), window=window)
    assert asked.history is not None
    assert asked.turn_prefix is not None
    assert (asked.history.max_tokens, asked.turn_prefix.max_tokens) == most


def test_a_summary_is_the_answer_and_the_details_name_the_files() -> None:
    """K-56, N-6D: without files nothing is appended."""
    summary, details = compaction_result(PREPARATION, requests(PREPARATION), HISTORY, None)
    assert (summary, details) == ("the history", {"readFiles": [], "modifiedFiles": []})
    files = FileOperations(read={"a.py", "b.py"}, changed={"b.py"})
    summary, details = compaction_result(
        replace(PREPARATION, file_operations=files),
        requests(PREPARATION),
        SummaryResult("new\n<files>\nold.py (Read)\n</files>", details={"digest": True}),
        None,
    )
    assert summary == "new\n\n<files>\na.py (Read)\nb.py (RW)\n</files>"
    assert details == {"readFiles": ["a.py"], "modifiedFiles": ["b.py"], "digest": True}


@pytest.mark.parametrize(
    ("preparation", "answer", "beginning"),
    [
        (SPLIT, HISTORY, "the history"),
        (replace(SPLIT, previous_summary="OLD"), HISTORY, "the history"),
        (ONLY_PREFIX, None, "No prior history."),
        (replace(ONLY_PREFIX, previous_summary=""), None, "No prior history."),
        (replace(ONLY_PREFIX, previous_summary="OLD"), None, "OLD"),
    ],
)
def test_the_beginning_of_a_split_turn_follows_the_history(
    preparation: CompactionPreparation, answer: SummaryResult | None, beginning: str
) -> None:
    """K-53 as settled (A), K-54: without new messages an earlier summary is used as it is, and no model is asked."""
    asked = requests(preparation)
    assert (asked.history is None) == (answer is None)
    summary, _ = compaction_result(preparation, asked, answer, TURN)
    assert summary == f"{beginning}\n\n---\n\n**Turn Context (split turn):**\n\nthe turn"


def test_both_answers_are_paid_for() -> None:
    """T-95 as settled: the usage of all calls stands in the details."""
    _, details = compaction_result(
        SPLIT,
        requests(SPLIT),
        SummaryResult("h", usage={"input": 1}, details={"model": "m"}),
        SummaryResult("t", usage={"input": 2}),
    )
    assert details == {"readFiles": [], "modifiedFiles": [], "model": "m", "usage": {"input": 3}}
