"""The summary of a branch that is left: what goes in, what is asked, what is stored (N-60..N-6E)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiontree import (
    BranchSummarySettings,
    Prompts,
    SessionEntry,
    SummaryRequest,
    SummaryResult,
    Usage,
    estimate_tokens,
)
from sessiontree.commands.summaries.branch_summary import (
    BranchMaterial,
    branch_budget,
    branch_material,
    branch_summary_request,
    branch_summary_result,
)
from sessiontree.commands.summaries.file_operations import FileOperations
from sessiontree.commands.summaries.transcript import transcript, transcript_parts

Path = Callable[..., list[SessionEntry]]
Fields = dict[str, Any]

PROMPTS = Prompts(system="SYSTEM", branch_summary="SUM UP", branch_preamble="PREAMBLE")
LABEL: Fields = {"type": "label", "targetId": "e1", "label": "x"}
MODEL: Fields = {"type": "model_change", "model": "p/m"}
CUSTOM: Fields = {"type": "custom", "customType": "c", "data": "text"}


def asked(material: BranchMaterial, *options: Any) -> SummaryRequest | None:
    return branch_summary_request(material, transcript(transcript_parts(material.messages)), *options)


def user(said: str) -> Fields:
    return {"role": "user", "content": said}


def result(said: str, **fields: Any) -> Fields:
    return {"role": "toolResult", "toolCallId": "t", "content": [{"type": "text", "text": said}], **fields}


def touches(tool: str, path: str, content: str = "") -> Fields:
    call = {"type": "toolCall", "id": path, "name": tool, "arguments": {"path": path}}
    return {"role": "assistant", "content": [{"type": "text", "text": content}, call]}


def left(summary: str = "left", **fields: Any) -> Fields:
    return {"type": "branch_summary", "summary": summary, "fromId": "e1", **fields}


def compacted(summary: str = "sum", **fields: Any) -> Fields:
    return {"type": "compaction", "summary": summary, "firstKeptEntryId": "e1", "tokensBefore": 9, **fields}


def length(message: Fields) -> int:
    """One token for each character that is told."""
    content: Any = message.get("content", message.get("summary"))
    return len(content if isinstance(content, str) else content[0]["text"])


def texts(material: BranchMaterial) -> list[str]:
    found = []
    for message in material.messages:
        content: Any = message.get("content", message.get("summary"))
        found.append(content if isinstance(content, str) else content[0]["text"])
    return found


@pytest.mark.parametrize(
    ("window", "reserve", "budget"), [(0, 16_384, 111_616), (200_000, 16_384, 183_616), (9_000, 16_384, -7_384)]
)
def test_the_budget_is_the_window_without_the_reserve(window: int, reserve: int, budget: int) -> None:
    """N-60."""
    assert branch_budget(window, BranchSummarySettings(reserve_tokens=reserve)) == budget


def test_what_speaks_on_the_branch_is_summarized_in_order(path: Path) -> None:
    """N-62: of compactions too, whose summary is a message here; nothing else."""
    note = {"type": "custom_message", "customType": "note", "content": "noted"}
    entries = path(
        *(user("q"), LABEL, compacted(), result("out"), MODEL, note, left(), left(""), CUSTOM),
        *(result("useless", useless=True), result("failed", useless=True, isError=True), {"type": "from_the_future"}),
    )
    material = branch_material(entries, 0, length)
    assert texts(material) == ["q", "sum", "out", "noted", "left", "useless", "failed"]
    assert [message["role"] for message in material.messages] == [
        "user",
        "compactionSummary",
        "toolResult",
        "custom",
        "branchSummary",
        "toolResult",
        "toolResult",
    ]


@pytest.mark.parametrize("bodies", [(), (MODEL, LABEL, CUSTOM), (left(""),)])
def test_a_branch_on_which_nothing_was_said_has_no_messages(path: Path, bodies: tuple[Fields, ...]) -> None:
    """N-66 as settled: so nothing is asked and no summary stored."""
    assert branch_material(path(*bodies), 100, length).messages == []


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (0, ["one", "two2", "three"]),
        (-5, ["one", "two2", "three"]),
        (12, ["one", "two2", "three"]),
        (11, ["two2", "three"]),
        (9, ["two2", "three"]),
        (8, ["three"]),
        (5, ["three"]),
        (4, []),
    ],
)
def test_the_newest_messages_that_fit_the_budget_are_taken(path: Path, budget: int, expected: list[str]) -> None:
    """N-60, N-64: of a negative budget all (⚠ as of none)."""
    assert texts(branch_material(path(user("one"), user("two2"), user("three")), budget, length)) == expected


def test_nothing_older_is_taken_once_a_message_did_not_fit(path: Path) -> None:
    """N-64: there are no holes in the middle."""
    assert texts(branch_material(path(user("a"), user("b" * 50), user("c")), 10, length)) == ["c"]


@pytest.mark.parametrize("summary", [left("s" * 50), compacted("s" * 50)], ids=["branch", "compaction"])
@pytest.mark.parametrize(("newer", "taken"), [(89, True), (90, False), (100, False)])
def test_a_summary_may_break_the_budget_while_there_is_much_room(
    path: Path, summary: Fields, newer: int, taken: bool
) -> None:
    """N-64: below 0.9 of it; and it is the last that is taken, even where an older one would fit."""
    entries = path(user("old"), summary, user("n" * newer))
    assert texts(branch_material(entries, 100, length)) == (["s" * 50] if taken else []) + ["n" * newer]


def test_a_message_that_is_no_summary_never_breaks_the_budget(path: Path) -> None:
    """N-64: an agent's own message of that role neither."""
    stored = {"role": "branchSummary", "summary": "s" * 50}
    assert texts(branch_material(path(stored, user("n")), 10, length)) == ["n"]


@given(st.lists(st.integers(0, 9), max_size=8), st.integers(-1, 40))
def test_the_choice_is_the_longest_end_of_the_branch_that_fits(path: Path, sizes: list[int], budget: int) -> None:
    """N-64."""
    chosen = branch_material(path(*(user("x" * size) for size in sizes)), budget, length).messages
    kept = sizes[len(sizes) - len(chosen) :]
    assert list(map(length, chosen)) == kept
    if budget > 0:
        assert sum(kept) <= budget
        assert len(chosen) == len(sizes) or sum(kept) + sizes[-len(kept) - 1] > budget
    else:
        assert len(chosen) == len(sizes)


def test_a_result_takes_what_its_transcript_takes(path: Path) -> None:
    """N-65, N-68, X-113: shortened, and without its images."""
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    large = {"role": "toolResult", "toolCallId": "t", "content": [{"type": "text", "text": "x" * 100_000}, image]}
    entries = path(user("q"), large)
    material = branch_material(entries, 520, estimate_tokens)
    assert [message["role"] for message in material.messages] == ["user", "toolResult"]
    assert material.messages[1] == large
    assert branch_material(entries, 490, estimate_tokens).messages == []


def test_useless_results_take_nothing_of_the_budget(path: Path) -> None:
    """N-62, X-112."""
    entries = path(user("q"), result("x" * 1_000, useless=True), user("r"))
    material = branch_material(entries, 2, length)
    assert texts(material)[::2] == ["q", "r"]
    request = asked(material, PROMPTS)
    assert request is not None
    assert "xxx" not in request.prompt


def test_the_call_of_a_useless_result_goes_with_it(path: Path) -> None:
    """N-68, X-111: on a branch as in a compaction."""
    call = {"type": "toolCall", "id": "t", "name": "grep", "arguments": {}}
    looking = {"role": "assistant", "content": [{"type": "text", "text": "looking"}, call]}
    entries = path(user("q"), looking, {**result("nothing", useless=True), "toolCallId": "t"})
    request = asked(branch_material(entries, 0, length), PROMPTS)
    assert request is not None
    assert "[User]: q\n\n[Assistant]: looking\n</conversation>" in request.prompt


def test_file_operations_come_from_all_summaries_and_from_the_messages_down_to_the_budget(path: Path) -> None:
    """N-61, N-63: the message that breaks the budget counts, older ones do not; details of compactions neither."""
    details = {"readFiles": ["by-summary.py", 5, "https://x/y"], "modifiedFiles": "nothing"}
    entries = path(
        left(details=details, fromExtension=False),
        left(details={"readFiles": ["by-extension.py"]}, fromExtension=True),
        left(details={"readFiles": ["by-hook.py"]}, fromHook=True),
        compacted(details={"readFiles": ["by-compaction.py"]}),
        touches("read", "older.py"),
        touches("edit", "breaks.py", "x" * 50),
        touches("write", "fits.py", "x"),
    )
    material = branch_material(entries, 10, length)
    assert len(material.messages) == 1
    assert material.file_operations.details() == {
        "readFiles": ["by-summary.py"],
        "modifiedFiles": ["breaks.py", "fits.py"],
    }


def material(*messages: Fields, **files: set[str]) -> BranchMaterial:
    return BranchMaterial(list(messages), FileOperations(**files))


def test_a_summary_of_at_most_2048_tokens_is_asked_for() -> None:
    """N-67, N-69: the messages as they are stored; useless results are not in the prompt (X-111)."""
    note = {"role": "custom", "customType": "note", "content": "n"}
    request = asked(material(user("q"), note), PROMPTS)
    assert request == SummaryRequest(
        purpose="branch",
        system_prompt="SYSTEM",
        prompt="<conversation>\n[User]: q\n\n[User]: n\n</conversation>\n\nSUM UP",
        max_tokens=2_048,
        messages=[user("q"), note],
        previous_summary=None,
    )


def test_nothing_is_asked_where_nobody_said_anything() -> None:
    """N-66 as settled: what is kept from models says nothing either."""
    hidden = {"role": "bashExecution", "command": "c", "output": "o", "excludeFromContext": True}
    assert asked(material(), PROMPTS) is None
    assert asked(material(hidden), PROMPTS) is None


@pytest.mark.parametrize(
    ("custom", "replaces", "instructions"),
    [
        ("be short", False, "SUM UP\n\nAdditional focus: be short"),
        ("be short", True, "be short"),
        (None, False, "SUM UP"),
        (None, True, "SUM UP"),
        ("", True, "SUM UP"),
    ],
)
def test_custom_instructions_are_a_further_focus_or_all_that_is_asked(
    custom: str | None, replaces: bool, instructions: str
) -> None:
    """N-6A as settled, X-105."""
    request = asked(material(user("q")), PROMPTS, custom, replaces)
    assert request is not None
    assert request.prompt == f"<conversation>\n[User]: q\n</conversation>\n\n{instructions}"
    assert request.system_prompt == "SYSTEM"
    if not replaces:
        assert asked(material(user("q")), PROMPTS, custom) == request


def test_what_is_stored_is_the_preamble_the_answer_and_the_files() -> None:
    """N-14, N-6C → rec: a blank line between; N-6D; T-95: the usage of the call in the details."""
    files = material(read={"a.py"}, changed={"b.py"})
    answer = SummaryResult("\nIt was tried.\n", usage=Usage(input=5), details={"digest": True})
    text, details = branch_summary_result(files, PROMPTS, answer)
    assert text == "PREAMBLE\n\nIt was tried.\n\n<files>\na.py (Read)\nb.py (Write)\n</files>"
    assert details["usage"]["input"] == 5
    assert {**details, "usage": None} == {
        "readFiles": ["a.py"],
        "modifiedFiles": ["b.py"],
        "digest": True,
        "usage": None,
    }


def test_without_files_no_list_is_stored() -> None:
    """N-6D."""
    text, details = branch_summary_result(material(), PROMPTS, SummaryResult("It was tried."))
    assert text == "PREAMBLE\n\nIt was tried."
    assert details == {"readFiles": [], "modifiedFiles": []}
